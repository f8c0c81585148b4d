// Goal: an exact condition is counted by the index however many items its values have. Method: an index in memory that
// gives rids in pages, at once or later; counts are compared with those of sets.
import { expect, test } from 'vitest';
import { bytesToLatin1, concatBytes, seededRandom, textToBytes } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import { encodeTuple, type Path, type Value } from '../../value/index.ts';
import { allOf, anyOf, type Condition, term } from '../condition/condition.ts';
import { comparedTo, equalTo } from '../condition/value-ranges.ts';
import { newStats } from '../execution-stats.ts';
import type { ItemReader } from '../reader.ts';
import { countItems } from './count.ts';

const RID_CHARACTERS = 8;

/** Rids of each value, by path. */
type Index = Readonly<Record<string, readonly (readonly [Value, ArrayLike<number>])[]>>;

interface Options {
  readonly pageRids: number;
  readonly isLater?: boolean;
}

function prefixOf(path: Path): Uint8Array {
  return textToBytes(`${String(path[0])}/`);
}

function readerOf(index: Index, { pageRids, isLater = false }: Options): ItemReader {
  const lists = new Map<string, ArrayLike<number>>();
  for (const [name, values] of Object.entries(index))
    for (const [value, rids] of values)
      lists.set(bytesToLatin1(concatBytes(prefixOf([name]), encodeTuple([value]))), rids);
  const replied = <T>(page: T): T | Promise<T> => (isLater ? Promise.resolve(page) : page);
  const reader: Pick<ItemReader, 'termsOf' | 'ridOf' | 'scanIndex' | 'ridsFrom'> = {
    termsOf: (path) => (String(path[0]) in index ? prefixOf(path) : undefined),
    ridOf: (entry) => Number(entry.slice(-RID_CHARACTERS)),
    scanIndex({ start, end }: KeyRange) {
      const [low, high] = [bytesToLatin1(start), bytesToLatin1(end as Uint8Array)];
      const within = [...lists].filter(([key]) => key >= low && key < high);
      const entries = within.flatMap(([key, rids]) => Array.from(rids, (rid) => entryOf(key, rid)));
      return replied({ entries, rest: undefined });
    },
    ridsFrom(prefix, from) {
      const rids = lists.get(bytesToLatin1(prefix)) ?? [];
      const at = placeOf(rids, from);
      const page = Array.prototype.slice.call(rids, at, at + pageRids) as number[];
      const isLast = at + pageRids >= rids.length;
      return replied({ rids: page, next: isLast ? undefined : (page.at(-1) as number) + 1 });
    },
  };
  return reader as ItemReader;
}

function entryOf(key: string, rid: number): string {
  return key + String(rid).padStart(RID_CHARACTERS, '0');
}

function placeOf(rids: ArrayLike<number>, from: number): number {
  let [low, high] = [0, rids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rids[middle] as number) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

const is = (name: string, ...values: readonly Value[]): Condition =>
  term([name], values.map(equalTo));

const MANY = 1_200_000;

test('an AND of two values that more than a million items have is counted, page by page', async () => {
  const all = Float64Array.from({ length: MANY }, (_, at) => at + 1);
  const third = all.filter((rid) => rid % 3 === 0);
  const index = { isEdge: [[true, all]], label: [['third', third]] } as const;
  const stats = newStats();
  const condition = allOf(is('label', 'third'), is('isEdge', true));
  expect(await countItems(readerOf(index, { pageRids: 4096 }), condition, stats)).toBe(MANY / 3);
  expect(stats.indexEntries).toBeLessThanOrEqual(all.length + third.length);
});

test('an AND with a value that few items have reads a few pages of the value that most have', async () => {
  const all = Float64Array.from({ length: MANY }, (_, at) => at + 1);
  const index = { isEdge: [[true, all]], label: [['rare', [7, 600_000, MANY + 1]]] } as const;
  const stats = newStats();
  const condition = allOf(is('isEdge', true), is('label', 'rare'));
  expect(await countItems(readerOf(index, { pageRids: 4096 }), condition, stats)).toBe(2);
  expect(stats.indexEntries).toBeLessThanOrEqual(3 + 3 * 4096);
});

test('ranges of values that name over a million rids together are not counted', async () => {
  const all = Float64Array.from({ length: 510_000 }, (_, at) => at + 1);
  const reader = readerOf({ a: [[1, all]], b: [[1, all]] }, { pageRids: 4096 });
  const above = (name: string) => term([name], [comparedTo('>', 0)]);
  expect(await countItems(reader, allOf(above('a'), is('b', 1)), newStats())).toBe(all.length);
  expect(await countItems(reader, allOf(above('a'), above('b')), newStats())).toBeUndefined();
});

test.each([false, true])('counts are those of sets (later: %s, seed 11)', async (isLater) => {
  const random = seededRandom(11);
  const items = Array.from({ length: 3000 }, (_, at) => ({
    rid: at * 3 + 1,
    a: random.below(4),
    b: random.below(200),
    c: random.below(2),
  }));
  type Name = 'a' | 'b' | 'c';
  const values = (name: Name): Index[string] =>
    [...Map.groupBy(items, (item) => item[name])].map(([value, of]) => [
      value,
      of.map(({ rid }) => rid),
    ]);
  const reader = readerOf(
    { a: values('a'), b: values('b'), c: values('c') },
    { pageRids: 16, isLater },
  );
  const names: readonly Name[] = ['a', 'b', 'c'];
  const made = (depth: number): [Condition, (item: (typeof items)[0]) => boolean] => {
    const name = names[random.below(3)] as Name;
    const bound = random.below(name === 'b' ? 100 : 3);
    const kind = random.below(depth === 0 ? 3 : 5);
    if (kind === 0) return [is(name, bound), (item) => item[name] === bound];
    if (kind === 1)
      return [is(name, bound, bound + 1), (item) => [bound, bound + 1].includes(item[name])];
    if (kind === 2) return [term([name], [comparedTo('>=', bound)]), (item) => item[name] >= bound];
    const parts = [made(depth - 1), made(depth - 1), made(depth - 1)];
    const conditions = parts.map(([condition]) => condition);
    return kind === 3
      ? [allOf(...conditions), (item) => parts.every(([, test]) => test(item))]
      : [anyOf(...conditions), (item) => parts.some(([, test]) => test(item))];
  };
  for (let round = 0; round < 150; round++) {
    const [condition, isMatch] = made(2);
    expect(await countItems(reader, condition, newStats()), JSON.stringify(condition)).toBe(
      items.filter(isMatch).length,
    );
  }
});
