// Goal: all clients that wait as long as the response says are served, within the retries of stock clients. Method:
// discrete events in fake time: clients arrive at random, retry after the requested wait with some delay, and count.
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
  /** Request units served during the load, as a share of those provisioned. */
  readonly share: number;
  /** Share of all clients that gave up. */
  readonly givenUp: number;
  readonly lastMs: number;
  /** The longest wait in a response. */
  readonly longestMs: number;
}

interface Load {
  readonly rate: number;
  readonly cost: (random: Random) => number;
  readonly seconds: number;
  /** Offered load as a multiple of the rate. */
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
  const outcome = { used: 0, givenUp: 0, lastMs: 0, longestMs: 0, clients: byMs.flat().length };
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
      outcome.longestMs = Math.max(outcome.longestMs, waitMs);
      client.tries++;
      client.waitedMs += waitMs;
      if (client.tries > RETRIES_MAX || client.waitedMs > WAIT_MAX_MS) outcome.givenUp++;
      // Network time to the client and back.
      else put({ ...client, atMs: ms + waitMs + random.below(5) });
    }
  return {
    share: outcome.used / (rate * seconds),
    givenUp: outcome.givenUp / outcome.clients,
    lastMs: outcome.lastMs,
    longestMs: outcome.longestMs,
  };
}

test.each([
  [400, 1.2, 5, 1],
  [400, 1.2, 1, 2],
  [1000, 1.2, 5, 3],
  [1000, 1.2, 10, 4],
  [10_000, 1.2, 5, 5],
  [10_000, 1.2, 50, 6],
])(
  '%d RU/s, %d times offered at %d RU each for ten seconds: hardly any client gives up (seed %d)',
  (rate, factor, cost, seed) => {
    const load = { rate, cost: () => cost, seconds: 10, factor };
    const { share, givenUp, lastMs, longestMs } = simulate(load, seededRandom(seed));
    expect(givenUp, `seed ${seed}`).toBeLessThan(0.005);
    expect(share, `seed ${seed}`).toBeGreaterThanOrEqual(0.95);
    expect(share, `seed ${seed}`).toBeLessThanOrEqual(1.1);
    expect(longestMs, `seed ${seed}`).toBeLessThanOrEqual(2000);
    // Nearly all of what is earned is used while clients wait.
    expect(lastMs, `seed ${seed}`).toBeLessThanOrEqual(factor * 10_000 * 1.05);
  },
);

test.each([11, 12, 13])('reads and writes mixed: hardly any client gives up (seed %d)', (seed) => {
  const cost = (random: Random) => (random.below(4) === 0 ? 5 : 1);
  const load = { rate: 400, cost, seconds: 10, factor: 1.2 };
  const { share, givenUp } = simulate(load, seededRandom(seed));
  expect(givenUp, `seed ${seed}`).toBeLessThan(0.005);
  expect(share, `seed ${seed}`).toBeGreaterThanOrEqual(0.95);
  expect(share, `seed ${seed}`).toBeLessThanOrEqual(1.1);
});

test.each([21, 22])(
  'three times what is provisioned: all of it is used, no client waits for long (seed %d)',
  (seed) => {
    const load = { rate: 400, cost: () => 5, seconds: 10, factor: 3 };
    const { share, longestMs } = simulate(load, seededRandom(seed));
    expect(share, `seed ${seed}`).toBeGreaterThanOrEqual(0.95);
    expect(longestMs, `seed ${seed}`).toBeLessThanOrEqual(2000);
  },
);

/** Writers that write one item after the other for a minute, all to one partition. */
function writeOn(writers: number, retryMaxMs: number, random: Random) {
  const bucket = new TokenBucket({ rate: 400, burstSec: 0, hasMinuteReserve: false }, START_MS);
  const byMs: { readonly tries: number }[][] = [];
  const put = (atMs: number, tries: number): void => {
    byMs[atMs] ??= [];
    byMs[atMs].push({ tries });
  };
  for (let n = 0; n < writers; n++) put(random.below(20), 0);
  const outcome = { written: 0, givenUp: 0, longestMs: 0 };
  for (let ms = 0; ms < 60_000; ms++)
    for (const { tries } of byMs[ms] ?? []) {
      const now = START_MS + ms;
      const next = ms + 3 + random.below(4);
      if (bucket.admits(now)) {
        bucket.charge(7, now);
        outcome.written++;
        put(next, 0);
        continue;
      }
      const waitMs = bucket.retryAfterMs(now);
      outcome.longestMs = Math.max(outcome.longestMs, waitMs);
      const isOver = tries >= RETRIES_MAX && retryMaxMs === Number.POSITIVE_INFINITY;
      if (isOver) outcome.givenUp++;
      put(isOver ? next : next + Math.min(waitMs, retryMaxMs), isOver ? 0 : tries + 1);
    }
  return outcome;
}

test.each([
  [8, 31],
  [32, 32],
  [64, 33],
])(
  '%d writers of one hot key that wait as asked: every write succeeds (seed %d)',
  (writers, seed) => {
    const { written, givenUp, longestMs } = writeOn(
      writers,
      Number.POSITIVE_INFINITY,
      seededRandom(seed),
    );
    expect(givenUp, `seed ${seed}`).toBe(0);
    expect(written, `seed ${seed}`).toBeGreaterThan((0.98 * 60 * 400) / 7);
    // The time until the bucket can serve the last of them, and a little for those who returned first.
    expect(longestMs, `seed ${seed}`).toBeLessThanOrEqual(writers * (7 / 0.4) * 1.2);
  },
);

test.each([
  [1, 41],
  [20, 42],
  [100, 43],
  [500, 44],
])(
  '32 writers that return after %d ms whatever the response says: no wait grows beyond two seconds (seed %d)',
  (retryMaxMs, seed) => {
    const { written, longestMs } = writeOn(32, retryMaxMs, seededRandom(seed));
    expect(longestMs, `seed ${seed}`).toBeLessThanOrEqual(2000);
    expect(written, `seed ${seed}`).toBeGreaterThan((0.98 * 60 * 400) / 7);
  },
);
