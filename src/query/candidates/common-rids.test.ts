// Goal: the intersection of lists of any lengths is that of sets. Method: seeded random lists.
import { expect, test } from 'vitest';
import { seededRandom } from '../../base/index.ts';
import { commonRids } from './common-rids.ts';

const SEED = 6;

test(`the intersection is ascending and complete (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  const list = (size: number, max: number): number[] =>
    [...new Set(Array.from({ length: size }, () => random.below(max)))].sort((a, b) => a - b);
  const sizes = [0, 1, 2, 7, 30, 500];
  for (let round = 0; round < 20; round++)
    for (const first of sizes)
      for (const second of sizes)
        for (const max of [10, 600, 100_000]) {
          const a = list(first, max);
          const b = list(second, max);
          const both = a.filter((rid) => b.includes(rid));
          expect(commonRids(a, b)).toEqual(both);
          expect(commonRids(Uint32Array.from(a), b)).toEqual(both);
        }
});
