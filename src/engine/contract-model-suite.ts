/**
 * Goal: any history of commits, snapshots and reads gives the results of a plain sorted array. Method: seeded random
 * histories over few short keys, so that they collide. The seed is in the name of the test.
 */
import { describe, expect, it } from 'vitest';
import {
  type Bytes,
  bytesToLatin1,
  compareBytes,
  type Random,
  seededRandom,
  toHex,
} from '../base/index.ts';
import {
  type Batch,
  ConflictError,
  type Entry,
  type KeyRange,
  type ReadView,
  type ScanOptions,
  type ScanPage,
  type Snapshot,
  type Store,
} from './engine.ts';
import { INTEGER_KEY_PREFIX } from './integer-keys.ts';

const SEEDS = process.env.MESOCOSM_LONG === '1' ? 50 : 4;
const STEPS = 150;
const SNAPSHOTS_MAX = 3;

export function contractModelSuite(currentStore: () => Store): void {
  describe('behaves as a sorted array does', () => {
    for (let seed = 1; seed <= SEEDS; seed++)
      it(`seed ${seed}`, async () => {
        await history(currentStore(), seededRandom(seed));
      });
  });
}

async function history(store: Store, random: Random): Promise<void> {
  let model: readonly Entry[] = [];
  const snapshots: { readonly view: Snapshot; readonly model: readonly Entry[] }[] = [];
  for (let step = 0; step < STEPS; step++) {
    const note = `step ${step}`;
    switch (random.below(6)) {
      case 0:
        if (snapshots.length < SNAPSHOTS_MAX)
          snapshots.push({ view: await store.snapshot(), model });
        else
          for (const { view } of snapshots.splice(random.below(SNAPSHOTS_MAX), 1)) view.release();
        break;
      case 1:
      case 2:
        model = await commitSome(store, model, random, note);
        break;
      default: {
        const pick = snapshots[random.below(SNAPSHOTS_MAX + 1)];
        await compareReads(pick?.view ?? store, pick?.model ?? model, random, note);
      }
    }
  }
  for (const { view } of snapshots) view.release();
  const all = { limit: 100_000, bytesMax: 1e9 };
  const page = await store.scan({ start: new Uint8Array(0), end: undefined }, all);
  expect(page.entries.map(show), 'at the end').toEqual(model.map(show));
}

/** Several commits at once, each with its own outcome, in the order of the calls. */
async function commitSome(
  store: Store,
  before: readonly Entry[],
  random: Random,
  note: string,
): Promise<readonly Entry[]> {
  let model = before;
  const expected: string[] = [];
  const commits: Promise<void>[] = [];
  for (let count = 1 + random.below(4); count > 0; count--) {
    const batch = randomBatch(model, random);
    const next = apply(model, batch);
    expected.push(next === undefined ? 'conflict' : 'done');
    model = next ?? model;
    commits.push(store.commit(batch));
  }
  const outcomes = await Promise.all(
    commits.map((commit) =>
      commit.then(
        () => 'done',
        (error: unknown) => (error instanceof ConflictError ? 'conflict' : String(error)),
      ),
    ),
  );
  expect(outcomes, note).toEqual(expected);
  return model;
}

function randomBatch(model: readonly Entry[], random: Random): Batch {
  const some = <T>(most: number, make: () => T) =>
    Array.from({ length: random.below(most + 1) }, make);
  return {
    expects: some(1, () => {
      const key = randomKey(random);
      const found = read(model, key);
      const holds = random.below(4) > 0;
      return { key, value: holds ? found : randomValue(random) };
    }),
    deleteRanges: some(1, () => randomRange(random)).filter(() => random.below(5) === 0),
    deletes: some(3, () => randomKey(random)),
    puts: some(random.below(8) === 0 ? 80 : 6, () => ({
      key: randomKey(random),
      value: randomValue(random),
    })),
    appends: some(3, () => ({ key: randomKey(random), value: randomValue(random) })),
  };
}

async function compareReads(
  view: ReadView,
  model: readonly Entry[],
  random: Random,
  note: string,
): Promise<void> {
  const keys = Array.from({ length: 5 }, () => randomKey(random));
  const text = (value: Bytes | undefined) => value && toHex(value);
  const many = await view.getMany(keys);
  expect(many.map(text), note).toEqual(keys.map((key) => text(read(model, key))));
  const [first] = keys as [Bytes];
  expect(text(await view.get(first)), note).toBe(text(read(model, first)));
  const prefix = random.below(2) === 0 ? INTEGER_KEY_PREFIX : random.below(3);
  const targets = keys.map((key) => {
    const pointer = read(model, key);
    return text(pointer && follow(model, { key, value: pointer }, prefix));
  });
  expect(text(await view.dereference(first, prefix)), note).toBe(targets[0]);
  const dereferenced = await view.dereferenceMany(keys, prefix);
  expect(dereferenced.map(text), note).toEqual(targets);
  const range = randomRange(random);
  const kind = random.below(3);
  const options: ScanOptions = {
    limit: 1 + random.below(40),
    bytesMax: 1 + random.below(random.below(2) === 0 ? 60 : 60_000),
    reverse: random.below(2) === 0,
    ...(kind === 2 ? { dereference: prefix } : {}),
  };
  if (kind === 1) {
    const found = await view.scanKeys(range, options);
    const keys = keysOf(model);
    const wanted = scan(keys, range, options);
    expect(found.keys, note).toEqual(wanted.entries.map(({ key }) => bytesToLatin1(key)));
    expect(found.more, note).toBe(wanted.more);
    return;
  }
  const page = await view.scan(range, options);
  const wanted = scan(model, range, options);
  const detail = `${note} ${JSON.stringify(options)}`;
  expect(page.entries.map(show), detail).toEqual(wanted.entries.map(show));
  expect(page.more, detail).toBe(wanted.more);
}

function apply(model: readonly Entry[], batch: Batch): readonly Entry[] | undefined {
  for (const { key, value } of batch.expects ?? []) {
    const found = read(model, key);
    if ((found && toHex(found)) !== (value && toHex(value))) return undefined;
  }
  const doomed = new Set((batch.deletes ?? []).map(toHex));
  const puts = new Map((batch.puts ?? []).map((entry) => [toHex(entry.key), entry]));
  let after = model
    .filter(({ key }) => !(batch.deleteRanges ?? []).some((range) => isWithin(range, key)))
    .filter(({ key }) => !doomed.has(toHex(key)) && !puts.has(toHex(key)))
    .concat([...puts.values()]);
  for (const { key, value } of batch.appends ?? []) {
    const before = read(after, key);
    const joined = before === undefined ? value : Buffer.concat([before, value]);
    after = after.filter((entry) => compareBytes(entry.key, key) !== 0);
    after.push({ key, value: joined });
  }
  return after.sort((a, b) => compareBytes(a.key, b.key));
}

function keysOf(model: readonly Entry[]): readonly Entry[] {
  return model.map(({ key }) => ({ key, value: new Uint8Array(0) }));
}

function scan(model: readonly Entry[], range: KeyRange, options: ScanOptions): ScanPage {
  const found = model
    .filter(({ key }) => isWithin(range, key))
    .flatMap(({ key, value }) => {
      if (options.dereference === undefined) return [{ key, value }];
      const target = follow(model, { key, value }, options.dereference);
      return target === undefined ? [] : [{ key, value: target }];
    });
  if (options.reverse === true) found.reverse();
  const entries: Entry[] = [];
  let size = 0;
  for (const entry of found) {
    if (entries.length === options.limit || size >= options.bytesMax) break;
    entries.push(entry);
    size += entry.key.length + entry.value.length;
  }
  return { entries, more: entries.length < found.length };
}

function follow(model: readonly Entry[], { key, value }: Entry, prefix: number): Bytes | undefined {
  return key[0] === INTEGER_KEY_PREFIX ? undefined : read(model, Uint8Array.of(prefix, ...value));
}

function read(model: readonly Entry[], key: Bytes): Bytes | undefined {
  return model.find((entry) => compareBytes(entry.key, key) === 0)?.value;
}

function isWithin({ start, end }: KeyRange, key: Bytes): boolean {
  return compareBytes(key, start) >= 0 && (end === undefined || compareBytes(key, end) < 0);
}

/** An integer key, or one to three bytes of a small alphabet with both extremes. */
function randomKey(random: Random): Bytes {
  if (random.below(3) === 0) return Uint8Array.of(INTEGER_KEY_PREFIX, ...randomInteger(random));
  return randomBytes(random, 1 + random.below(3));
}

/** Short, so that values often are pointers to keys; sometimes longer than a page. */
function randomValue(random: Random): Bytes {
  if (random.below(20) === 0) return new Uint8Array(random.below(20_000)).fill(random.below(256));
  if (random.below(3) === 0) return randomInteger(random);
  // Sometimes half an integer: two of them appended to each other are one.
  return randomBytes(random, random.below(random.below(6) === 0 ? 5 : 3));
}

/** One of the integers 0 to 3, or of 2^32 and the three after it. */
function randomInteger(random: Random): Bytes {
  return Uint8Array.of(0, 0, 0, random.below(2), 0, 0, 0, random.below(4));
}

function randomRange(random: Random): KeyRange {
  const start = random.below(2) === 0 ? randomKey(random) : randomBytes(random, random.below(3));
  return { start, end: random.below(4) === 0 ? undefined : randomKey(random) };
}

function randomBytes(random: Random, length: number): Bytes {
  const alphabet = [0, 1, 2, 0x7f, 0xff];
  return Uint8Array.from({ length }, () => alphabet[random.below(alphabet.length)] as number);
}

function show({ key, value }: Entry): string {
  return `${toHex(key)}=${toHex(value)}`;
}
