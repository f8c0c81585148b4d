// Goal: items expire by the dates that an index has, and by nothing else. Method: a partition in memory, with writes
// between what the expiry reads and what it decides.
import { expect, test, vi } from 'vitest';
import { FakeClock } from '../../base/index.ts';
import type { Store } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import {
  commandOf,
  type DeclaredIndex,
  Indexing,
  openPartition,
  type Partition,
  RecordCache,
} from '../../partition/index.ts';
import { bsonCodec, Extended, type ValueMap } from '../../value/index.ts';
import { HANDLE_OPTIONS, keyOf } from '../test-kit.ts';
import { expireByIndex } from './index-expiry.ts';

const NOW_MS = 1_000_000;
const at = new Extended({ kind: 'date', ms: NOW_MS - 5000 });

const DEFINITION = {
  id: 1,
  origin: 'declared',
  parts: [{ path: '/at', isDescending: false }],
  collation: 'bson',
  isMultikey: true,
  isSparse: false,
  expireAfterSec: 1,
} as const;

const indexingBy = (...declared: readonly DeclaredIndex[]): Indexing =>
  new Indexing({
    isOff: false,
    included: [],
    excluded: ['/*'],
    always: [],
    composites: [],
    declared,
    codec: bsonCodec,
  });

const filter = [{ path: '/state', kind: 'compare', comparison: '=', value: 'temporary' } as const];
const INDEXES: readonly (readonly [string, DeclaredIndex])[] = [
  ['with a filter', { ...DEFINITION, filter }],
  [
    'that is computed',
    {
      ...DEFINITION,
      computed: (item) => ((item as ValueMap).state === 'temporary' ? [[at]] : []),
    },
  ],
];

async function open(indexing: Indexing, store?: Store) {
  const cache = new RecordCache(1024 * 1024).forPartition();
  const clock = new FakeClock(NOW_MS);
  const own = store ?? (await memoryEngine().open('p'));
  const partition = await openPartition({ ...HANDLE_OPTIONS, indexing, store: own, clock, cache });
  const options = { partition, codec: bsonCodec, clock };
  const expire = async () =>
    (await expireByIndex(options, DEFINITION, 100)).map(
      ({ body }) => (bsonCodec.decode(body) as ValueMap).id,
    );
  return { partition, expire };
}

function put(partition: Partition, id: string, state: string) {
  const body = bsonCodec.encode({ id, at, state });
  const key = keyOf('p', id);
  return partition.write(commandOf({ kind: 'upsert', key, encoding: 'bson', body, ttlSec: 0 }));
}

test.each(INDEXES)('items in an index %s expire, others do not', async (_, index) => {
  const { partition, expire } = await open(indexingBy(index));
  await put(partition, 'temporary', 'temporary');
  await put(partition, 'kept', 'kept');
  expect(await expire()).toEqual(['temporary']);
  expect(await expire()).toEqual([]);
  expect(partition.statistics().itemCount).toBe(1);
});

test.each(INDEXES)(
  'an item that left an index %s while it expired is not deleted',
  async (_, index) => {
    const { partition, expire } = await open(indexingBy(index));
    await put(partition, 'one', 'temporary');
    await put(partition, 'two', 'temporary');
    const write = partition.write.bind(partition);
    vi.spyOn(partition, 'write').mockImplementationOnce(async (command) => {
      await put(partition, 'one', 'kept');
      return write(command);
    });
    expect(await expire()).toEqual(['two']);
    expect(partition.statistics().itemCount).toBe(1);
  },
);

test('items do not expire by an index that was dropped meanwhile', async () => {
  const { partition, expire } = await open(indexingBy(DEFINITION));
  await put(partition, 'one', '');
  const write = partition.write.bind(partition);
  vi.spyOn(partition, 'write').mockImplementationOnce((command) => {
    partition.changeIndexing(indexingBy());
    return write(command);
  });
  expect(await expire()).toEqual([]);
  expect(partition.statistics().itemCount).toBe(1);
});

test('items expire behind stored entries of those that have expired', async () => {
  const engine = memoryEngine();
  const indexing = indexingBy(DEFINITION);
  const first = await open(indexing, await engine.open('p'));
  for (let id = 0; id < 350; id++) await put(first.partition, `${id}`, '');
  await first.partition.close();
  const { partition, expire } = await open(indexing, await engine.open('p'));
  const counts: number[] = [];
  for (let round = 0; round < 5; round++) counts.push((await expire()).length);
  expect(counts).toEqual([100, 100, 100, 50, 0]);
  expect(partition.statistics().itemCount).toBe(0);
});
