// Goal: logs are copied in small steps and restarted in time, and a long reader does not make every commit pay.
// Method: a table of histories: the size of the log after each commit, and the step that follows.
import { describe, expect, it } from 'vitest';
import { CheckpointPolicy, type CheckpointStep } from './sqlite-checkpoint-policy.ts';

type LogStep = readonly [bytesMib: number, pendingMib: number, step: CheckpointStep];

const HISTORIES: Readonly<Record<string, readonly LogStep[]>> = {
  'a quiet store': [
    [0, 0, 'nothing'],
    [15, 15, 'nothing'],
  ],
  'a busy store, the checkpointer keeps up': [
    [16, 16, 'checkpoint'],
    [18, 2, 'nothing'],
    [32, 16, 'checkpoint'],
    [47, 15, 'nothing'],
    [48, 16, 'checkpoint'],
    [50, 5, 'checkpoint'],
    [51, 3, 'finish'],
    [1, 1, 'nothing'],
    [49, 2, 'finish'],
  ],
  'a reader stays for a while': [
    [48, 1, 'finish'],
    [49, 1, 'nothing'],
    [52, 4, 'finish'],
    [53, 1, 'nothing'],
    [64, 1, 'restart'],
    [65, 1, 'finish'],
    [66, 1, 'nothing'],
    [70, 5, 'checkpoint'],
    [111, 5, 'checkpoint'],
    [112, 5, 'restart'],
    [2, 2, 'nothing'],
    [64, 5, 'restart'],
  ],
  'the checkpointer does not keep up': [
    [48, 20, 'checkpoint'],
    [63, 12, 'checkpoint'],
    [64, 12, 'restart'],
  ],
};

describe('checkpoint policy', () => {
  for (const [title, history] of Object.entries(HISTORIES))
    it(title, () => {
      const policy = new CheckpointPolicy();
      const steps = history.map(([bytes, pending]) =>
        policy.next({ bytes: bytes * 2 ** 20, pendingBytes: pending * 2 ** 20 }),
      );
      expect(steps).toEqual(history.map(([, , step]) => step));
    });
});
