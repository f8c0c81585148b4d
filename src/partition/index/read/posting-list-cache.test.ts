// Goal: a list is read once, the oldest lists are dropped first, and later writes are never missed.
// Method: the cache alone, then an index over a store that counts its scans.
import { expect, test } from 'vitest';
import { memoryEngine } from '../../../engine/memory/index.ts';
import { MemoryBudget } from '../../read/memory-budget.ts';
import { IndexMemtable } from '../memory/index-memtable.ts';
import { writeEntries } from '../stored/index-flush.ts';
import { countingView, flushTo } from '../stored/test-kit.ts';
import type { IndexView } from './index-view.ts';
import { PostingListCache, TOO_MANY } from './posting-list-cache.ts';

/** The same limit for lists that are cached and read. */
function upTo(limit: number) {
  return { read: limit, cached: limit };
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}

test('lists are cached, or that they are longer than the limit', () => {
  const cache = new PostingListCache(new MemoryBudget(0));
  cache.add('a', numbers(100));
  cache.add('few', numbers(3));
  cache.add('wide', 1000);
  const far = numbers(40).map((rid) => 2 ** 41 + rid);
  cache.add('far', far);
  expect(cache.get('a', upTo(100))).toEqual(Uint32Array.from(numbers(100)));
  expect(cache.get('a', upTo(99))).toBe(TOO_MANY);
  expect(cache.get('few', upTo(10))).toBeUndefined();
  expect(cache.get('wide', upTo(1000))).toBe(TOO_MANY);
  expect(cache.get('wide', upTo(1001))).toBeUndefined();
  expect(cache.get('far', upTo(100))).toEqual(Float64Array.from(far));
  cache.add('wide', numbers(2000));
  expect(cache.get('wide', upTo(5000))?.valueOf()).toHaveLength(2000);
});

test('the oldest lists are dropped, and no list pushes out all others', () => {
  const cache = new PostingListCache(new MemoryBudget(0));
  for (let list = 0; list < 10; list++) cache.add(`${list}`, numbers(60_000));
  const kept = numbers(10).map((list) => cache.get(`${list - 1}`, upTo(100_000)) !== undefined);
  expect(kept).toEqual([false, false, false, false, false, false, true, true, true, true]);
  cache.add('all', numbers(100_000));
  expect(cache.get('all', upTo(1e6))).toBeUndefined();
});

test('a long list is read after some misses, if it is not too long to be cached', () => {
  const cache = new PostingListCache(new MemoryBudget(0));
  const limits = { read: 100, cached: 5000 };
  expect([cache.get('a', limits), cache.limitOf('a', limits)]).toEqual([undefined, 100]);
  cache.add('a', 100);
  for (let misses = 1; misses < 4; misses++) expect(cache.get('a', limits)).toBe(TOO_MANY);
  expect([cache.get('a', limits), cache.limitOf('a', limits)]).toEqual([undefined, 5000]);
  cache.add('a', numbers(3000));
  expect(cache.get('a', limits)).toHaveLength(3000);
  expect(cache.get('a', upTo(100))).toBe(TOO_MANY);
  cache.add('b', 5000);
  for (let misses = 0; misses < 10; misses++) expect(cache.get('b', limits)).toBe(TOO_MANY);
});

test('more lists are kept while the budget lasts, and it is released at the end', () => {
  const budget = new MemoryBudget(3 * 2 ** 20);
  const cache = new PostingListCache(budget);
  for (let list = 0; list < 20; list++) cache.add(`${list}`, numbers(60_000));
  const kept = numbers(20).filter((list) => cache.get(`${list - 1}`, upTo(100_000)) !== undefined);
  expect(kept).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  expect(budget.reserve(1)).toBe(false);
  cache.end();
  cache.add('late', numbers(60_000));
  expect(cache.get('late', upTo(100_000))).toBeUndefined();
  expect(budget.reserve(3 * 2 ** 20)).toBe(true);
});

test('rids are read once between two flushes', async () => {
  const store = await memoryEngine().open('a');
  const memtable = new IndexMemtable(new MemoryBudget());
  const view = countingView(store);
  const termPrefix = '\u0020somepathx';
  const rids = async (limit = 1000): Promise<readonly number[] | undefined> => {
    const found = await memtable.view(view).rids(Buffer.from(termPrefix, 'latin1'), upTo(limit));
    return found && Array.from(found);
  };
  for (const rid of numbers(100)) memtable.postings.change(termPrefix, rid, true);
  await flushTo(store, memtable);
  for (let round = 0; round < 3; round++) expect(await rids()).toEqual(numbers(100));
  expect(await rids(50)).toBeUndefined();
  expect(view.counts.scanKeys).toBe(1);
  memtable.postings.change(termPrefix, 101, true);
  expect(await rids()).toEqual(numbers(101));
  // Rids of a partition that was merged into this one take more memory.
  memtable.postings.change(termPrefix, 2 ** 40, true);
  expect(await rids()).toEqual([...numbers(101), 2 ** 40]);
  memtable.postings.change(termPrefix, 2 ** 40, false);
  memtable.postings.change(termPrefix, 1, false);
  const now = numbers(101).slice(1);
  expect(await rids()).toEqual(now);
  expect(view.counts.scanKeys).toBe(1);
  await flushTo(store, memtable);
  for (let round = 0; round < 3; round++) expect(await rids()).toEqual(now);
  expect(view.counts.scanKeys).toBe(2);
});

test('a view from before a flush does not see lists that were read while it ran', async () => {
  const store = await memoryEngine().open('a');
  const memtable = new IndexMemtable(new MemoryBudget());
  const prefix = '\u0020somepathx';
  const other = '\u0020different';
  const ridsOf = async (view: IndexView, termPrefix = prefix): Promise<readonly number[]> =>
    Array.from((await view.rids(Buffer.from(termPrefix, 'latin1'), upTo(1000))) ?? []);
  for (const rid of numbers(100)) memtable.postings.change(prefix, rid, true);
  for (const rid of numbers(100)) memtable.postings.change(other, rid, true);
  await flushTo(store, memtable);

  const snapshot = await store.snapshot();
  const before = memtable.view(snapshot);
  memtable.postings.change(prefix, 101, true);
  for (const rid of numbers(100)) memtable.postings.change(other, rid, false);
  const flush = memtable.beginFlush();
  if (flush === undefined) throw new Error('nothing to write');
  await writeEntries(store, flush);
  const during = memtable.view(store);
  expect(await ridsOf(during)).toEqual(numbers(101));
  expect(await ridsOf(during, other)).toEqual([]);
  expect(await ridsOf(before)).toEqual(numbers(100));
  expect(await ridsOf(before, other)).toEqual(numbers(100));
  memtable.endFlush(flush);
  expect(await ridsOf(memtable.view(store))).toEqual(numbers(101));
  expect(await ridsOf(memtable.view(store), other)).toEqual([]);
  snapshot.release();
});
