/** Goal: throttled operations wait within their bounds. Method: a clock and a sleep that the test moves. */
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../base/index.ts';
import { ThrottleWait } from './throttle-wait.ts';

/** Sleeps end when the test says so, in the order of their times. */
class Sleeps {
  nowMs = 0;
  readonly #pending: { readonly atMs: number; readonly wake: () => void }[] = [];

  readonly sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      this.#pending.push({ atMs: this.nowMs + ms, wake });
      this.#pending.sort((a, b) => a.atMs - b.atMs);
    });

  get count(): number {
    return this.#pending.length;
  }

  /** Ends the next sleep and lets what waits for it run. */
  async next(): Promise<void> {
    const next = this.#pending.shift();
    if (next === undefined) throw new Error('nobody sleeps');
    this.nowMs = next.atMs;
    next.wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function waitWith(sleeps: Sleeps, bounds: { requestsMax?: number; bytesMax?: number } = {}) {
  return new ThrottleWait({ ...bounds, sleep: sleeps.sleep, nowMs: () => sleeps.nowMs });
}

/** Refused so many times, each with this wait. */
function refused(times: number, retryAfterMs: number): () => string {
  let left = times;
  return () => {
    if (left > 0) {
      left -= 1;
      throw new DomainError('throttled', 'too much', retryAfterMs);
    }
    return `after ${times}`;
  };
}

describe('an operation', () => {
  it('that is not refused makes no promise', () => {
    expect(waitWith(new Sleeps()).run(100, () => 1, 0)).toBe(1);
  });

  it('is run again until it is admitted', async () => {
    const sleeps = new Sleeps();
    const done = waitWith(sleeps).run(100, refused(3, 30), 0);
    for (let round = 0; round < 3; round++) await sleeps.next();
    expect(await done).toBe('after 3');
    expect([sleeps.nowMs, sleeps.count]).toEqual([90, 0]);
  });

  it('is refused where it would wait longer than its bound', async () => {
    const sleeps = new Sleeps();
    const done = Promise.resolve(waitWith(sleeps).run(100, refused(9, 40), 0));
    const failure = expect(done).rejects.toThrow('too much');
    await sleeps.next();
    await sleeps.next();
    await failure;
    expect([sleeps.nowMs, sleeps.count]).toEqual([80, 0]);
  });

  it('is not run again after another error, at once or later', async () => {
    const sleeps = new Sleeps();
    const wait = waitWith(sleeps);
    let runs = 0;
    const fail = (): never => {
      runs += 1;
      throw new DomainError('itemNotFound', 'none');
    };
    await expect(wait.run(100, fail, 0)).rejects.toThrow('none');
    const later = Promise.resolve(
      wait.run(100, () => (runs === 1 ? Promise.reject(refusal()) : fail()), 0),
    );
    const failure = expect(later).rejects.toThrow('none');
    runs += 1;
    await new Promise((resolve) => setImmediate(resolve));
    await sleeps.next();
    await failure;
    expect(runs).toBe(3);
  });
});

function refusal(): DomainError {
  return new DomainError('throttled', 'too much', 10);
}

describe('bounds', () => {
  it.each([
    [{ requestsMax: 2 }, 0],
    [{ bytesMax: 20 }, 10],
  ])('%j: a third waits for nothing, and the place is free again later', async (bounds, bytes) => {
    const sleeps = new Sleeps();
    const wait = waitWith(sleeps, bounds);
    const waiting = [refused(1, 10), refused(1, 20)].map((run) => wait.run(100, run, bytes));
    await expect(wait.run(100, refused(1, 10), bytes)).rejects.toThrow('too much');
    await sleeps.next();
    const third = wait.run(100, refused(1, 30), bytes);
    await sleeps.next();
    await sleeps.next();
    expect(await Promise.all([...waiting, third])).toEqual(['after 1', 'after 1', 'after 1']);
  });

  it('those that were refused first are admitted first', async () => {
    const sleeps = new Sleeps();
    const wait = waitWith(sleeps);
    const order: string[] = [];
    const run = async (name: string, retryAfterMs: number): Promise<void> => {
      await wait.run(100, refused(1, retryAfterMs), 0);
      order.push(name);
    };
    const all = [run('first', 10), run('second', 20), run('third', 30)];
    for (let round = 0; round < 3; round++) await sleeps.next();
    await Promise.all(all);
    expect(order).toEqual(['first', 'second', 'third']);
  });
});
