// Goal: a query ends at its deadline, when it is aborted or when its client is gone, and releases what it opened. Method:
// a partition of endless items that calls back at every read, for every kind of query.
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { DomainError, FakeClock } from '../base/index.ts';
import { ANYTHING } from './condition/condition.ts';
import type { Blocking, Streaming } from './executable-query.ts';
import { executePage } from './execute.ts';
import { newStats } from './execution-stats.ts';
import { looseItem } from './found-item.ts';
import { Interruption, type InterruptionOptions } from './interruption.ts';
import type { PageRequest, Target } from './page/page.ts';
import type { ItemReader } from './reader.ts';

const STREAMING: Streaming = {
  kind: 'streaming',
  rowsOf: () => [],
  order: undefined,
  skip: 0,
  take: Number.POSITIVE_INFINITY,
};
const ORDERED: Streaming = {
  ...STREAMING,
  order: { parts: [{ path: undefined, isDescending: false }] },
};
const BLOCKING: Blocking = {
  kind: 'blocking',
  needsEvery: true,
  start: () => ({ add: () => true, finish: () => [] }),
};

class Endless {
  readonly clock = new FakeClock();
  isReleased = false;
  reads = 0;
  onRead: () => void = () => undefined;

  readonly reader = {
    itemCount: 1e9,
    excludes: { others: false, hidden: false },
    scanItems: (from: number) => {
      this.reads++;
      this.onRead();
      return { items: [looseItem({ value: () => 1 })], next: from + 1 };
    },
    decode: () => 1,
    isWithin: () => true,
    termsOf: () => undefined,
    release: () => {
      this.isReleased = true;
    },
  } as unknown as ItemReader & { release(): void };

  async run(
    shape: Streaming | Blocking,
    options: InterruptionOptions,
    open: Target['open'] = () => this.reader,
  ) {
    const request: PageRequest = {
      query: { condition: ANYTHING, shape },
      ranges: [{ min: '', max: 'FF' }],
      targetsIn: () => [{ min: '', max: 'FF', open }],
      position: undefined,
      rowsMax: 10,
      bytesMax: 1000,
      stats: newStats(),
      interruption: new Interruption(options, this.clock),
    };
    return executePage(request);
  }
}

test.each([
  ['streaming', STREAMING],
  ['ordered', ORDERED],
  ['blocking', BLOCKING],
] as const)('a %s query ends between two reads', async (_, shape) => {
  const cases: readonly ((world: Endless) => InterruptionOptions)[] = [
    (world) => {
      world.onRead = () => world.clock.advance(3);
      return { deadlineMs: world.clock.nowMs() + 7 };
    },
    (world) => {
      const controller = new AbortController();
      world.onRead = () => world.reads === 3 && controller.abort();
      return { signal: controller.signal };
    },
    (world) => {
      const client = { isGone: false };
      world.onRead = () => {
        client.isGone = world.reads === 3;
      };
      return { client };
    },
  ];
  for (const optionsOf of cases) {
    const world = new Endless();
    await expect(world.run(shape, optionsOf(world))).rejects.toMatchObject({
      code: 'queryTimeout',
    });
    expect(world.reads).toBe(3);
    expect(world.isReleased).toBe(true);
  }
});

test('nothing is opened after the deadline', async () => {
  const world = new Endless();
  const open = () => expect.unreachable('too late');
  const deadlineMs = world.clock.nowMs();
  await expect(world.run(STREAMING, { deadlineMs }, open)).rejects.toMatchObject({
    message: 'The query exceeded its time limit.',
  });
});

test('a query that waits for a partition is aborted at once, and releases the partition later', async () => {
  const world = new Endless();
  const controller = new AbortController();
  const opening = Promise.withResolvers<typeof world.reader>();
  const page = world.run(STREAMING, { signal: controller.signal }, () => opening.promise);
  const reason = new DomainError('queryTimeout', 'killed');
  controller.abort(reason);
  await expect(page).rejects.toBe(reason);
  opening.resolve(world.reader);
  await expect.poll(() => world.isReleased).toBe(true);
  expect(world.reads).toBe(0);
});

test('a query that waits ends at its deadline', async () => {
  const world = new Endless();
  const never = new Promise<typeof world.reader>(() => undefined);
  const deadlineMs = world.clock.nowMs() + 5;
  const page = world.run(STREAMING, { deadlineMs }, () => {
    world.clock.advance(5);
    return never;
  });
  await expect(page).rejects.toMatchObject({ code: 'queryTimeout' });
});

test('a query that ends in time leaves no listener behind', async () => {
  const world = new Endless();
  const { signal } = new AbortController();
  const options = { signal, deadlineMs: world.clock.nowMs() + 1e9 };
  const page = await world.run({ ...STREAMING, take: 0 }, options);
  expect(page).toEqual({ rows: [], position: undefined });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
