// Goal: a move commits exactly what the sources held, holds callers during the cut-over only, and is given up with
// everything as it was where a target is not equal to its sources. Method: partitions in memory, one of them sabotaged.
import { describe, expect, test } from 'vitest';
import { bytesToText, textToBytes } from '../../base/index.ts';
import { asyncEngine } from '../../engine/async-engine.ts';
import type { Store } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import {
  commandOf,
  ITEM_FLAGS,
  type ItemKey,
  type Partition,
  updateOf,
} from '../../partition/index.ts';
import { EPK_MAX, EPK_MIN } from '../../value/index.ts';
import { HANDLE_OPTIONS, keyOf, openForTest, put, UNIQUE_TEXTS } from '../test-kit.ts';
import { type MoveStep, move } from './move.ts';

const WHOLE = { min: EPK_MIN, max: EPK_MAX };
/** More than one page of the copy. */
const ITEM_COUNT = 150;

async function setUp(
  engine = memoryEngine(),
  { before, after } = { before: HANDLE_OPTIONS.indexing, after: HANDLE_OPTIONS.indexing },
) {
  const source = await openForTest(await engine.open('c/0'), before);
  const store = await engine.open('c/1');
  const target = await openForTest(store, after);
  for (let at = 0; at < ITEM_COUNT; at++)
    await put(source, 'create', keyOf(`key ${at}`, 'id'), `text ${at}`);
  const events: string[] = [];
  const run = (
    onStep: (step: MoveStep) => void | Promise<void> = () => undefined,
    signal = new AbortController().signal,
  ) =>
    move({
      sources: [source],
      sourceRanges: [WHOLE],
      targets: [{ partition: target, ...WHOLE }],
      holdCallers: () => {
        events.push('hold');
        return () => events.push('release');
      },
      commit: async () => {
        events.push('commit');
      },
      onStep: async (step) => {
        events.push(`step ${step}`);
        await onStep(step);
      },
      signal,
    });
  return { source, target, store, events, run };
}

/** The target ignores what is caught up for this key. */
function loseChange(target: Partition, lost: string): void {
  const importAll = target.imports.items.bind(target.imports);
  target.imports.items = (states, upTo) =>
    importAll(
      states.filter(({ key }) => key.text !== lost),
      upTo,
    );
}

/** The target ignores what is copied for this key. */
function loseItem(target: Partition, lost: string): void {
  const copyAll = target.imports.copy.bind(target.imports);
  target.imports.copy = (states) => copyAll(states.filter(({ key }) => key.text !== lost));
}

test('callers are held from before the fence to after the commit', async () => {
  const { source, target, events, run } = await setUp();
  await run();
  expect(events).toEqual([
    'step copy',
    'step catchUp',
    'hold',
    'step fence',
    'step finish',
    'step commit',
    'commit',
    'release',
    'step done',
  ]);
  expect(target.statistics()).toMatchObject({
    itemCount: ITEM_COUNT,
    itemBytes: source.statistics().itemBytes,
    checksum: source.statistics().checksum,
  });
  await expect(put(source, 'create', keyOf('late', 'id'), 'late')).rejects.toMatchObject({
    code: 'partitionGone',
  });
});

test('shadows, headers and notes move with the items, those written meanwhile too', async () => {
  const { source, target, run } = await setUp();
  const owner = textToBytes('owner');
  const internal = (name: string, flags: number) =>
    source.write(
      updateOf({
        kind: 'upsert',
        key: keyOf(name, 'internal'),
        encoding: 'json',
        body: textToBytes(name),
        ttlSec: 0,
        flags,
        note: { owner, bytes: textToBytes(`note of ${name}`), expiresAtSec: 10_000_000_000 / 4 },
      }).command,
    );
  await internal('before', ITEM_FLAGS.shadow);
  await run(async (step) => {
    if (step === 'copy' || step === 'catchUp' || step === 'fence')
      await internal(step, ITEM_FLAGS.header);
  });
  expect(target.statistics()).toEqual(source.statistics());
  expect(target.statistics().itemCount).toBe(ITEM_COUNT);
  for (const name of ['before', 'copy', 'catchUp', 'fence']) {
    const key = keyOf(name, 'internal');
    expect(await target.read(key)).toBe(undefined);
    expect((await target.stored.read(key))?.isInternal).toBe(true);
    const note = await target.notes.read(key.epk, owner);
    expect(note && bytesToText(note)).toBe(`note of ${name}`);
  }
});

test('writes during each step before the fence are in the target', async () => {
  const { source, target, run } = await setUp();
  await run(async (step) => {
    if (step === 'copy' || step === 'catchUp' || step === 'fence')
      await put(source, 'create', keyOf(`during ${step}`, 'id'), step);
  });
  expect(target.statistics().itemCount).toBe(ITEM_COUNT + 3);
  expect(target.lsn).toBe(source.lsn);
});

async function indexOf(partition: Partition): Promise<readonly string[]> {
  const reader = await partition.reader();
  const range = { start: Uint8Array.of(0x20), end: Uint8Array.of(0x22) };
  const page = await reader.scanIndex(range, { limit: 100_000, bytesMax: 1e9 });
  reader.release();
  return [...page.entries].map(hexOf).toSorted();
}

function hexOf(entry: string): string {
  return Buffer.from(entry, 'latin1').toString('hex');
}

test('a crash right after a move loses no index entry', async () => {
  const engine = memoryEngine();
  const { source, store, run } = await setUp(engine);
  await run(async (step) => {
    if (step !== 'catchUp') return;
    await put(source, 'create', keyOf('new', 'id'), 'new');
    await put(source, 'replace', keyOf('key 17', 'id'), 'another');
  });
  await store.close();
  const again = await openForTest(await engine.open('c/1'));
  expect(await indexOf(again)).toEqual(await indexOf(source));
  expect((await indexOf(again)).length).toBe(2 * (ITEM_COUNT + 1));
});

test('items are copied in the order of their rids, and those that come meanwhile are caught up', async () => {
  const { source, target, run } = await setUp();
  const copied: number[] = [];
  const copyAll = target.imports.copy.bind(target.imports);
  target.imports.copy = async (states) => {
    for (const { item } of states) copied.push(item?.rid as number);
    await put(source, 'create', keyOf(`during ${copied.length}`, 'id'), 'x');
    await copyAll(states);
  };
  await run();
  expect(copied.length).toBe(ITEM_COUNT);
  expect(copied).toEqual(copied.toSorted((a, b) => a - b));
  expect(target.statistics()).toEqual(source.statistics());
});

test('a lost item is found before the commit, and the source takes writes again', async () => {
  const { source, target, events, run } = await setUp();
  loseItem(target, keyOf('key 17', 'id').text);
  await expect(run()).rejects.toThrow(/move: 150 items, .* became 149 items/);
  expect(events).not.toContain('commit');
  expect(events.at(-1)).toBe('release');
  await put(source, 'create', keyOf('late', 'id'), 'late');
  expect(source.statistics().itemCount).toBe(ITEM_COUNT + 1);
});

test('an item of the same size that is out of date is found before the commit', async () => {
  const { source, target, events, run } = await setUp();
  const key = keyOf('key 17', 'id');
  const moving = run(async (step) => {
    if (step !== 'catchUp') return;
    loseChange(target, key.text);
    await put(source, 'replace', key, 'TEXT 17');
  });
  await expect(moving).rejects.toThrow(/move: (150 items, \d+ bytes), .* became \1/);
  expect(events).not.toContain('commit');
});

test('a move that fails in the cut-over lets callers and writers go on', async () => {
  const { source, events, run } = await setUp();
  const failing = run((step) => {
    if (step === 'finish') throw new Error('stopped by the test');
  });
  await expect(failing).rejects.toThrow('stopped by the test');
  expect(events.at(-1)).toBe('release');
  await put(source, 'create', keyOf('late', 'id'), 'late');
});

/** More than a move may let pass. On the late engine of the test a mover without brakes never ends. */
const WRITES_MAX = 50_000;

/** Writers that never wait for anything but their own writes, until the move is over. */
function writeWithoutEnd(source: Partition, keyAt: (count: number) => ItemKey) {
  let [count, isOver] = [0, false];
  const write = async (): Promise<void> => {
    while (!isOver && count < WRITES_MAX) {
      const key = keyAt(count++);
      const body = textToBytes('"x"');
      const command = commandOf({ kind: 'upsert', key, encoding: 'json', body, ttlSec: 0 });
      try {
        await source.write(command);
      } catch (error) {
        expect(error).toMatchObject({ code: 'partitionGone' });
        return;
      }
    }
  };
  const writers = Promise.all(Array.from({ length: 100 }, write));
  return async (moving: Promise<void>): Promise<number> => {
    await moving;
    isOver = true;
    await writers;
    return count;
  };
}

test.each([
  ['the same items', (count: number) => keyOf(`key ${count % 1000}`, 'id')],
  ['new items in the order of their keys', (count: number) => keyOf('~', `id ${1e6 + count}`)],
])('a move ends although writers of %s are faster than its mover', async (_, keyAt) => {
  const { source, target, run } = await setUp(asyncEngine(memoryEngine()));
  const untilMoved = writeWithoutEnd(source, keyAt);
  const count = await untilMoved(run());
  expect(count).toBeLessThan(WRITES_MAX);
  expect(target.statistics()).toEqual(source.statistics());
});

test('a move that is given up while its writers are braked lets them go on', async () => {
  const { source, run } = await setUp(asyncEngine(memoryEngine()));
  const stop = new AbortController();
  const putOn = source.brake.put.bind(source.brake);
  source.brake.put = () => {
    stop.abort(new Error('given up'));
    putOn();
  };
  const untilMoved = writeWithoutEnd(source, (count) => keyOf(`key ${count % 1000}`, 'id'));
  const moving = expect(run(() => undefined, stop.signal)).rejects.toThrow('given up');
  await untilMoved(moving);
  await put(source, 'create', keyOf('late', 'id'), 'late');
});

const UNIQUE = { before: UNIQUE_TEXTS, after: UNIQUE_TEXTS };

test('a unique value that goes from one item to another while they are copied is not free afterwards', async () => {
  const { source, target, run } = await setUp(memoryEngine(), UNIQUE);
  await put(source, 'create', keyOf('one', 'first'), 'taken');
  for (let at = 0; at < 1000; at++) await put(source, 'create', keyOf(`later ${at}`, 'id'), 'x');
  await put(source, 'create', keyOf('one', 'last'), 'free');
  const copyAll = target.imports.copy.bind(target.imports);
  target.imports.copy = async (states) => {
    const isFirst = states.some(({ key }) => key.text === keyOf('one', 'first').text);
    await copyAll(states);
    if (!isFirst) return;
    await put(source, 'replace', keyOf('one', 'first'), 'other');
    await put(source, 'replace', keyOf('one', 'last'), 'taken');
  };
  await run();
  const refused = { code: 'uniqueKeyViolation' };
  const again = put(target, 'create', keyOf('one', 'new'), 'taken');
  await expect(again).rejects.toMatchObject(refused);
});

describe('a unique index that is being built when its partition is moved', () => {
  const settled = async ({ indexes }: Partition): Promise<boolean> => {
    const isOpen = () =>
      indexes.builds().some(({ percent, isFailed }) => percent < 100 && !isFailed);
    for (let round = 0; round < 10_000 && isOpen(); round++)
      await new Promise((resolve) => setImmediate(resolve));
    return indexes.builds().every(({ percent }) => percent === 100);
  };
  const moved = async (text: string): Promise<{ target: Partition; atCommit: Store }> => {
    const own = { before: HANDLE_OPTIONS.indexing, after: UNIQUE_TEXTS };
    const { source, target, store, run } = await setUp(memoryEngine(), own);
    const atCommit = await memoryEngine().open('copy');
    await put(source, 'create', keyOf('key 0', 'other'), text);
    await put(source, 'create', keyOf('key 0', 'late'), 'late');
    await run(async (step) => {
      if (step === 'fence') source.changeIndexing(UNIQUE_TEXTS);
      if (step !== 'commit') return;
      const all = { start: Uint8Array.of(0), end: undefined };
      const { entries } = await store.scan(all, { limit: 100_000, bytesMax: 1e9 });
      await atCommit.commit({ puts: entries });
    });
    return { target, atCommit };
  };

  test('is not taken for complete: items that violate it are found', async () => {
    const { target } = await moved('text 0');
    expect(await settled(target)).toBe(false);
    expect(target.indexes.builds()).toEqual([{ id: 1, percent: 0, isFailed: true }]);
  });

  test('is built there, and refuses what violates it', async () => {
    const { target } = await moved('another');
    expect(await settled(target)).toBe(true);
    for (const text of ['text 0', 'another', 'late']) {
      const again = put(target, 'create', keyOf('key 0', 'new'), text);
      await expect(again).rejects.toMatchObject({ code: 'uniqueKeyViolation' });
    }
  });

  test('is built also where the server ends right after the move', async () => {
    const { atCommit } = await moved('text 0');
    expect(await settled(await openForTest(atCommit, UNIQUE_TEXTS))).toBe(false);
  });
});
