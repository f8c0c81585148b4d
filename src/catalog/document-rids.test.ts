// Goal: the texts equal those of resource ids. Method: compared for seeded random numbers, in sequence and with gaps.
import { expect, test } from 'vitest';
import { seededRandom } from '../base/index.ts';
import { DocumentRids } from './document-rids.ts';
import { documentRid } from './resource-id.ts';

const SEED = 7;

test.each([
  [1, 2],
  [0xffff_ffff, 0x7fff_ffff],
  [0x3f3e, 0xfbff],
])(`database %i, container %i (seed ${SEED})`, (database, container) => {
  const random = seededRandom(SEED);
  const rids = new DocumentRids(database, container);
  const numbers = [0, 1, 255, 256, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1];
  for (let count = 0; count < 500; count++) {
    const number = random.below(2 ** 21) * 2 ** 32 + random.below(2 ** 32);
    numbers.push(number, number + 1);
  }
  for (const number of numbers)
    expect(rids.of(number), String(number)).toBe(documentRid(database, container, number));
});
