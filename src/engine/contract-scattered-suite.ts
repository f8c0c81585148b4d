/**
 * Goal: scattered keys answer as all others do, whatever becomes of them meanwhile. Method: commits that are not waited for,
 * each of which leads a key to another record; whoever reads in between sees the work of whole commits.
 */
import { describe, expect, it } from 'vitest';
import { AssertionError, type Bytes, bytesToLatin1 } from '../base/index.ts';
import { bytes, refusal } from './contract-terms-suite.ts';
import type { Batch, ReadView, Store } from './engine.ts';
import { NUMBERED_PREFIX } from './numbered.ts';
import { SCATTERED_PREFIX } from './scattered.ts';

const COMMITS = 120;
const KEYS = 7;
const SCATTERED_RANGE = { start: bytes(SCATTERED_PREFIX), end: bytes(SCATTERED_PREFIX + 1) };
const PAGE = { limit: 100, bytesMax: 1e6 };

export function contractScatteredSuite(currentStore: () => Store): void {
  describe('scattered keys', () => {
    it('are read of one moment while commits are under way', async () => {
      const store = currentStore();
      await store.commit(step(0));
      const commits: Promise<void>[] = [];
      let last = 0;
      for (let number = 1; number <= COMMITS; number++) {
        commits.push(store.commit(step(number)));
        last = await checkLive(store, last);
        if (number % 3 > 0) continue;
        const snapshot = await store.snapshot();
        last = await checkMoment(snapshot, last);
        await new Promise((resolve) => setImmediate(resolve));
        expect(await checkMoment(snapshot, last)).toBe(last);
        snapshot.release();
      }
      await Promise.all(commits);
      expect(await checkMoment(store, last)).toBe(COMMITS);
    });

    it('are no target of pointers', async () => {
      const store = currentStore();
      await expect(refusal(() => store.follow(bytes(1), SCATTERED_PREFIX))).rejects.toThrow(
        AssertionError,
      );
    });
  });
}

/** Commit `number` adds a key, deletes the one of KEYS commits before, and leads all that live to a new record. */
function step(number: number): Batch {
  const value = recordKey(number).subarray(1);
  return {
    deletes: number === 0 ? [] : [keyOf(number - KEYS), recordKey(number - 1)],
    puts: [
      ...keysAfter(number).map((key) => ({ key: bytesOf(key), value })),
      { key: recordKey(number), value: bytes(number) },
    ],
  };
}

function recordKey(number: number): Bytes {
  return bytes(NUMBERED_PREFIX, 0, 0, 0, 0, 0, 0, 7, number);
}

/** Neighbours in time are none in order. */
function keyOf(number: number): Bytes {
  return bytes(SCATTERED_PREFIX, (number * 97) & 255, number);
}

/** Each read is of its own moment, which is not before that of the last one. Answers which it saw. */
async function checkLive(store: Store, last: number): Promise<number> {
  const { keys, number } = await scanned(store);
  expect(number).toBeGreaterThanOrEqual(last);
  expect(keys).toEqual(keysAfter(number));
  const record = await store.follow(keyOf(number), NUMBERED_PREFIX);
  if (record !== undefined) expect(record[0]).toBeGreaterThanOrEqual(number);
  const values = await store.getMany(keysAfter(number).map(bytesOf));
  const pointers = values.flatMap((value) => (value === undefined ? [] : [bytesToLatin1(value)]));
  expect(new Set(pointers).size).toBeLessThanOrEqual(1);
  return number;
}

/** All reads are of one moment, not before that of `last`. Answers which it is. */
async function checkMoment(view: ReadView, last: number): Promise<number> {
  const { keys, number } = await scanned(view);
  expect(number).toBeGreaterThanOrEqual(last);
  expect(keys).toEqual(keysAfter(number));
  const page = await view.scanKeys(SCATTERED_RANGE, { ...PAGE, reverse: true });
  expect(page).toEqual({ keys: keysAfter(number).reverse(), more: false });
  for (const key of keysAfter(number).map(bytesOf)) {
    expect(await view.follow(key, NUMBERED_PREFIX)).toEqual(bytes(number));
    expect(await view.get(key)).toEqual(recordKey(number).subarray(1));
  }
  expect(await view.get(keyOf(number + 1))).toBeUndefined();
  if (number >= KEYS) expect(await view.get(keyOf(number - KEYS))).toBeUndefined();
  return number;
}

/** The keys and the number of the record that all of them lead to. */
async function scanned(view: ReadView): Promise<{ keys: readonly string[]; number: number }> {
  const { entries } = await view.scan(SCATTERED_RANGE, { ...PAGE, follow: NUMBERED_PREFIX });
  const numbers = new Set(entries.map(({ value }) => value[0] ?? -1));
  expect(numbers.size).toBe(1);
  return { keys: entries.map(({ key }) => bytesToLatin1(key)), number: [...numbers][0] ?? -1 };
}

function keysAfter(number: number): string[] {
  const living = Array.from({ length: KEYS }, (_, at) => number - at).filter((of) => of >= 0);
  return living.map((of) => bytesToLatin1(keyOf(of))).sort();
}

function bytesOf(key: string): Bytes {
  return Buffer.from(key, 'latin1');
}
