// Goal: no two items of a logical partition have the same values of a unique key, whatever is written concurrently.
// Method: writes on a partition with constraints, on synchronous and asynchronous engines; seeded races and a model.
import { describe, expect, test } from 'vitest';
import { FakeClock, seededRandom, textToBytes } from '../../../base/index.ts';
import { asyncEngine } from '../../../engine/async-engine.ts';
import type { Engine, Store } from '../../../engine/index.ts';
import { memoryEngine } from '../../../engine/memory/index.ts';
import type { ItemKey } from '../../item/item.ts';
import { PREFIX_UNIQUE } from '../../item/keyspace.ts';
import type { Partition } from '../../partition.ts';
import { indexingForTest, keyOf, openForTest } from '../../test-kit.ts';
import type { TransactionOp } from '../command/operation-run.ts';
import { TransactionError, transactionOf } from '../command/transaction.ts';
import { commandOf } from '../command/write-command.ts';

const engines: readonly [string, () => Engine][] = [
  ['memory', () => memoryEngine()],
  ['delayed', () => asyncEngine(memoryEngine())],
];

const indexing = indexingForTest({
  uniqueKeys: {
    constraints: [{ paths: ['/email'] }, { paths: ['/a/x', '/b'] }],
    partitionKey: ['/pk'],
  },
});

const put = (key: ItemKey, document: object, ttlSec = 0): TransactionOp => ({
  kind: 'upsert',
  key,
  encoding: 'json',
  body: textToBytes(JSON.stringify(document)),
  ttlSec,
});
const remove = (key: ItemKey): TransactionOp => ({ kind: 'delete', key });

const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error) =>
      error instanceof TransactionError ? `${error.operation} ${error.code}` : String(error.code),
  );

const one = (partition: Partition, op: TransactionOp) =>
  outcome(partition.write(commandOf(op as never)));
const all = (partition: Partition, ...ops: TransactionOp[]) =>
  outcome(partition.write(transactionOf(ops).command));

async function entryCount(store: Store): Promise<number> {
  const range = { start: Uint8Array.of(PREFIX_UNIQUE), end: Uint8Array.of(PREFIX_UNIQUE + 1) };
  return (await store.scan(range, { limit: 1000, bytesMax: 1_000_000 })).entries.length;
}

describe.each(engines)('unique keys on the %s engine', (_, makeEngine) => {
  const open = async (defaultTtlSec?: number) => {
    const store = await makeEngine().open('p');
    const clock = new FakeClock(1_000_000);
    const options = { clock, indexing, ...(defaultTtlSec === undefined ? {} : { defaultTtlSec }) };
    return { store, clock, partition: await openForTest(store, options) };
  };
  const [first, second, third] = [keyOf('p', '1'), keyOf('p', '2'), keyOf('p', '3')];
  const doc = (email: unknown, b: unknown = email) => ({ pk: 'p', email, a: { x: 1 }, b });

  test('a value is taken until its item is changed or deleted', async () => {
    const { partition, store } = await open();
    expect(await one(partition, put(first, doc('m')))).toBe('ok');
    expect(await one(partition, put(second, doc('m', 2)))).toBe('uniqueKeyViolation');
    expect(await one(partition, put(second, doc('n', 'm')))).toBe('uniqueKeyViolation');
    expect(await one(partition, put(first, doc('m')))).toBe('ok');
    expect(await one(partition, put(keyOf('q', '1'), { ...doc('m'), pk: 'q' }))).toBe('ok');
    expect(await one(partition, put(first, doc('moved')))).toBe('ok');
    expect(await one(partition, put(second, doc('m')))).toBe('ok');
    expect(await one(partition, remove(second))).toBe('ok');
    expect(await one(partition, put(third, doc('m')))).toBe('ok');
    expect(await entryCount(store)).toBe(6);
  });

  test('missing and null are one value, other kinds are others', async () => {
    const { partition } = await open();
    expect(await one(partition, put(first, { pk: 'p', b: 1 }))).toBe('ok');
    expect(await one(partition, put(second, { pk: 'p', email: null, b: 2 }))).toBe(
      'uniqueKeyViolation',
    );
    const others = [0, '0', false, '', [], {}, 'A', 'a', 'x'.repeat(3000), `${'x'.repeat(2999)}y`];
    for (const [at, email] of others.entries())
      expect(await one(partition, put(keyOf('p', `o${at}`), doc(email, `b${at}`)))).toBe('ok');
  });

  test('within a transaction values move in order, and a violation names its operation', async () => {
    const { partition, store } = await open();
    await all(partition, put(first, doc('a')), put(second, doc('b')));
    expect(await all(partition, put(third, doc('c')), put(first, doc('b')))).toBe(
      '1 uniqueKeyViolation',
    );
    expect(
      await all(partition, put(first, doc('z')), put(second, doc('a')), put(first, doc('b'))),
    ).toBe('ok');
    expect(await all(partition, remove(first), put(third, doc('b')))).toBe('ok');
    expect(await all(partition, put(first, doc('n')), put(keyOf('p', '4'), doc('n')))).toBe(
      '1 uniqueKeyViolation',
    );
    expect(await entryCount(store)).toBe(4);
  });

  test('exactly one of many concurrent writes gets the value; the others are refused when it is durable', async () => {
    const { partition } = await open();
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, at) => one(partition, put(keyOf('p', `${at}`), doc('m', at)))),
    );
    expect(results.filter((result) => result === 'ok')).toHaveLength(1);
    expect(partition.statistics().itemCount).toBe(1);
  });

  test('an expired item has no values, and sweeping it does not free those of its successor', async () => {
    const { partition, store, clock } = await open(-1);
    await one(partition, put(first, doc('m'), 1));
    clock.advance(2_000);
    expect(await one(partition, put(second, doc('m')))).toBe('ok');
    for (let steps = 0; steps < 5; steps++) await partition.sweep(10);
    expect(await one(partition, put(third, doc('m')))).toBe('uniqueKeyViolation');
    expect(await entryCount(store)).toBe(2);
    await one(partition, put(first, doc('old', 'x'), 1));
    clock.advance(2_000);
    expect(await all(partition, put(first, doc('new', 'y')), put(third, doc('old', 'x')))).toBe(
      'ok',
    );
    expect(partition.statistics().itemCount).toBe(3);
    for (let steps = 0; steps < 5; steps++) await partition.sweep(10);
    expect(partition.statistics().itemCount).toBe(3);
    expect(await entryCount(store)).toBe(6);
  });

  test('unique entries are made again in the partition that items are moved to', async () => {
    const { partition } = await open();
    await one(partition, put(first, doc('m')));
    const { partition: target, store } = await open();
    const item = await partition.stored.read(first);
    await target.imports.items([{ key: first, item }], partition.lsn);
    expect(await entryCount(store)).toBe(2);
    expect(await one(target, put(second, doc('m', 2)))).toBe('uniqueKeyViolation');
  });

  test.each([21, 22])('random races agree with a model (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    const { partition, store } = await open();
    const model = new Map<string, number>();
    for (let round = 0; round < 40; round++) {
      const writes: Promise<string>[] = [];
      const expected: string[] = [];
      for (let at = 0; at < 8; at++) {
        const id = `${random.below(6)}`;
        const key = keyOf('p', id);
        if (random.below(4) === 0) {
          expected.push(model.delete(id) ? 'ok' : 'itemNotFound');
          writes.push(one(partition, remove(key)));
          continue;
        }
        const value = random.below(8);
        const isTaken = [...model].some(([other, held]) => other !== id && held === value);
        expected.push(isTaken ? 'uniqueKeyViolation' : 'ok');
        if (!isTaken) model.set(id, value);
        writes.push(one(partition, put(key, doc(`${value}`))));
      }
      expect(await Promise.all(writes)).toEqual(expected);
    }
    expect(await entryCount(store)).toBe(2 * model.size);
  });
});
