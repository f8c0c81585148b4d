// Goal: sampling costs no more than a bounded number of series, however many partitions there are. Method: handles that
// are only names and counts, sampled second by second, seen through what the portal asks for.
import { expect, test } from 'vitest';
import { FakeClock } from '../../../base/index.ts';
import type { PartitionHandle, Route } from '../../../cluster/index.ts';
import type { Service } from '../../../service/index.ts';
import { SeriesRecorder } from './series.ts';

interface Usage {
  requestUnits: number;
  throttled: number;
  served: number;
}

/** As many partitions as a test wants, and what each has used so far. */
function world(count: number) {
  const clock = new FakeClock(1_000_000);
  const used: Usage[] = Array.from({ length: count }, () => ({
    requestUnits: 0,
    throttled: 0,
    served: 0,
  }));
  const handles = used.map((usage, at) => {
    const budget = {
      get totals() {
        return { ...usage, provisioned: 400 };
      },
    };
    return { storeName: `c${at}/0`, isGone: false, budget } as unknown as PartitionHandle;
  });
  const service = { containers: { handles: () => handles } } as unknown as Service;
  const recorder = new SeriesRecorder(service, clock);
  return {
    use(at: number, requestUnits: number): void {
      const usage = used[at] as Usage;
      usage.requestUnits += requestUnits;
      usage.served++;
    },
    sample(): void {
      clock.advance(1000);
      recorder.sample();
    },
    lastSecond: (at: number) => recorder.lastSecond({ handle: handles[at] } as unknown as Route),
    lastMinute: (at: number) =>
      recorder.lastMinute([{ handle: handles[at] } as unknown as Route]).slice(-15),
  };
}

test('a partition that is quiet shows zeros, and then what it uses again', () => {
  const { use, sample, lastSecond, lastMinute } = world(1);
  sample();
  expect(lastSecond(0)).toBe(0);
  use(0, 5);
  sample();
  expect(lastSecond(0)).toBe(5);
  sample();
  use(0, 7);
  sample();
  expect(lastMinute(0).slice(-3)).toEqual([5, 0, 7]);
});

test('with 3,000 used partitions the server does not make all series again every second', () => {
  const { use, sample, lastSecond } = world(3000);
  for (let at = 0; at < 3000; at++) use(at, 1);
  sample();
  const hasSeries = () =>
    Array.from({ length: 3000 }, (_, at) => at).filter((at) => lastSecond(at) > 0);
  const first = hasSeries();
  expect(first).toHaveLength(512);
  for (let at = 0; at < 3000; at++) use(at, 1);
  sample();
  expect(hasSeries()).toEqual(first);
});

test('a new partition takes the place of the one that was quiet for longest, with what it uses now', () => {
  const { use, sample, lastSecond } = world(600);
  for (let at = 0; at < 512; at++) use(at, 1);
  sample();
  use(599, 100);
  sample();
  expect(lastSecond(599)).toBe(0);
  for (let second = 0; second < 10; second++) {
    use(1, 2);
    sample();
  }
  use(599, 3);
  use(0, 4);
  sample();
  expect([lastSecond(599), lastSecond(0), lastSecond(1)]).toEqual([3, 4, 0]);
});
