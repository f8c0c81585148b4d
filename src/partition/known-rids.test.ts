// Goal: what was read of a value is not read again, what is forgotten is what came first, and nothing that was written
// since is missed. Method: the memory alone, then an index over a store that counts its scans.
import { expect, test } from 'vitest';
import type { ReadView } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { writeEntries } from './index-flush.ts';
import { IndexMemory } from './index-memory.ts';
import { BEYOND, KnownRids } from './known-rids.ts';
import { RidsRoom } from './rids-room.ts';

/** However they are had. */
function upTo(limit: number) {
  return { read: limit, known: limit };
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}

test('lists are known, or that they are longer than is wanted', () => {
  const known = new KnownRids(new RidsRoom(0));
  known.add('a', numbers(100));
  known.add('few', numbers(3));
  known.add('wide', 1000);
  const far = numbers(40).map((rid) => 2 ** 41 + rid);
  known.add('far', far);
  expect(known.get('a', upTo(100))).toEqual(Uint32Array.from(numbers(100)));
  expect(known.get('a', upTo(99))).toBe(BEYOND);
  expect(known.get('few', upTo(10))).toBeUndefined();
  expect(known.get('wide', upTo(1000))).toBe(BEYOND);
  expect(known.get('wide', upTo(1001))).toBeUndefined();
  expect(known.get('far', upTo(100))).toEqual(Float64Array.from(far));
  known.add('wide', numbers(2000));
  expect(known.get('wide', upTo(5000))?.valueOf()).toHaveLength(2000);
});

test('the oldest give way, and no list takes the room of all', () => {
  const known = new KnownRids(new RidsRoom(0));
  for (let list = 0; list < 10; list++) known.add(`${list}`, numbers(60_000));
  const kept = numbers(10).map((list) => known.get(`${list - 1}`, upTo(100_000)) !== undefined);
  expect(kept).toEqual([false, false, false, false, false, false, true, true, true, true]);
  known.add('all', numbers(100_000));
  expect(known.get('all', upTo(1e6))).toBeUndefined();
});

test('a long list is read once it was asked for again and again, if it is not too long to be kept', () => {
  const known = new KnownRids(new RidsRoom(0));
  const limits = { read: 100, known: 5000 };
  expect([known.get('a', limits), known.limitOf('a', limits)]).toEqual([undefined, 100]);
  known.add('a', 100);
  for (let asks = 1; asks < 4; asks++) expect(known.get('a', limits)).toBe(BEYOND);
  expect([known.get('a', limits), known.limitOf('a', limits)]).toEqual([undefined, 5000]);
  known.add('a', numbers(3000));
  expect(known.get('a', limits)).toHaveLength(3000);
  expect(known.get('a', upTo(100))).toBe(BEYOND);
  known.add('b', 5000);
  for (let asks = 0; asks < 10; asks++) expect(known.get('b', limits)).toBe(BEYOND);
});

test('where there is room more lists are kept, until it is given back', () => {
  const room = new RidsRoom(3 * 2 ** 20);
  const known = new KnownRids(room);
  for (let list = 0; list < 20; list++) known.add(`${list}`, numbers(60_000));
  const kept = numbers(20).filter((list) => known.get(`${list - 1}`, upTo(100_000)) !== undefined);
  expect(kept).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  expect(room.take(1)).toBe(false);
  known.end();
  known.add('late', numbers(60_000));
  expect(known.get('late', upTo(100_000))).toBeUndefined();
  expect(room.take(3 * 2 ** 20)).toBe(true);
});

test('rids are read once between two times that entries are written to their place', async () => {
  const store = await memoryEngine().open('a');
  const memory = new IndexMemory(new RidsRoom());
  let scans = 0;
  const counting: ReadView = {
    get: (key) => store.get(key),
    getMany: (keys) => store.getMany(keys),
    follow: (key, prefix) => store.follow(key, prefix),
    scanKeys(range, options) {
      scans++;
      return store.scanKeys(range, options);
    },
    scan: (range, options) => store.scan(range, options),
  };
  const stem = '\u0020somepathx';
  const rids = async (limit = 1000): Promise<readonly number[] | undefined> => {
    const found = await memory.view(counting).rids(Buffer.from(stem, 'latin1'), upTo(limit));
    return found && Array.from(found);
  };
  const flushed = async (): Promise<void> => {
    const flush = memory.freeze();
    if (flush === undefined) throw new Error('nothing to write');
    await writeEntries(store, flush);
    memory.thaw(flush);
  };
  for (const rid of numbers(100)) memory.postings.change(stem, rid, true);
  await flushed();
  for (let round = 0; round < 3; round++) expect(await rids()).toEqual(numbers(100));
  expect(await rids(50)).toBeUndefined();
  expect(scans).toBe(1);
  memory.postings.change(stem, 101, true);
  expect(await rids()).toEqual(numbers(101));
  // Rids of a partition that was merged into this one: they take more room.
  memory.postings.change(stem, 2 ** 40, true);
  expect(await rids()).toEqual([...numbers(101), 2 ** 40]);
  memory.postings.change(stem, 2 ** 40, false);
  memory.postings.change(stem, 1, false);
  const now = numbers(101).slice(1);
  expect(await rids()).toEqual(now);
  expect(scans).toBe(1);
  await flushed();
  for (let round = 0; round < 3; round++) expect(await rids()).toEqual(now);
  expect(scans).toBe(2);
});
