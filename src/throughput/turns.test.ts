// Goal: clients that do as they are told all get served, in as many tries as stock clients make. Method: discrete events
// in fake time: clients arrive at random, retry as told with some delay, and count.
import { expect, test } from 'vitest';
import { type Random, seededRandom } from '../base/index.ts';
import { TokenBucket } from './bucket.ts';

const START_MS = 1_700_000_040_000;
const RETRIES_MAX = 9;
const WAIT_MAX_MS = 30_000;

interface Client {
  readonly cost: number;
  atMs: number;
  tries: number;
  waitedMs: number;
}

interface Outcome {
  /** Served in the seconds of the load, of what was provisioned for them. */
  readonly share: number;
  /** Of all clients. */
  readonly givenUp: number;
  readonly lastMs: number;
}

interface Load {
  readonly rate: number;
  readonly cost: (random: Random) => number;
  readonly seconds: number;
  /** Offered load, in times of the rate. */
  readonly factor: number;
}

function simulate({ rate, cost, seconds, factor }: Load, random: Random): Outcome {
  const bucket = new TokenBucket({ rate, burstSec: 0, hasMinuteReserve: false }, START_MS);
  const byMs: (Client[] | undefined)[] = [];
  const put = (client: Client): void => {
    const list = byMs[client.atMs] ?? [];
    byMs[client.atMs] = list;
    list.push(client);
  };
  for (let offered = 0; offered < factor * rate * seconds; ) {
    const client = {
      cost: cost(random),
      atMs: random.below(seconds * 1000),
      tries: 0,
      waitedMs: 0,
    };
    offered += client.cost;
    put(client);
  }
  const outcome = { used: 0, givenUp: 0, lastMs: 0, clients: byMs.flat().length };
  for (let ms = 0; ms < byMs.length; ms++)
    for (const client of byMs[ms] ?? []) {
      const now = START_MS + ms;
      if (bucket.admits(now)) {
        bucket.charge(client.cost, now);
        if (ms < seconds * 1000) outcome.used += client.cost;
        outcome.lastMs = ms;
        continue;
      }
      const waitMs = bucket.retryAfterMs(now);
      client.tries++;
      client.waitedMs += waitMs;
      if (client.tries > RETRIES_MAX || client.waitedMs > WAIT_MAX_MS) outcome.givenUp++;
      // The way to the client and back.
      else put({ ...client, atMs: ms + waitMs + random.below(5) });
    }
  return {
    share: outcome.used / (rate * seconds),
    givenUp: outcome.givenUp / outcome.clients,
    lastMs: outcome.lastMs,
  };
}

test.each([
  [400, 3, 5, 1],
  [400, 3, 5, 2],
  [400, 3, 1, 3],
  [1000, 3, 5, 4],
  [1000, 2, 10, 5],
  [10_000, 3, 5, 6],
  [10_000, 3, 50, 7],
])(
  '%d RU/s, %d times offered at %d RU each for ten seconds: next to none gives up (seed %d)',
  (rate, factor, cost, seed) => {
    const load = { rate, cost: () => cost, seconds: 10, factor };
    const { share, givenUp, lastMs } = simulate(load, seededRandom(seed));
    expect(givenUp, `seed ${seed}`).toBeLessThan(0.001);
    expect(share, `seed ${seed}`).toBeGreaterThanOrEqual(0.95);
    expect(share, `seed ${seed}`).toBeLessThanOrEqual(1.1);
    // Hardly anything of what was earned is left unused while somebody waits.
    expect(lastMs, `seed ${seed}`).toBeLessThanOrEqual(factor * 10_000 * 1.03);
  },
);

test.each([11, 12, 13])('reads and writes mixed: next to none gives up (seed %d)', (seed) => {
  const cost = (random: Random) => (random.below(4) === 0 ? 5 : 1);
  const load = { rate: 400, cost, seconds: 10, factor: 3 };
  const { share, givenUp } = simulate(load, seededRandom(seed));
  expect(givenUp, `seed ${seed}`).toBeLessThan(0.001);
  expect(share, `seed ${seed}`).toBeGreaterThanOrEqual(0.95);
  expect(share, `seed ${seed}`).toBeLessThanOrEqual(1.1);
});
