// Goal: whatever happens to partitions and processes, nothing acknowledged is lost or doubled, feeds and tokens stay right.
// Method: histories made up from seeds, with crashes at named points, against a model; see README.md.
import { expect, test } from 'vitest';
import { runHistory } from './history.ts';
import { POINTS } from './life.ts';

const only = process.env.MESOCOSM_SEED;
const HISTORIES = process.env.MESOCOSM_LONG === undefined ? 100 : 2000;
const STEPS = 50;
/** Histories side by side wait for each other's turns of the event loop only. */
const GROUP = 25;

const first = only === undefined ? 1 : Number(only);
const count = only === undefined ? HISTORIES : 1;
const deaths = new Map<string, number>();
let reshapes = 0;

test.each(Array.from({ length: Math.ceil(count / GROUP) }, (_, group) => first + group * GROUP))(
  'histories from seed %d on',
  async (start) => {
    for (let seed = start; seed < Math.min(start + GROUP, first + count); seed++) {
      const report = await runHistory(seed, STEPS).catch((error: Error) => {
        error.message = `seed ${seed}: ${error.message}`;
        throw error;
      });
      for (const point of report.deaths) deaths.set(point, (deaths.get(point) ?? 0) + 1);
      reshapes += report.reshapes;
    }
  },
);

test.skipIf(only !== undefined)('they had enough of everything', () => {
  expect(reshapes).toBeGreaterThan(count);
  expect([...deaths.keys()].sort()).toEqual([...POINTS].sort());
});
