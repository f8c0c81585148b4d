// Goal: whatever happens to partitions and processes, nothing acknowledged is lost or doubled, feeds and tokens stay right.
// Method: histories made up from seeds, with crashes at named points, against a model; see README.md.
import { describe, expect, test } from 'vitest';
import { type HistoryOptions, runHistory } from './history.ts';
import { POINTS, type Point } from './life.ts';

const only = process.env.MESOCOSM_SEED;
const HISTORIES = process.env.MESOCOSM_LONG === undefined ? 100 : 2000;
const STEPS = 50;
/** Histories side by side wait for each other's turns of the event loop only. */
const GROUP = 25;
/** Every third or so dies where it should. */
const SEEDS_MAX = 300;

const first = only === undefined ? 1 : Number(only);
const count = only === undefined ? HISTORIES : 1;
let reshapes = 0;

const play = async (seed: number, options?: HistoryOptions) => {
  const report = await runHistory(seed, STEPS, options).catch((error: Error) => {
    const { fatalPoint = 'any point' } = options ?? {};
    error.message = `seed ${seed}, death at ${fatalPoint}: ${error.message}`;
    throw error;
  });
  reshapes += report.reshapes;
  return report;
};

test.each(Array.from({ length: Math.ceil(count / GROUP) }, (_, group) => first + group * GROUP))(
  'histories from seed %d on',
  async (start) => {
    for (let seed = start; seed < Math.min(start + GROUP, first + count); seed++) await play(seed);
  },
);

/** Which deaths a seed brings depends on how promises and turns of the event loop meet: so as many seeds as it takes. */
describe.skipIf(only !== undefined)('a process that dies at', () => {
  test.each(POINTS)('%s', async (fatalPoint) => {
    let deaths: readonly Point[] = [];
    for (let seed = 1; !deaths.includes(fatalPoint) && seed <= SEEDS_MAX; seed++)
      ({ deaths } = await play(seed, { fatalPoint }));
    expect(deaths).toContain(fatalPoint);
  });
});

test.skipIf(only !== undefined)('they had enough splits and merges', () => {
  expect(reshapes).toBeGreaterThan(count);
});
