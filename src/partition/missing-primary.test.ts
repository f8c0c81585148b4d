// Goal: a partition outlives a time in which its store can neither be read nor written. Method: a store that goes away when
// a flush of the index reads it, and comes back.
import { expect, test } from 'vitest';
import { DomainError } from '../base/index.ts';
import type { Store } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { indexingForTest, keyOf, openForTest, put, textOf } from './test-kit.ts';

const ITEMS = 10;

const away = new DomainError('unavailable', 'No member takes writes.');

/** Goes away at the first read of many keys after `arm`. */
class LeavingStore {
  readonly store: Store;
  #isArmed = false;
  #isAway = false;
  readonly left = Promise.withResolvers<void>();
  #back = Promise.withResolvers<void>();

  constructor(inner: Store) {
    const read = <Args extends unknown[], Result>(method: (...args: Args) => Result) => {
      return (...args: Args): Result => {
        if (this.#isAway) throw away;
        return method.apply(inner, args);
      };
    };
    const isAway = () => this.#isAway;
    this.store = {
      name: inner.name,
      answerWithinMs: 1,
      get writeRefusal() {
        return isAway() ? away.message : undefined;
      },
      get: read(inner.get),
      getMany: (keys) => {
        if (this.#isArmed) this.#leave();
        return read(inner.getMany)(keys);
      },
      dereference: read(inner.dereference),
      dereferenceMany: read(inner.dereferenceMany),
      scan: read(inner.scan),
      scanKeys: read(inner.scanKeys),
      snapshot: read(inner.snapshot),
      stats: read(inner.stats),
      commit: async (batch) => {
        if (this.#isAway) await this.#back.promise;
        await inner.commit(batch);
      },
      close: async () => {
        this.#back.reject(away);
        await inner.close();
      },
    };
    this.#back.promise.catch(() => undefined);
  }

  arm(): void {
    this.#isArmed = true;
  }

  comeBack(): void {
    this.#isAway = false;
    this.#back.resolve();
  }

  #leave(): void {
    this.#isArmed = false;
    this.#isAway = true;
    this.left.resolve();
  }
}

/** A partition whose flush has found that the store is away. */
async function openDuringFlush() {
  const engine = memoryEngine();
  const leaving = new LeavingStore(await engine.open('p'));
  const options = { indexing: indexingForTest({}), indexMemoryEntries: 4 * ITEMS };
  const partition = await openForTest(leaving.store, options);
  for (let id = 0; id < ITEMS; id++)
    await put(partition, 'create', keyOf('a', `${id}`), `{"n":${id}}`);
  leaving.arm();
  let version = 0;
  let isAway = false;
  const left = leaving.left.promise.then(() => {
    isAway = true;
  });
  // Changed entries are read before they are written.
  while (!isAway) {
    for (let id = 0; id < ITEMS && !isAway; id++)
      await put(partition, 'replace', keyOf('a', `${id}`), `{"n":${++version}}`).catch(
        () => undefined,
      );
    await Promise.race([left, new Promise((resolve) => setImmediate(resolve))]);
  }
  return { engine, leaving, partition, options };
}

test('a flush that cannot read the store waits, and the items in memory are read meanwhile', async () => {
  const { leaving, partition } = await openDuringFlush();
  const code = (work: Promise<unknown>) => work.catch((error: DomainError) => error.code);
  expect(await code(put(partition, 'replace', keyOf('a', '1'), '{}'))).toBe('unavailable');
  for (let id = 0; id < ITEMS; id++)
    expect(textOf(await partition.read(keyOf('a', `${id}`)))).toMatch(/^\{"n":\d+\}$/);
  expect(() => partition.read(keyOf('a', 'absent'))).toThrow(away);
  expect(partition.hasFailed).toBe(false);
  leaving.comeBack();
  await put(partition, 'replace', keyOf('a', '1'), '{"n":"back"}');
  await partition.close();
  expect(partition.hasFailed).toBe(false);
});

test('a partition is closed although its flush waits for the store; nothing is lost', async () => {
  const { engine, partition, options } = await openDuringFlush();
  const before = textOf(await partition.read(keyOf('a', '3')));
  await partition.close();
  const again = await openForTest(await engine.open('p'), options);
  expect(textOf(await again.read(keyOf('a', '3')))).toBe(before);
});
