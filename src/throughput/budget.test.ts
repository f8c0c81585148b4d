// Goal: which requests are refused, why, and what is reported, for every kind of provision. Method: fake time,
// tables.
import { expect, test } from 'vitest';
import { TokenBucket } from './bucket.ts';
import { PartitionBudget, type Provision } from './budget.ts';
import { NORMAL_CLASS, requestClassOf, UNMETERED_CLASS } from './request-class.ts';

const START_MS = 1_700_000_000_000;
const LOW = requestClassOf(true, 0);

function budgetOf(provision: Provision): PartitionBudget {
  const budget = new PartitionBudget(START_MS);
  budget.provision(provision, START_MS);
  return budget;
}

const dedicated = (rate: number): Provision => ({
  kind: 'dedicated',
  rate,
  burstSec: 0,
  hasMinuteReserve: false,
});

test('a budget counts and refuses nothing until it is provisioned, or when it is unmetered', () => {
  for (const budget of [
    new PartitionBudget(START_MS),
    budgetOf({ kind: 'unmetered', rate: 400 }),
  ]) {
    for (let at = 0; at < 1000; at++) budget.charge(5, START_MS, NORMAL_CLASS);
    expect(budget.admit(START_MS, NORMAL_CLASS)).toBeUndefined();
    expect(budget.report(START_MS).requestUnits).toBe(5000);
  }
});

test('unmetered requests are counted, never refused, and leave the budget to others', () => {
  const budget = budgetOf(dedicated(400));
  budget.charge(4000, START_MS, UNMETERED_CLASS);
  budget.correct(-1000, START_MS, UNMETERED_CLASS);
  expect(budget.report(START_MS).requestUnits).toBe(3000);
  expect(budget.admit(START_MS, NORMAL_CLASS)).toBeUndefined();
  budget.charge(400, START_MS, NORMAL_CLASS);
  expect(budget.admit(START_MS, NORMAL_CLASS)).toBeDefined();
  expect(budget.admit(START_MS, UNMETERED_CLASS)).toBeUndefined();
});

test('a partition that has used its share refuses with the time to wait, and counts it', () => {
  const budget = budgetOf(dedicated(400));
  budget.charge(400, START_MS, NORMAL_CLASS);
  expect(budget.admit(START_MS, NORMAL_CLASS)).toEqual({
    reason: 'partition',
    retryAfterMs: 101,
  });
  expect(budget.report(START_MS)).toMatchObject({
    provisioned: 400,
    throttled: 1,
    throttledLastMinute: 1,
    requestUnitsLastMinute: 400,
    normalizedPercent: 100,
    scaledPercent: 100,
  });
});

test('a correction gives back what a request did not cost', () => {
  const budget = budgetOf(dedicated(400));
  budget.charge(500, START_MS, NORMAL_CLASS);
  budget.correct(-499, START_MS, NORMAL_CLASS);
  expect(budget.admit(START_MS, NORMAL_CLASS)).toBeUndefined();
  expect(budget.report(START_MS).requestUnits).toBe(1);
});

test('low priority is refused first, and admitted after the returned time', () => {
  const budget = budgetOf(dedicated(1000));
  budget.charge(500, START_MS, LOW);
  expect(budget.admit(START_MS, NORMAL_CLASS)).toBeUndefined();
  expect(budget.admit(START_MS, LOW)).toEqual({ reason: 'partition', retryAfterMs: 51 });
  expect(budget.admit(START_MS + 50, LOW)).toBeDefined();
  expect(budget.admit(START_MS + 51, LOW)).toBeUndefined();
});

test('work of the server itself waits where low priority would be refused, and is no refused request', () => {
  const budget = budgetOf(dedicated(400));
  expect(budget.admitsBackground(START_MS)).toBe(true);
  budget.charge(4000, START_MS, NORMAL_CLASS);
  expect(budget.admitsBackground(START_MS)).toBe(false);
  expect(budget.report(START_MS).throttled).toBe(0);
  expect(new PartitionBudget(START_MS).admitsBackground(START_MS)).toBe(true);
});

test('alone, low priority gets all that is provisioned', () => {
  const budget = budgetOf(dedicated(1000));
  let used = 0;
  for (let now = START_MS; now < START_MS + 10_000; now++)
    for (let at = 0; at < 3; at++) {
      if (budget.admit(now, LOW) !== undefined) continue;
      budget.charge(1, now, LOW);
      used++;
    }
  expect(used / 10_000).toBeGreaterThan(0.95);
  expect(used / 10_000).toBeLessThan(1.1);
});

test('under high priority overload low priority gets nothing', () => {
  const budget = budgetOf(dedicated(1000));
  const used = { high: 0, low: 0 };
  for (let now = START_MS; now < START_MS + 10_000; now++) {
    for (let at = 0; at < 2; at++)
      if (budget.admit(now, NORMAL_CLASS) === undefined) {
        budget.charge(1, now, NORMAL_CLASS);
        used.high++;
      }
    if (now >= START_MS + 1000 && budget.admit(now, LOW) === undefined) {
      budget.charge(1, now, LOW);
      used.low++;
    }
  }
  expect(used.low).toBe(0);
  expect(used.high).toBeGreaterThan(9500);
});

test('a throughput bucket is held to its share; others, and buckets without one, are not', () => {
  const budget = budgetOf({ ...dedicated(1000), limits: [{ id: 2, maxPercent: 20 }] } as Provision);
  const used = [0, 0, 0];
  for (let now = START_MS; now < START_MS + 10_000; now++)
    for (const bucket of [2, 3]) {
      const requestClass = requestClassOf(false, bucket);
      const refusal = budget.admit(now, requestClass);
      if (refusal === undefined) {
        budget.charge(0.5, now, requestClass);
        used[bucket] = (used[bucket] ?? 0) + 0.5;
      } else {
        expect(refusal.reason).toBe('throughputBucket');
        expect(bucket).toBe(2);
      }
    }
  expect(used[2]).toBeGreaterThan(1950);
  expect(used[2]).toBeLessThan(2250);
  expect(used[3]).toBe(5000);
});

test('partitions that share a bucket share its rate and count their own usage', () => {
  const bucket = new TokenBucket({ rate: 1000, burstSec: 0, hasMinuteReserve: false }, START_MS);
  const [first, second] = [
    budgetOf({ kind: 'shared', bucket }),
    budgetOf({ kind: 'shared', bucket }),
  ];
  first.charge(950, START_MS, NORMAL_CLASS);
  expect(second.admit(START_MS, NORMAL_CLASS)?.retryAfterMs).toBe(51);
  expect(first.report(START_MS)).toMatchObject({ requestUnits: 950, provisioned: 1000 });
  expect(second.report(START_MS)).toMatchObject({ requestUnits: 0, throttled: 1 });
});

test('a change of throughput applies at once and keeps debts', () => {
  const budget = budgetOf(dedicated(400));
  budget.charge(1160, START_MS, NORMAL_CLASS);
  budget.provision(dedicated(8000), START_MS);
  expect(budget.admit(START_MS, NORMAL_CLASS)?.retryAfterMs).toBe(101);
  budget.provision({ kind: 'unmetered', rate: 8000 }, START_MS);
  expect(budget.admit(START_MS, NORMAL_CLASS)).toBeUndefined();
});

test('autoscale reports the busiest second of the last hour, a tenth at least', () => {
  const budget = budgetOf(dedicated(4000));
  expect(budget.report(START_MS).scaledPercent).toBe(10);
  budget.charge(1000, START_MS, NORMAL_CLASS);
  expect(budget.report(START_MS + 1_800_000).scaledPercent).toBe(25);
  expect(budget.report(START_MS + 3_700_000).scaledPercent).toBe(10);
});
