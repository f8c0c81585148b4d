// Goal: a bucket gives what is provisioned, saves and spends bursts within the documented bounds, and computes the
// right time to wait. Method: loads in fake time, by table and by seeded random histories.
import { expect, test } from 'vitest';
import { seededRandom } from '../base/index.ts';
import { BUCKET_MS, BURST_CEILING, type BucketRates, TokenBucket } from './bucket.ts';

/** The start of a minute. */
const START_MS = 1_700_000_040_000;

const plain = (rate: number): BucketRates => ({ rate, burstSec: 0, hasMinuteReserve: false });
const bursting = (rate: number): BucketRates => ({ rate, burstSec: 300, hasMinuteReserve: false });

interface Load {
  readonly fromMs: number;
  readonly toMs: number;
  /** RU/s offered, evenly over the milliseconds. */
  readonly offered: number;
  readonly cost: number;
}

/** Offers requests and drops refused ones. Returns the RU used in each second of the load. */
function offer(bucket: TokenBucket, { fromMs, toMs, offered, cost }: Load): number[] {
  const seconds: number[] = [];
  let pending = 0;
  for (let now = fromMs; now < toMs; now++) {
    pending += offered / 1000;
    for (; pending >= cost; pending -= cost) {
      if (!bucket.admits(now)) continue;
      bucket.charge(cost, now);
      const second = Math.floor((now - fromMs) / 1000);
      seconds[second] = (seconds[second] ?? 0) + cost;
    }
  }
  return seconds;
}

const total = (seconds: readonly number[]): number => seconds.reduce((sum, used) => sum + used, 0);

test.each([
  [400, 1],
  [400, 5],
  [400, 36.5],
  [1000, 1],
  [2500, 5],
  [10_000, 1],
  [10_000, 290],
  [1_000_000, 1],
])(
  '%d RU/s, three times that offered at %d RU each: ten seconds give what is provisioned',
  (rate, cost) => {
    const bucket = new TokenBucket(plain(rate), START_MS);
    const load = { fromMs: START_MS, toMs: START_MS + 10_000, offered: 3 * rate, cost };
    const share = total(offer(bucket, load)) / (10 * rate);
    expect(share).toBeGreaterThanOrEqual(0.95);
    expect(share).toBeLessThanOrEqual(1.1);
  },
);

test('a day of idleness without burst capacity gives no more than a full bucket', () => {
  const bucket = new TokenBucket(plain(400), START_MS);
  const fromMs = START_MS + 86_400_000;
  const used = total(offer(bucket, { fromMs, toMs: fromMs + 1000, offered: 100_000, cost: 1 }));
  expect(used).toBeLessThanOrEqual(400 * (1 + BUCKET_MS / 1000) + 1);
  expect(used).toBeGreaterThanOrEqual(400 * (1 + BUCKET_MS / 1000) - 1);
});

test('waiting for the returned time is enough, and less is not', () => {
  const bucket = new TokenBucket(plain(400), START_MS);
  bucket.charge(1000, START_MS);
  expect(bucket.balance(START_MS)).toBe(360 - 1000);
  expect(bucket.admits(START_MS)).toBe(false);
  const waitMs = bucket.retryAfterMs(START_MS);
  expect(waitMs).toBe(1601);
  expect(bucket.admits(START_MS + waitMs - 1)).toBe(false);
  expect(bucket.admits(START_MS + waitMs)).toBe(true);
});

test('requests that were refused together return one after the other, and each is admitted', () => {
  const bucket = new TokenBucket(plain(400), START_MS);
  for (let at = 0; at < 100; at++) bucket.charge(5, START_MS);
  const waits = Array.from({ length: 80 }, () => bucket.retryAfterMs(START_MS));
  expect(waits.at(-1)).toBeGreaterThan(1000);
  for (const waitMs of waits) {
    expect(bucket.admits(START_MS + waitMs), `wait ${waitMs}`).toBe(true);
    bucket.charge(5, START_MS + waitMs);
  }
});

test('a flood of requests without retries does not make others wait for long', () => {
  const bucket = new TokenBucket(plain(400), START_MS);
  bucket.charge(500, START_MS);
  let now = START_MS;
  let longest = 0;
  for (let at = 0; at < 200_000; at++) {
    if (at % 20 === 0) now++;
    if (bucket.admits(now)) bucket.charge(5, now);
    else {
      longest = Math.max(longest, bucket.retryAfterMs(now));
    }
  }
  expect(longest).toBeLessThanOrEqual(2000);
});

test.each([100, 400, 1000, 2000])(
  '%d RU/s: five idle minutes are spent at 3,000 RU/s and not again',
  (rate) => {
    const bucket = new TokenBucket(bursting(rate), START_MS);
    const fromMs = START_MS + 3_600_000;
    expect(bucket.reserve(fromMs)).toBe(300 * rate);
    const lengthSec = Math.ceil((300 * rate) / (BURST_CEILING - rate)) + 20;
    const toMs = fromMs + lengthSec * 1000;
    const seconds = offer(bucket, { fromMs, toMs, offered: 10_000, cost: 5 });
    for (const used of seconds) expect(used).toBeLessThanOrEqual(BURST_CEILING + 5);
    expect(seconds[0]).toBeGreaterThanOrEqual(BURST_CEILING);
    const bound = 300 * rate + rate * lengthSec + rate;
    expect(total(seconds)).toBeLessThanOrEqual(bound);
    expect(total(seconds)).toBeGreaterThanOrEqual(bound - rate);
    for (const used of seconds.slice(-10)) {
      expect(used).toBeGreaterThanOrEqual(rate - 5);
      expect(used).toBeLessThanOrEqual(rate + 5);
    }
  },
);

test('a new bucket has no burst to spend, and partitions of 3,000 RU/s and more never have', () => {
  expect(new TokenBucket(bursting(400), START_MS).reserve(START_MS)).toBe(0);
  expect(new TokenBucket(bursting(400), START_MS).reserve(START_MS + 1000)).toBe(400);
  expect(new TokenBucket(bursting(3000), START_MS).reserve(START_MS + 600_000)).toBe(0);
});

test('at the ceiling the wait is the rest of the second', () => {
  const bucket = new TokenBucket(bursting(400), START_MS);
  const now = START_MS + 600_000 + 250;
  for (; bucket.admits(now); ) bucket.charge(10, now);
  expect(bucket.retryAfterMs(now)).toBe(750);
  expect(bucket.admits(now + 749)).toBe(false);
  expect(bucket.admits(now + 750)).toBe(true);
});

test('the minute reserve absorbs a spike of ten seconds once a minute', () => {
  const bucket = new TokenBucket({ ...plain(400), hasMinuteReserve: true }, START_MS);
  const spike = (fromMs: number): number =>
    total(offer(bucket, { fromMs, toMs: fromMs + 10_000, offered: 1200, cost: 4 }));
  // 4,000 from the rate, 4,000 from the minute reserve, and the full bucket.
  expect(spike(START_MS)).toBeCloseTo(8360, -1);
  expect(spike(START_MS + 15_000)).toBeCloseTo(4360, -1);
  expect(spike(START_MS + 60_000)).toBeCloseTo(8360, -1);
});

test('a bucket in debt waits for the next minute if that is sooner, and never more than two seconds', () => {
  const bucket = new TokenBucket({ ...plain(100), hasMinuteReserve: true }, START_MS);
  bucket.charge(20_000, START_MS + 50_500);
  expect(bucket.retryAfterMs(START_MS + 50_600)).toBe(2000);
  bucket.change({ ...plain(100), hasMinuteReserve: true }, START_MS + 59_000);
  expect(bucket.retryAfterMs(START_MS + 59_100)).toBe(900);
  expect(bucket.admits(START_MS + 59_999)).toBe(false);
  expect(bucket.admits(START_MS + 60_000)).toBe(true);
});

test('a new rate applies at once; debts and savings stay in RU', () => {
  const bucket = new TokenBucket(bursting(400), START_MS);
  bucket.charge(760, START_MS);
  bucket.change(bursting(800), START_MS);
  expect(bucket.balance(START_MS)).toBe(-400);
  expect(bucket.retryAfterMs(START_MS)).toBe(501);
  const later = START_MS + 300_000;
  expect(bucket.reserve(later)).toBeGreaterThan(200_000);
  bucket.change(bursting(100), later);
  expect(bucket.reserve(later)).toBe(30_000);
  expect(bucket.balance(later)).toBe(90);
});

test('a clock set back by an hour does not stop a partition for an hour', () => {
  const bucket = new TokenBucket(plain(400), START_MS);
  bucket.charge(400, START_MS);
  const back = START_MS - 3_600_000;
  expect(bucket.admits(back)).toBe(false);
  expect(bucket.retryAfterMs(back)).toBe(101);
  expect(bucket.admits(back + 101)).toBe(true);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'random histories stay within what was earned (seed %d)',
  (seed) => {
    const random = seededRandom(seed);
    const rate = 100 * (1 + random.below(60));
    const burstSec = random.below(2) * 300;
    const bucket = new TokenBucket({ rate, burstSec, hasMinuteReserve: false }, START_MS);
    const canBurst = burstSec > 0 && rate < BURST_CEILING;
    let now = START_MS;
    let used = 0;
    let last = 0;
    for (let step = 0; step < 20_000; step++) {
      if (random.below(500) === 0) now += random.below(600_000);
      else now += random.below(3);
      if (!bucket.admits(now)) {
        // The time to wait is right after any history.
        if (random.below(20) !== 0) continue;
        const waitMs = bucket.retryAfterMs(now);
        expect(waitMs, `seed ${seed} step ${step}`).toBeGreaterThan(0);
        now += waitMs;
        expect(bucket.admits(now), `seed ${seed} step ${step}`).toBe(true);
      }
      last = 1 + random.below(40);
      bucket.charge(last, now);
      used += last;
      const earned = ((now - START_MS + BUCKET_MS) * rate) / 1000;
      expect(used, `seed ${seed} step ${step}`).toBeLessThanOrEqual(earned + last + 1e-6);
      expect(bucket.reserve(now)).toBeLessThanOrEqual(canBurst ? burstSec * rate : 0);
    }
  },
);
