// Goal: the first item of each value is found in few reads, also behind pages without entries. Method: entries in memory,
// some of which a reader leaves out, as it does with stored entries that a change in memory removed.
import { expect, test } from 'vitest';
import { bytesToLatin1 } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import { newStats } from '../execution-stats.ts';
import type { ItemReader, ValuesInIndex } from '../reader.ts';
import { firstOfValues } from './first-of-values.ts';
import { hasEntries } from './has-entries.ts';

/** An entry is a value of two characters and a rid of four. */
const entryOf = (value: string, rid: number): string => value + String(rid).padStart(4, '0');

interface Options {
  readonly itemCount?: number;
  /** Entries that pages count and leave out. */
  readonly removed?: ReadonlySet<string>;
}

function readerOf(
  entries: readonly string[],
  { itemCount = 1000, removed = new Set() }: Options = {},
): ItemReader & { reads: number } {
  const at = (text: string): Uint8Array => Buffer.from(text, 'latin1');
  const values: ValuesInIndex = {
    unordered: { start: at('!'), end: at('"') },
    absent: { start: at('N'), end: at('O') },
    values: [{ start: at('a'), end: at('~') }],
    valueEnd: () => 2,
  };
  const reader: Pick<ItemReader, 'itemCount' | 'ridOf' | 'scanIndex' | 'valuesIn'> & {
    reads: number;
  } = {
    reads: 0,
    itemCount,
    ridOf: (entry) => Number(entry.slice(-4)),
    valuesIn: () => values,
    scanIndex({ start, end }: KeyRange, { limit }) {
      reader.reads++;
      const [low, high] = [bytesToLatin1(start), bytesToLatin1(end as Uint8Array)];
      const within = entries.filter((entry) => entry >= low && entry < high);
      const page = within.slice(0, limit);
      const rest = within.length > limit ? { start: at(`${page.at(-1)}\0`), end } : undefined;
      return { entries: page.filter((entry) => !removed.has(entry)), rest };
    },
  };
  return reader as ItemReader & { reads: number };
}

const MANY = ['aa', 'bb', 'cc'].flatMap((value, place) =>
  Array.from({ length: 300 }, (_, at) => entryOf(value, place * 300 + at)),
);

test('each value is found by one read, past its other entries', async () => {
  const reader = readerOf([...MANY, entryOf('N0', 950), entryOf('N0', 951)].sort());
  expect(await firstOfValues(reader, ['a'], newStats())).toMatchObject({
    kind: 'rids',
    rids: [0, 300, 600, 950, 951],
  });
  expect(reader.reads).toBeLessThan(8);
});

test('values that most items have alone, or not at all, are left to a scan', async () => {
  const different = Array.from({ length: 900 }, (_, at) =>
    entryOf(at.toString(36).padStart(2, 'a'), at),
  );
  expect(await firstOfValues(readerOf(different.sort()), ['a'], newStats())).toBeUndefined();
  const absent = Array.from({ length: 200 }, (_, at) => entryOf('N0', at));
  expect(await firstOfValues(readerOf(absent), ['a'], newStats())).toBeUndefined();
});

test('an item whose entry does not tell its value leaves the values to a scan', async () => {
  const reader = readerOf([entryOf('!!', 3), ...MANY]);
  expect(await firstOfValues(reader, ['a'], newStats())).toBeUndefined();
});

test('a mark behind a removed one is found', async () => {
  const [first, second] = [entryOf('!!', 3), entryOf('!!', 4)];
  const range = { start: Buffer.from('!'), end: Buffer.from('"') };
  const removed = new Set([first]);
  expect(await hasEntries(readerOf([first, second], { removed }), range)).toBe(true);
  expect(await hasEntries(readerOf([first], { removed }), range)).toBe(false);
});

test('marks behind very many removed ones are found in few reads', async () => {
  const entries = Array.from({ length: 9_999 }, (_, at) => entryOf('!!', at));
  const range = { start: Buffer.from('!'), end: Buffer.from('"') };
  const reader = readerOf(entries, { removed: new Set(entries) });
  expect(await hasEntries(reader, range)).toBe(false);
  expect(reader.reads).toBe(21);
  expect(await hasEntries(readerOf(entries, { removed: new Set(entries.slice(1)) }), range)).toBe(
    true,
  );
  const last = new Set(entries.slice(0, -1));
  expect(await hasEntries(readerOf(entries, { removed: last }), range)).toBe(true);
});
