// Goal: every change of the catalog has a number, and two writers cannot both succeed. Method: catalogs on one store.
import { expect, test } from 'vitest';
import { bytesToText, DomainError, seededRandom, textToBytes } from '../base/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { encodeTuple } from '../value/index.ts';
import { Catalog } from './catalog.ts';
import { DEFAULT_INDEXING_POLICY } from './indexing-policy.ts';
import { type ContainerRecord, LOCAL_INSTANCE, type PartitionRecord } from './records.ts';

const database = (id: string, rid: number) => ({
  databases: [{ id, rid, etag: '"x"', timestampSec: 1 }],
  result: undefined,
});

const CONTAINER: Omit<ContainerRecord, 'partitions'> = {
  id: 'c',
  databaseRid: 1,
  rid: 2,
  etag: '"x"',
  timestampSec: 1,
  kind: 'unlimited',
  partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
  home: 'nosql',
  encoding: 'json',
  indexingPolicy: DEFAULT_INDEXING_POLICY,
  uniqueKeys: [],
  policies: {},
  nextPartitionId: 1,
  routingVersion: 1,
};

test('the number of a change grows by one and is stored with it', async () => {
  const store = await memoryEngine().open('catalog');
  const catalog = await Catalog.open(store, seededRandom(1));
  expect(catalog.version).toBe(0);
  await catalog.change(() => database('a', 1));
  await catalog.change(() => database('b', 2));
  expect(catalog.version).toBe(2);
  const stored = await store.get(encodeTuple(['version']));
  expect(stored && bytesToText(stored)).toBe('2');
  const again = await Catalog.open(store, seededRandom(1));
  expect([again.version, again.databases().length]).toEqual([2, 2]);
});

test('a change that does not know the last one is refused, and nothing of it is visible', async () => {
  const store = await memoryEngine().open('catalog');
  const one = await Catalog.open(store, seededRandom(1));
  const other = await Catalog.open(store, seededRandom(2));
  await one.change(() => database('a', 1));
  await expect(other.change(() => database('b', 2))).rejects.toMatchObject({
    name: 'ConflictError',
  });
  expect([other.version, other.databases().length]).toEqual([0, 0]);
  await one.change(() => database('c', 3));
  expect(one.version).toBe(2);
});

test('a catalog from before changes had numbers begins at 0', async () => {
  const store = await memoryEngine().open('catalog');
  const record = { id: 'old', rid: 7, etag: '"x"', timestampSec: 1 };
  await store.commit({
    puts: [
      { key: encodeTuple(['format']), value: textToBytes('1') },
      { key: encodeTuple(['db', 7]), value: textToBytes(JSON.stringify(record)) },
    ],
  });
  const catalog = await Catalog.open(store, seededRandom(1));
  expect([catalog.version, catalog.database('old')?.rid]).toEqual([0, 7]);
  await catalog.change(() => database('new', 8));
  expect(catalog.version).toBe(1);
});

test('a container from before there were home APIs belongs to that of its encoding', async () => {
  const store = await memoryEngine().open('catalog');
  const { home: _, ...before } = CONTAINER;
  const old = [
    { ...before, rid: 2, id: 'documents', encoding: 'json', partitions: [] },
    { ...before, rid: 3, id: 'entities', encoding: 'edm', partitions: [] },
  ];
  await store.commit({
    puts: [
      { key: encodeTuple(['format']), value: textToBytes('1') },
      {
        key: encodeTuple(['db', 1]),
        value: textToBytes(JSON.stringify(database('a', 1).databases[0])),
      },
      ...old.map((record) => ({
        key: encodeTuple(['coll', 1, record.rid]),
        value: textToBytes(JSON.stringify(record)),
      })),
    ],
  });
  const catalog = await Catalog.open(store, seededRandom(1));
  expect([2, 3].map((rid) => catalog.containerByRid(1, rid)?.home)).toEqual(['nosql', 'table']);
});

test('instance, owner and lease of a partition are changed with the number, and come back', async () => {
  const store = await memoryEngine().open('catalog');
  const catalog = await Catalog.open(store, seededRandom(1));
  const partition = (lease: number): PartitionRecord => ({
    id: '0',
    min: '',
    max: 'FF',
    parents: [],
    ridPrefix: 0,
    instance: LOCAL_INSTANCE,
    owner: 'node 2',
    lease,
    throughputFraction: 1,
    timestampSec: 1,
  });
  const container = (lease: number) => ({
    containers: [{ ...CONTAINER, partitions: [partition(lease)] }],
    result: undefined,
  });
  await catalog.change(() => database('a', 1));
  await catalog.change(() => container(7));
  const stale = await Catalog.open(store, seededRandom(2));
  await catalog.change(() => container(8));
  await expect(stale.change(() => container(9))).rejects.toMatchObject({ name: 'ConflictError' });
  const again = await Catalog.open(store, seededRandom(1));
  expect(again.version).toBe(3);
  expect(again.containerByRid(1, 2)?.partitions).toEqual([partition(8)]);
});

for (const isStored of [true, false])
  test(`a change of unknown outcome that is ${isStored ? '' : 'not '}stored counts as such`, async () => {
    const inner = await memoryEngine().open('catalog');
    let isLost = false;
    const commit = inner.commit.bind(inner);
    inner.commit = async (batch) => {
      if (!isLost || isStored) await commit(batch);
      if (isLost) throw new DomainError('outcomeUnknown', 'the connection is lost');
    };
    const catalog = await Catalog.open(inner, seededRandom(1));
    isLost = true;
    const change = catalog.change(() => database('a', 1)).catch(({ code }: DomainError) => code);
    expect(await change).toBe(isStored ? undefined : 'unavailable');
    isLost = false;
    await catalog.change(() => database('b', 2));
    expect(catalog.databases().map(({ id }) => id)).toEqual(isStored ? ['a', 'b'] : ['b']);
  });
