// Goal: the last minute and hour of a partition's use are right at any moment. Method: fake time against a plain list.
import { expect, test } from 'vitest';
import { seededRandom } from '../base/index.ts';
import { UsageSeries } from './usage.ts';

const START_MS = 1_700_000_000_500;

test('seconds leave the last minute, minutes the last hour, totals nothing', () => {
  const series = new UsageSeries(START_MS);
  series.add(7, START_MS);
  series.add(3, START_MS + 100);
  series.refuse(START_MS + 200);
  expect(series.read(START_MS + 300)).toEqual({
    requestUnits: 10,
    throttled: 1,
    requestUnitsLastMinute: 10,
    throttledLastMinute: 1,
    throttledSecondsLastMinute: 1,
    peakLastMinute: 10,
    peakLastHour: 10,
  });
  expect(series.read(START_MS + 61_000)).toMatchObject({
    requestUnits: 10,
    requestUnitsLastMinute: 0,
    throttledLastMinute: 0,
    peakLastHour: 10,
  });
  expect(series.read(START_MS + 3_700_000)).toMatchObject({ throttled: 1, peakLastHour: 0 });
});

test.each([1, 2, 3])('equals a list of all charges (seed %d)', (seed) => {
  const random = seededRandom(seed);
  const series = new UsageSeries(START_MS);
  const bySecond = new Map<number, number>();
  let now = START_MS;
  for (let step = 0; step < 3000; step++) {
    now += random.below(random.below(50) === 0 ? 90_000 : 700);
    const charge = 1 + random.below(20);
    series.add(charge, now);
    const second = Math.floor(now / 1000);
    bySecond.set(second, (bySecond.get(second) ?? 0) + charge);
    const recent = [...bySecond].filter(([at]) => at > second - 60).map(([, used]) => used);
    const minute = Math.floor(second / 60);
    const hour = [...bySecond].filter(([at]) => Math.floor(at / 60) > minute - 60);
    expect(series.read(now), `seed ${seed} step ${step}`).toMatchObject({
      requestUnitsLastMinute: recent.reduce((sum, used) => sum + used, 0),
      peakLastMinute: Math.max(...recent),
      peakLastHour: Math.max(...hour.map(([, used]) => used)),
    });
    for (const at of bySecond.keys()) if (at < second - 4000) bySecond.delete(at);
  }
});
