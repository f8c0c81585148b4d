// Goal: writes beside the build of a unique index leave exactly the entries of all items, so that no value is free that
// an item has. Method: a partition whose build is under way, its entries in the store beside those of its items.
import { describe, expect, test } from 'vitest';
import { bytesToLatin1, FakeClock, seededRandom, textToBytes } from '../../../base/index.ts';
import { asyncEngine } from '../../../engine/async-engine.ts';
import type { Engine } from '../../../engine/index.ts';
import { memoryEngine } from '../../../engine/memory/index.ts';
import { PREFIX_UNIQUE } from '../../item/keyspace.ts';
import type { Partition } from '../../partition.ts';
import { indexingForTest, keyOf, openForTest } from '../../test-kit.ts';
import { commandOf } from '../command/write-command.ts';

const engines: readonly [string, () => Engine][] = [
  ['memory', () => memoryEngine()],
  ['delayed', () => asyncEngine(memoryEngine())],
];

const BARE = { included: [], excluded: ['/*'] };
const parts = [{ path: '/a', isDescending: false }];
const PLAIN = indexingForTest(BARE);
const UNIQUE = indexingForTest({
  ...BARE,
  declared: [{ id: 1, parts }],
  uniqueKeys: { constraints: [{ id: 1, paths: ['/a'] }], partitionKey: [] },
});

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error) => error.code,
  );

function put(partition: Partition, id: string, a: string, more: object = {}, ttlSec = 0) {
  const body = textToBytes(JSON.stringify({ a, ...more }));
  const key = keyOf('p', id);
  return codeOf(
    partition.write(commandOf({ kind: 'upsert', key, encoding: 'json', body, ttlSec })),
  );
}

const remove = (partition: Partition, id: string) =>
  codeOf(partition.write(commandOf({ kind: 'delete', key: keyOf('p', id) })));

describe.each(engines)('on the %s engine', (_, makeEngine) => {
  /** Items of the values v0, v1 and so on; the last one expires. */
  const filled = async (count: number) => {
    const store = await makeEngine().open('p');
    const clock = new FakeClock(1_000_000);
    const partition = await openForTest(store, { clock, indexing: PLAIN, defaultTtlSec: -1 });
    const writes: Promise<string>[] = [];
    for (let at = 0; at < count; at++)
      writes.push(put(partition, `${at}`, `v${at}`, {}, at === count - 1 ? 10 : 0));
    await Promise.all(writes);
    const expectExactEntries = async () => {
      const range = { start: Uint8Array.of(PREFIX_UNIQUE), end: Uint8Array.of(PREFIX_UNIQUE + 1) };
      const { entries } = await store.scan(range, { limit: 10_000, bytesMax: 10_000_000 });
      const { items } = await partition.stored.scanByRid(
        { after: undefined, limit: 10_000, bytesMax: 10_000_000 },
        undefined,
      );
      const expected = items.flatMap((item) =>
        (UNIQUE.unique?.entriesOf(item) ?? []).map((entry) => [entry, bytesToLatin1(item.primary)]),
      );
      const stored = entries.map(({ key, value }) => [bytesToLatin1(key), bytesToLatin1(value)]);
      expect(stored).toEqual(expected.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
    };
    return { partition, clock, expectExactEntries };
  };

  const isBuilding = (partition: Partition): boolean => {
    const [build] = partition.indexes.builds();
    return build !== undefined && build.percent < 100 && !build.isFailed;
  };
  const built = async (partition: Partition) => {
    for (let round = 0; round < 10_000 && isBuilding(partition); round++)
      await new Promise((resolve) => setImmediate(resolve));
    return partition.indexes.builds()[0]?.isFailed === false;
  };

  test.each<[string, (partition: Partition, clock: FakeClock) => Promise<unknown>]>([
    ['is changed', (partition) => put(partition, '999', 'other')],
    ['is deleted', (partition) => remove(partition, '999')],
    [
      'expires and is swept',
      async (partition, clock) => {
        clock.advance(20_000);
        for (let step = 0; step < 20; step++) await partition.sweep(100);
      },
    ],
    [
      'expires and is replaced',
      (partition, clock) => {
        clock.advance(20_000);
        return put(partition, '999', 'other');
      },
    ],
  ])('a value is not free when an item that had it before %s', async (_name, leave) => {
    const { partition, clock, expectExactEntries } = await filled(1000);
    partition.changeIndexing(UNIQUE);
    expect(await put(partition, '0', 'v999')).toBe('ok');
    expect(isBuilding(partition)).toBe(true);
    await leave(partition, clock);
    expect(await built(partition)).toBe(true);
    expect(await put(partition, 'new', 'v999')).toBe('uniqueKeyViolation');
    await expectExactEntries();
  });

  test('items whose writes are under way when an index is declared are in it', async () => {
    const { partition, expectExactEntries } = await filled(10);
    const writes = Array.from({ length: 200 }, (_, at) => put(partition, `n${at}`, `n${at}`));
    const changes = Array.from({ length: 10 }, (_, at) => put(partition, `${at}`, `c${at}`));
    partition.changeIndexing(UNIQUE);
    expect(new Set(await Promise.all([...writes, ...changes]))).toEqual(new Set(['ok']));
    expect(await built(partition)).toBe(true);
    expect(await put(partition, 'new', 'n0')).toBe('uniqueKeyViolation');
    expect(await put(partition, 'new', 'c0')).toBe('uniqueKeyViolation');
    await expectExactEntries();
  });

  test('a value is not free when its item is written in the commit that indexes it', async () => {
    const { partition, expectExactEntries } = await filled(150);
    partition.changeIndexing(UNIQUE);
    const writes: Promise<string>[] = [];
    for (let at = 0; at < 150; at++) writes.push(put(partition, `${at}`, `v${at}`, { n: 1 }));
    expect(new Set(await Promise.all(writes))).toEqual(new Set(['ok']));
    expect(await built(partition)).toBe(true);
    expect(await put(partition, 'new', 'v5')).toBe('uniqueKeyViolation');
    await expectExactEntries();
  });

  test.each([1, 2, 3, 4, 5, 6])(
    'random writes beside a build leave the entries of all items (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const { partition, expectExactEntries } = await filled(500);
      partition.changeIndexing(UNIQUE);
      let next = 500;
      for (let round = 0; round < 1000 && isBuilding(partition); round++) {
        const writes: Promise<string>[] = [];
        for (let at = 0; at < 10; at++) {
          const id = `${random.below(600)}`;
          const kind = random.below(4);
          if (kind === 0) writes.push(remove(partition, id));
          else if (kind === 1) writes.push(put(partition, id, `v${next++}`));
          else {
            // For a moment two items may have one value, of which the other is then changed.
            const other = `${random.below(500)}`;
            writes.push(put(partition, id, `v${other}`), put(partition, other, `v${next++}`));
          }
        }
        await Promise.all(writes);
      }
      if (await built(partition)) await expectExactEntries();
    },
  );
});
