// Goal: what was read of a value is not read again, what is forgotten is what came first, and nothing that was written
// since is missed. Method: the memory alone, then an index over a store that counts its scans.
import { expect, test } from 'vitest';
import type { ReadView } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { writeEntries } from './index-flush.ts';
import { IndexMemory } from './index-memory.ts';
import { BEYOND, KnownRids } from './known-rids.ts';

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}

test('lists are known, or that they are longer than is wanted', () => {
  const known = new KnownRids();
  known.add('a', numbers(100));
  known.add('few', numbers(3));
  known.add('wide', 1000);
  const far = numbers(40).map((rid) => 2 ** 41 + rid);
  known.add('far', far);
  expect(known.get('a', 100)).toEqual(Uint32Array.from(numbers(100)));
  expect(known.get('a', 99)).toBe(BEYOND);
  expect(known.get('few', 10)).toBeUndefined();
  expect(known.get('wide', 1000)).toBe(BEYOND);
  expect(known.get('wide', 1001)).toBeUndefined();
  expect(known.get('far', 100)).toEqual(Float64Array.from(far));
  known.add('wide', numbers(2000));
  expect(known.get('wide', 5000)?.valueOf()).toHaveLength(2000);
});

test('the oldest give way, and no list takes the room of all', () => {
  const known = new KnownRids();
  for (let list = 0; list < 10; list++) known.add(`${list}`, numbers(60_000));
  const kept = numbers(10).map((list) => known.get(`${list - 1}`, 100_000) !== undefined);
  expect(kept).toEqual([false, false, false, false, false, false, true, true, true, true]);
  known.add('all', numbers(100_000));
  expect(known.get('all', 1e6)).toBeUndefined();
});

test('rids are read once between two times that entries are written to their place', async () => {
  const store = await memoryEngine().open('a');
  const memory = new IndexMemory();
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
    const found = await memory.view(counting).rids(Buffer.from(stem, 'latin1'), limit);
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
