// Goal: logs are copied in small steps, start anew in time, and readers that stay do not make every commit pay. Method:
// a table of histories: the size of the log after each commit, and the step it leads to.
import { describe, expect, it } from 'vitest';
import { CheckpointPolicy, type CheckpointStep } from './sqlite-checkpoint-policy.ts';

type Moment = readonly [bytesMib: number, pendingMib: number, step: CheckpointStep];

const HISTORIES: Readonly<Record<string, readonly Moment[]>> = {
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

describe('care for the log', () => {
  for (const [title, moments] of Object.entries(HISTORIES))
    it(title, () => {
      const care = new CheckpointPolicy();
      const steps = moments.map(([bytes, pending]) =>
        care.next({ bytes: bytes * 2 ** 20, pendingBytes: pending * 2 ** 20 }),
      );
      expect(steps).toEqual(moments.map(([, , step]) => step));
    });
});
