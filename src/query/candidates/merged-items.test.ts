// Goal: items of several partitions are merged in rid order, each once, with batches of any size. Method: seeded random
// numbers in random sources and batches, some of them empty and some of them promises.
import { expect, test } from 'vitest';
import { seededRandom } from '../../base/index.ts';
import type { Candidate, ItemReader } from '../reader.ts';
import { MergedItems } from './merged-items.ts';

test.each([1, 2, 3, 4, 5])('one stream in rid order (seed %d)', async (seed) => {
  const random = seededRandom(seed);
  const sources: number[][] = Array.from({ length: 1 + random.below(6) }, () => []);
  const count = random.below(400);
  for (let rid = 0; rid < count; rid++) sources[random.below(sources.length)]?.push(rid);
  const reader = { decode: ({ rid }: Candidate) => rid } as unknown as ItemReader;
  const batchesOf = (rids: number[]) => ({
    next() {
      if (rids.length === 0) return undefined;
      const batch = rids.splice(0, random.below(20)).map((rid) => ({ rid }) as Candidate);
      return random.below(2) === 0 ? batch : Promise.resolve(batch);
    },
  });
  const merged = new MergedItems(sources.map((rids) => ({ reader, batches: batchesOf(rids) })));
  const found: unknown[] = [];
  for (let part = await merged.next(); part !== undefined; part = await merged.next())
    found.push(...part.map((item) => item.value()));
  expect(found, `seed ${seed}`).toEqual(Array.from({ length: count }, (_, rid) => rid));
});
