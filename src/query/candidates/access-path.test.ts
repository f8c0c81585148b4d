// Goal: the selective part of a conjunction is found without reading the broad one. Method: an index in memory that
// counts reads.
import { expect, test } from 'vitest';
import { bytesToLatin1, textToBytes } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import { KeyWriter, type Path, type Value } from '../../value/index.ts';
import { allOf, type Condition, term } from '../condition/condition.ts';
import { equalTo } from '../condition/value-ranges.ts';
import { newStats } from '../execution-stats.ts';
import type { IndexEntries, ItemReader } from '../reader.ts';
import { choosePath } from './access-path.ts';
import { candidates } from './candidates.ts';

const writer = new KeyWriter();

/** Entries by path: for each value, the rids of its items. */
type Index = Readonly<Record<string, readonly (readonly [Value, readonly number[]])[]>>;

function prefixOf(path: Path): Uint8Array {
  return textToBytes(`${String(path[0])}/`);
}

function readerOf(index: Index): ItemReader {
  const all = Object.entries(index)
    .flatMap(([name, values]) =>
      values.flatMap(([value, rids]) =>
        rids.map((rid) =>
          bytesToLatin1(
            writer
              .reset()
              .raw(prefixOf([name]))
              .value(value)
              .u64(rid)
              .take(),
          ),
        ),
      ),
    )
    .sort();
  const reader: Pick<ItemReader, 'itemCount' | 'termsOf' | 'ridOf' | 'scanIndex'> = {
    itemCount: 100_000,
    termsOf: (path) => (String(path[0]) in index ? prefixOf(path) : undefined),
    ridOf: (entry) => Number(Buffer.from(entry.slice(-8), 'latin1').readBigUInt64BE()),
    scanIndex({ start, end }: KeyRange, { limit }) {
      const [low, high] = [bytesToLatin1(start), bytesToLatin1(end as Uint8Array)];
      const within = all.filter((entry) => entry >= low && entry < high);
      const entries = within.slice(0, limit);
      const rest = entries.length < within.length;
      return {
        entries,
        rest: rest ? { start: Buffer.from(`${entries.at(-1)}\0`, 'latin1'), end } : undefined,
      };
    },
  };
  return reader as ItemReader;
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}

const is = (name: string, ...values: readonly Value[]): Condition =>
  term([name], values.map(equalTo));

const index: Index = {
  key: [
    ['wide', numbers(5000)],
    ['some', numbers(100)],
  ],
  name: [
    ['rare', [7]],
    ['other', [9000]],
    ['few', [1, 2, 3]],
  ],
  kind: [['common', numbers(8000)]],
};

const CASES: readonly {
  readonly name: string;
  readonly of: readonly Condition[];
  readonly rids: readonly number[] | 'none' | 'posting';
  readonly entriesMax: number;
}[] = [
  {
    name: 'one item, key first',
    of: [is('key', 'wide'), is('name', 'rare')],
    rids: [7],
    entriesMax: 18,
  },
  {
    name: 'one item, key last',
    of: [is('name', 'rare'), is('key', 'wide')],
    rids: [7],
    entriesMax: 1,
  },
  {
    name: 'a few and many',
    of: [is('key', 'wide'), is('name', 'few')],
    rids: [1, 2, 3],
    entriesMax: 20,
  },
  {
    name: 'both selective',
    of: [is('key', 'some'), is('name', 'few', 'other')],
    rids: [1, 2, 3, 9000],
    entriesMax: 21,
  },
  {
    name: 'some and many',
    of: [is('key', 'some'), is('kind', 'common')],
    rids: numbers(100),
    entriesMax: 2101,
  },
  { name: 'nothing', of: [is('key', 'wide'), is('name', 'missing')], rids: 'none', entriesMax: 17 },
  {
    name: 'both broad',
    of: [is('key', 'wide'), is('kind', 'common')],
    rids: 'posting',
    entriesMax: 4002,
  },
];

test.each(CASES)('$name', async ({ of, rids, entriesMax }) => {
  const stats = newStats();
  const access = await choosePath(readerOf(index), allOf(...of), stats);
  if (typeof rids === 'string') expect(access.kind).toBe(rids);
  else expect(access).toMatchObject({ kind: 'rids', rids });
  expect(stats.indexEntries).toBeLessThanOrEqual(entriesMax);
});

/** A reader that also has the rids of one value without its entries. */
function ridsReaderOf(index: Index): { readonly reader: ItemReader; readonly limits: number[] } {
  const limits: number[] = [];
  const entries = readerOf(index);
  const ridsOf = (termPrefix: Uint8Array, limit: number): readonly number[] | undefined => {
    limits.push(limit);
    const range = { start: termPrefix, end: Buffer.concat([termPrefix, Uint8Array.of(0xff)]) };
    const found = entries.scanIndex(range, { limit: 1e6, bytesMax: 1e9 }) as IndexEntries;
    return found.entries.length > limit ? undefined : found.entries.map(entries.ridOf);
  };
  return { reader: { ...entries, ridsOf }, limits };
}

test.each<[string, readonly Condition[], readonly number[], readonly number[]]>([
  ['one item, key first', [is('key', 'wide'), is('name', 'rare')], [7], [1000, 1000]],
  ['one item, key last', [is('name', 'rare'), is('key', 'wide')], [7], [1000]],
  ['some and many', [is('key', 'some'), is('kind', 'common')], numbers(100), [1000, 20_000]],
  [
    'both broad',
    [is('key', 'wide'), is('kind', 'common')],
    numbers(5000),
    [1000, 1000, 2000, 2000, 20_000, 20_000],
  ],
])('with rids of one value: %s', async (_name, of, rids, limits) => {
  const { reader, limits: used } = ridsReaderOf(index);
  const access = await choosePath(reader, allOf(...of), newStats());
  expect(access).toMatchObject({ kind: 'rids', rids });
  expect(used).toEqual(limits);
});

test('many values of one path are one list of rids, each once', async () => {
  const { reader } = ridsReaderOf(index);
  const access = await choosePath(reader, is('name', 'other', 'few', 'rare', 'few'), newStats());
  expect(access).toMatchObject({ kind: 'rids', rids: [1, 2, 3, 7, 9000] });
});

test('posting lists that are too long to be collected are merged as they are read', async () => {
  const even = Array.from({ length: 40_000 }, (_, at) => 2 * at);
  const third = Array.from({ length: 30_000 }, (_, at) => 3 * at);
  const entries = readerOf({
    kind: [
      ['even', even],
      ['third', third],
    ],
  });
  const reader = {
    ...entries,
    itemCount: 1_000_000,
    readMany: (rids: readonly number[]) =>
      rids.map((rid) => ({ rid, primary: new Uint8Array(0), body: new Uint8Array(0) })),
    isWithin: () => true,
  } as unknown as ItemReader;
  const access = await choosePath(reader, is('kind', 'even', 'third'), newStats());
  expect(access.kind).toBe('postings');
  const expected = [...new Set([...even, ...third])].sort((a, b) => a - b);
  for (const from of [0, 7, 59_990]) {
    const rids: number[] = [];
    const batches = candidates(reader, access, from, newStats(), 10);
    for (let count = 0; count < 20; count++)
      rids.push(...((await batches.next()) ?? []).map(({ rid }) => rid));
    const wanted = expected.filter((rid) => rid >= from);
    expect(rids).toEqual(wanted.slice(0, rids.length));
    expect(rids.length).toBeGreaterThan(1500);
  }
});
