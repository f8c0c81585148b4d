// Goal: the change feed of a partition gives every change once, in order, in whole LSNs, and only what it keeps.
// Method: writes and transactions on memory and sqlite, read in pages of every size; a fake clock.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type DomainError, FakeClock, textToBytes } from '../../base/index.ts';
import type { Engine } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { sqliteEngine } from '../../engine/sqlite/index.ts';
import type { Lsn } from '../item/item.ts';
import type { Partition } from '../partition.ts';
import { KEYS_FOR_TEST, keyOf, openForTest, put, remove, textOf } from '../test-kit.ts';
import type { FeedChange, FeedMode, FeedRead } from './feed.ts';

const directory = mkdtempSync(join(tmpdir(), 'mesocosm-feed-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let number = 0;

const engines: readonly [string, () => Engine][] = [
  ['memory', () => memoryEngine()],
  ['sqlite', () => sqliteEngine({ directory: join(directory, `${number++}`) })],
];

function show(change: FeedChange): string {
  switch (change.kind) {
    case 'write':
      return `${change.lsn} ${textOf(change.item)}`;
    case 'deletion':
      return `${change.lsn} -${change.rid % 2 ** 40}`;
    case 'version':
      return `${change.lsn} ${change.version.kind} ${textOf(change.version.item)} <${change.version.previousLsn}`;
  }
}

async function readAll(
  partition: Partition,
  mode: FeedMode,
  more: Partial<FeedRead> = {},
): Promise<{ readonly pages: string[][]; readonly upTo: Lsn }> {
  const pages: string[][] = [];
  let after = more.after ?? 0;
  for (let isMore = true; isMore; ) {
    const read = { limit: 100, bytesMax: 1e6, within: undefined, sinceSec: undefined, ...more };
    const slice = await partition.changes.feed({ ...read, mode, after });
    if (slice.changes.length > 0) pages.push(slice.changes.map(show));
    after = slice.upTo;
    isMore = slice.more;
  }
  return { pages, upTo: after };
}

/** Several items of one key at one LSN. */
async function writeTogether(partition: Partition, partitionKey: string, ids: readonly string[]) {
  const keys = ids.map((id) => keyOf(partitionKey, id));
  await partition.write({
    keys,
    decide: () =>
      keys.map((key, at) => ({
        kind: 'put',
        key,
        encoding: 'json',
        body: textToBytes(`${ids[at]}`),
        ttlSec: 0,
      })),
  });
}

describe.each(engines)('feed on %s', (_, makeEngine) => {
  test('the latest write of every item, in order, from any position', async () => {
    const engine = makeEngine();
    const partition = await openForTest(await engine.open('p'));
    for (let n = 1; n <= 5; n++)
      await put(partition, 'create', keyOf(`k${n % 2}`, `${n}`), `v${n}`);
    await put(partition, 'replace', keyOf('k0', '2'), 'w2');
    await remove(partition, keyOf('k1', '3'));
    const all = ['1 v1', '4 v4', '5 v5', '6 w2'];
    expect(await readAll(partition, 'latest')).toEqual({ pages: [all], upTo: 7 });
    const ofOne = await readAll(partition, 'latest', { limit: 1 });
    expect(ofOne.pages).toEqual(all.map((each) => [each]));
    expect((await readAll(partition, 'latest', { after: 4 })).pages).toEqual([['5 v5', '6 w2']]);
    expect(await readAll(partition, 'latest', { after: 7 })).toEqual({ pages: [], upTo: 7 });
    const within = KEYS_FOR_TEST.prefixOf(keyOf('k0', '').epk, ['k0']);
    expect(await readAll(partition, 'latest', { within, limit: 1 })).toEqual({
      pages: [['4 v4'], ['6 w2']],
      upTo: 7,
    });
    const withDeleted = await readAll(partition, 'latestAndDeleted', { limit: 2 });
    expect(withDeleted.pages.flat()).toEqual(['1 v1', '4 v4', '5 v5', '6 w2', '7 -3']);
    await partition.close();
    await engine.close();
  });

  test('one command is read in one page, however small the page', async () => {
    const engine = makeEngine();
    const partition = await openForTest(await engine.open('p'), { retentionSec: 60 });
    await put(partition, 'create', keyOf('a', 'x'), 'x');
    await writeTogether(partition, 'a', ['1', '2', '3']);
    await put(partition, 'create', keyOf('a', 'y'), 'y');
    const within = { min: new Uint8Array(0), max: Uint8Array.of(0xff) };
    const sizes = async (mode: FeedMode, more: Partial<FeedRead>) =>
      (await readAll(partition, mode, more)).pages.map((page) => page.length);
    for (const more of [{}, { within }]) {
      const { pages } = await readAll(partition, 'latest', { limit: 1, ...more });
      expect(pages).toEqual([['1 x'], ['2 1', '2 2', '2 3'], ['3 y']]);
      expect(await sizes('latest', { limit: 2, ...more })).toEqual([4, 1]);
      expect(await sizes('all', { limit: 1, ...more })).toEqual([1, 3, 1]);
    }
    // A mover whose page is smaller than one LSN must not loop for ever.
    const page = await partition.changes.after(1, 1);
    expect([page.changes.length, page.upTo, page.more]).toEqual([3, 2, true]);
    await partition.close();
    await engine.close();
  });

  test('all versions, several of one item in one commit too, over a restart', async () => {
    const engine = makeEngine();
    let partition = await openForTest(await engine.open('p'), { retentionSec: 60 });
    const key = keyOf('a', '1');
    await Promise.all([
      put(partition, 'create', key, 'v1'),
      put(partition, 'replace', key, 'v2'),
      remove(partition, key),
      put(partition, 'upsert', key, 'v3'),
    ]);
    const versions = ['1 create v1 <0', '2 replace v2 <1', '3 delete v2 <2', '4 create v3 <0'];
    expect((await readAll(partition, 'all')).pages.flat()).toEqual(versions);
    expect((await readAll(partition, 'latest')).pages.flat()).toEqual(['4 v3']);
    await partition.close();
    partition = await openForTest(await engine.open('p'), { retentionSec: 60 });
    expect((await readAll(partition, 'all', { after: 2 })).pages.flat()).toEqual(versions.slice(2));
    await partition.close();
    await engine.close();
  });

  test('versions are kept from the change of the policy on, and deleted with it', async () => {
    const engine = makeEngine();
    const store = await engine.open('p');
    const partition = await openForTest(store);
    const refused = async (after: Lsn) => {
      const reading = readAll(partition, 'all', { after });
      return reading.then(
        () => 'read',
        (error: DomainError) => error.code,
      );
    };
    await put(partition, 'create', keyOf('a', '1'), 'v1');
    expect(await refused(1)).toBe('invalidInput');
    partition.changes.retain(60);
    expect([await refused(0), await refused(1)]).toEqual(['invalidInput', 'read']);
    await put(partition, 'replace', keyOf('a', '1'), 'v2');
    expect((await readAll(partition, 'all', { after: 1 })).pages.flat()).toEqual([
      '2 replace v2 <1',
    ]);
    partition.changes.retain(0);
    await put(partition, 'replace', keyOf('a', '1'), 'v3');
    expect(await refused(2)).toBe('invalidInput');
    const left = await store.scan(
      { start: Uint8Array.of(0x31), end: Uint8Array.of(0x32) },
      { limit: 10, bytesMax: 1e6 },
    );
    expect(left.entries).toEqual([]);
    await partition.close();
    await engine.close();
  });

  test('expired versions are deleted, and a position before them is refused', async () => {
    const engine = makeEngine();
    const clock = new FakeClock(1_000_000_000);
    const partition = await openForTest(await engine.open('p'), { clock, retentionSec: 300 });
    for (let n = 1; n <= 3; n++) {
      await put(partition, 'upsert', keyOf('a', '1'), `v${n}`);
      clock.advance(200_000);
    }
    // The first write finds what has expired, the second deletes it.
    await put(partition, 'upsert', keyOf('a', '1'), 'v4');
    await put(partition, 'upsert', keyOf('a', '1'), 'v5');
    await expect(readAll(partition, 'all', { after: 1 })).rejects.toThrow('retention period');
    const kept = ['3 replace v3 <2', '4 replace v4 <3', '5 replace v5 <4'];
    expect((await readAll(partition, 'all', { after: 2 })).pages.flat()).toEqual(kept);
    await expect(
      partition.changes.before({ mode: 'all', sinceSec: 1_000_000, orderedFrom: 0 }),
    ).rejects.toThrow('retention period');
    await partition.close();
    await engine.close();
  });

  test('the LSN of a time is found by binary search', async () => {
    const engine = makeEngine();
    const clock = new FakeClock(1_000_000_000);
    const partition = await openForTest(await engine.open('p'), { clock, retentionSec: 10_000 });
    for (let n = 1; n <= 40; n++) {
      await put(partition, 'create', keyOf(`k${n % 7}`, `${n}`), `v${n}`);
      clock.advance(10_000);
    }
    const atTime = (sinceSec: number, mode: FeedMode = 'latest', orderedFrom = 0) =>
      partition.changes.before({ mode, sinceSec, orderedFrom });
    expect(await atTime(0)).toBe(0);
    expect(await atTime(1_000_000)).toBe(0);
    expect(await atTime(1_000_010)).toBe(1);
    expect(await atTime(1_000_195)).toBe(20);
    expect(await atTime(1_000_195, 'all')).toBe(20);
    expect(await atTime(1_000_390)).toBe(39);
    expect(await atTime(2_000_000)).toBe(40);
    // LSNs are ordered after a merge at 30; a time before it starts at 0.
    expect(await atTime(1_000_350, 'latest', 30)).toBe(35);
    expect(await atTime(1_000_195, 'latest', 30)).toBe(0);
    const since = await readAll(partition, 'latest', { sinceSec: 1_000_380 });
    expect(since.pages.flat()).toEqual(['39 v39', '40 v40']);
    await partition.close();
    await engine.close();
  });
});
