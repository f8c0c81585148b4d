// Goal: the owners of all values of an array are looked up together; asked one by one, an engine that answers late made
// a decision of each answer. Method: decisions are counted on the delayed engine.
import { expect, test } from 'vitest';
import { textToBytes } from '../../../base/index.ts';
import { asyncEngine } from '../../../engine/async-engine.ts';
import { memoryEngine } from '../../../engine/memory/index.ts';
import { indexingForTest, keyOf, openForTest } from '../../test-kit.ts';
import { commandOf } from '../command/write-command.ts';

const UNIQUE = indexingForTest({
  included: [],
  excluded: ['/*'],
  declared: [{ id: 1, parts: [{ path: '/list', isDescending: false }], isMultikey: true }],
  uniqueKeys: {
    constraints: [{ id: 1, paths: ['/list'], isMultikey: true }],
    partitionKey: [],
  },
});

test('an array of 500 unique values is decided twice, not 500 times', async () => {
  const store = await asyncEngine(memoryEngine()).open('p');
  const partition = await openForTest(store, { indexing: UNIQUE });
  let decisions = 0;
  const write = (id: string, list: readonly number[]) => {
    const body = textToBytes(JSON.stringify({ list }));
    const command = commandOf({
      kind: 'upsert',
      key: keyOf('p', id),
      encoding: 'json',
      body,
      ttlSec: 0,
    });
    return partition.write({
      ...command,
      decide: (...seen) => {
        decisions++;
        return command.decide(...seen);
      },
    });
  };
  await write(
    'a',
    Array.from({ length: 500 }, (_, at) => at),
  );
  expect(decisions).toBe(2);
  await expect(write('b', [1000, 499, 1001])).rejects.toMatchObject({ code: 'uniqueKeyViolation' });
  expect(decisions).toBe(4);
  await write('b', [1000, 1001]);
  expect(decisions).toBe(6);
});
