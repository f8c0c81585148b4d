// Goal: the nearest vectors are found, exactly or approximately, as vectors are added, changed and removed, with and
// without the native library. Method: seeded random vectors against a plain computation.
import { expect, test } from 'vitest';
import { seededRandom } from '../base/index.ts';
import { type VectorDistance, VectorIndex } from './vector-index.ts';
import { loadVectorLibrary } from './vector-library.ts';

const SEED = Number(process.env.SEED ?? 20261115);
const DISTANCES: readonly VectorDistance[] = ['cosine', 'dotproduct', 'euclidean'];

function scoreOf(a: readonly number[], b: readonly number[], distance: VectorDistance): number {
  let [dot, left, right, squares] = [0, 0, 0, 0];
  for (const [at, x] of a.entries()) {
    const y = b[at] as number;
    dot += x * y;
    left += x * x;
    right += y * y;
    squares += (x - y) ** 2;
  }
  if (distance === 'dotproduct') return dot;
  return distance === 'cosine' ? dot / Math.sqrt(left * right) : -Math.sqrt(squares);
}

test.each(
  DISTANCES.flatMap(
    (distance) =>
      [
        [distance, 'library'],
        [distance, 'no library'],
      ] as const,
  ),
)('%s with %s: the exact nearest, over changes', async (distance, with_) => {
  const library = with_ === 'library' ? await loadVectorLibrary() : undefined;
  if (with_ === 'library') expect(library).toBeDefined();
  const random = seededRandom(SEED);
  const spec = { path: '/v', dimensions: 6, distance, isApproximate: false };
  const index = new VectorIndex(spec, library);
  const model = new Map<number, number[]>();
  const vector = () => Array.from({ length: 6 }, () => random.below(201) / 100 - 1.001);
  for (let step = 0; step < 2000; step++) {
    const rid = 1 + random.below(400);
    if (random.below(4) === 0) {
      index.remove(rid);
      model.delete(rid);
    } else if (random.below(20) === 0) {
      index.put(rid, 'no vector');
      model.delete(rid);
    } else {
      const value = vector();
      index.put(rid, value);
      model.set(rid, value);
    }
  }
  expect(index.count).toBe(model.size);
  for (const count of [1, 10, 100, 1000]) {
    const query = vector();
    const { rids, scores } = index.nearest(query, count, true);
    const expected = [...model].map(([, value]) => scoreOf(query, value, distance));
    expected.sort((a, b) => b - a);
    expect(rids).toHaveLength(Math.min(count, model.size));
    for (const [at, score] of scores.entries()) {
      expect(score).toBeCloseTo(expected[at] as number, 4);
      expect(scoreOf(query, model.get(rids[at] as number) ?? [], distance)).toBeCloseTo(score, 4);
    }
  }
});

test('the graph is built in the background, drops removed vectors, and finds nearly all', async () => {
  const library = await loadVectorLibrary();
  const random = seededRandom(SEED);
  const spec = { path: '/v', dimensions: 8, distance: 'cosine', isApproximate: true } as const;
  const index = new VectorIndex(spec, library);
  const vectors = new Map<number, number[]>();
  const vector = () => Array.from({ length: 8 }, () => random.below(2001) / 1000 - 1);
  for (let rid = 1; rid <= 5200; rid++) {
    const value = vector();
    vectors.set(rid, value);
    index.put(rid, value);
  }
  index.nearest(vector(), 10, false);
  while (!index.isGraphReady) await new Promise((resolve) => setImmediate(resolve));
  for (let rid = 1; rid <= 100; rid++) {
    index.remove(rid);
    vectors.delete(rid);
  }
  expect(index.isGraphReady).toBe(false);
  index.nearest(vector(), 10, false);
  while (!index.isGraphReady) await new Promise((resolve) => setImmediate(resolve));
  let hits = 0;
  for (let round = 0; round < 20; round++) {
    const query = vector();
    const { rids } = index.nearest(query, 36, false);
    const exact = [...vectors]
      .sort((a, b) => scoreOf(query, b[1], 'cosine') - scoreOf(query, a[1], 'cosine'))
      .slice(0, 10)
      .map(([rid]) => rid);
    expect(rids.every((rid) => vectors.has(rid))).toBe(true);
    hits += exact.filter((rid) => rids.includes(rid)).length;
  }
  expect(hits / 200).toBeGreaterThanOrEqual(0.95);
}, 240_000);
