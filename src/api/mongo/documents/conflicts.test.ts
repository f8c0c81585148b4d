// Goal: writes that meet a transaction that is being committed, or an empty budget, are repeated, and only those.
// Method: refusals in a row.
import { expect, test } from 'vitest';
import { DomainError } from '../../../base/index.ts';
import type { SequenceResult } from '../../../cluster/index.ts';
import type { SequenceMode } from '../../../partition/index.ts';
import type { ItemWrite } from '../../../service/index.ts';
import { retrySequence } from './conflicts.ts';

const WRITES: readonly ItemWrite[] = ['a', 'b', 'c'].map((name) => ({
  kind: 'delete',
  partitionKey: [name],
  rowKey: [name],
}));
const conflict = new DomainError('retryWith', 'held');
const throttled = new DomainError('throttled', 'large', 7);
const exists = new DomainError('itemExists', 'there');
const done = { effect: {} } as SequenceResult;

/** What was sent, attempt by attempt, and what came of it. Who is throttled waits `waits` times at most. */
async function run(
  mode: SequenceMode,
  replies: readonly (readonly SequenceResult[])[],
  waits = Number.POSITIVE_INFINITY,
) {
  const sent: string[] = [];
  const results = await retrySequence(WRITES, {
    mode,
    check: () => {},
    run: async (writes) => {
      sent.push(writes.map(({ rowKey }) => rowKey[0]).join(''));
      return replies[sent.length - 1] as readonly SequenceResult[];
    },
    async wait(attempt) {
      for (let count = 0; ; count++)
        try {
          return await attempt();
        } catch (error) {
          if (error !== throttled || count >= waits) throw error;
        }
    },
  });
  return { sent, ends: results.map((result) => Object.keys(result)[0]) };
}

test('an ordered sequence goes on where a conflict stopped it', async () => {
  const first = [done, { error: conflict }, { notRun: true }] as const;
  expect(
    await run('untilRefused', [first, [{ error: conflict }, { notRun: true }], [done, done]]),
  ).toEqual({
    sent: ['abc', 'bc', 'bc'],
    ends: ['effect', 'effect', 'effect'],
  });
});

test('an ordered sequence ends at a refusal that is no conflict', async () => {
  const first = [done, { error: exists }, { notRun: true }] as const;
  expect(await run('untilRefused', [first])).toEqual({
    sent: ['abc'],
    ends: ['effect', 'error', 'notRun'],
  });
});

test('an unordered sequence repeats the conflicts alone', async () => {
  const first = [{ error: conflict }, { error: exists }, done] as const;
  expect(await run('each', [first, [done]])).toEqual({
    sent: ['abc', 'a'],
    ends: ['effect', 'error', 'effect'],
  });
});

test('the part of an ordered sequence that was throttled is not lost', async () => {
  const first = [done, { error: throttled }, { notRun: true }] as const;
  const second = [{ error: throttled }, { notRun: true }] as const;
  expect(await run('untilRefused', [first, second, [done, done]])).toEqual({
    sent: ['abc', 'bc', 'bc'],
    ends: ['effect', 'effect', 'effect'],
  });
});

test('an unordered sequence repeats what was throttled, and then the conflicts', async () => {
  const first = [{ error: conflict }, { error: throttled }, { error: exists }] as const;
  expect(await run('each', [first, [done], [done]])).toEqual({
    sent: ['abc', 'b', 'a'],
    ends: ['effect', 'effect', 'error'],
  });
});

test('what was written before the time to wait was over is a result', async () => {
  const first = [done, { error: throttled }, { notRun: true }] as const;
  const second = [{ error: throttled }, { notRun: true }] as const;
  expect(await run('untilRefused', [first, second], 1)).toEqual({
    sent: ['abc', 'bc'],
    ends: ['effect', 'error', 'notRun'],
  });
});
