// Goal: a reader that keeps its position misses nothing and sees every key's writes in order, whatever splits and merges.
// Method: seeded histories of writes, splits and merges, read in pages of random size in between, against a model.
import { afterEach, describe, expect, test } from 'vitest';
import {
  bytesToText,
  FakeClock,
  PAGE_BYTES_MAX,
  seededRandom,
  textToBytes,
} from '../../base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../catalog/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import type { FeedChange, FeedMode } from '../../partition/index.ts';
import { DEFAULT_SETTINGS } from '../index.ts';
import type { FeedScope } from '../items/scope-range.ts';
import { openService, type Service } from '../service.ts';
import type { ChangeFeedPosition, ChangeFeedStart } from './change-feed.ts';
import { parseChangePosition, printChangePosition } from './change-feed-token.ts';

const clock = new FakeClock(1_700_000_000_000);
let service: Service;
let container: ContainerRecord;

afterEach(() => service.close());

async function open(): Promise<void> {
  service = await openService({
    engine: memoryEngine(),
    clock,
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [],
  });
  const { rid } = await service.databases.create('d', undefined);
  container = await service.containers.create(rid, {
    id: 'c',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home: 'nosql',
    indexingPolicy: normalizeIndexingPolicy({ indexingMode: 'none', automatic: false }),
    uniqueKeys: [],
    policies: {},
    versionRetentionSec: 3600,
    throughput: { kind: 'manual', requestUnits: 1000 },
  });
}

function current(): ContainerRecord {
  const { databaseRid, rid } = container;
  const found = service.containers.findByRid(databaseRid, rid);
  if (found === undefined) throw new Error('no container');
  return found;
}

async function write(pk: string, id: string, text: string): Promise<void> {
  const body = textToBytes(JSON.stringify({ id, pk, text }));
  await service.items.write(current(), {
    kind: 'upsert',
    partitionKey: [pk],
    rowKey: [id],
    body,
    ttlSec: 0,
  });
}

function remove(pk: string, id: string) {
  return service.items.write(current(), { kind: 'delete', partitionKey: [pk], rowKey: [id] });
}

/** Reads until there is nothing left; the position goes through its text each time. */
async function drain(
  mode: FeedMode,
  start: ChangeFeedStart,
  { limit = 100, scope = { kind: 'container' } }: { limit?: number; scope?: FeedScope } = {},
): Promise<{ readonly changes: FeedChange[]; readonly position: ChangeFeedPosition }> {
  const changes: FeedChange[] = [];
  let from = start;
  for (;;) {
    const page = await service.changeFeed.read(current(), {
      scope,
      mode,
      start: from,
      limit,
      bytesMax: PAGE_BYTES_MAX,
    });
    changes.push(...page.changes);
    const position = parseChangePosition(printChangePosition(page.position));
    if (!page.more) return { changes, position };
    from = { kind: 'position', position };
  }
}

function textOf(change: FeedChange): string {
  if (change.kind === 'deletion') return 'deleted';
  const item = change.kind === 'write' ? change.item : change.version.item;
  const { id, pk, text } = JSON.parse(bytesToText(item.body));
  const kind = change.kind === 'version' ? change.version.kind : 'write';
  return `${pk}/${id} ${kind} ${text}`;
}

async function splitOrMerge(below: (n: number) => number): Promise<void> {
  const { partitions } = current();
  const at = below(partitions.length);
  const id = partitions[at]?.id as string;
  const next = partitions[at + 1]?.id;
  const isMerge = next !== undefined && (partitions.length > 5 || below(3) === 0);
  await (isMerge
    ? service.resizer.merge(container, [id, next])
    : service.resizer.split(container, id, 'anywhere'));
}

const SEED = Number(process.env.SEED ?? 20261115);

describe.each([SEED, SEED + 1, SEED + 2])('a reader that keeps its position (seed %i)', (seed) => {
  test('sees every version once and in order, and the latest state, over splits and merges', async () => {
    await open();
    const random = seededRandom(seed);
    const history = new Map<string, string[]>();
    const latest = new Map<string, string>();
    const seen = new Map<string, string[]>();
    const copy = new Map<string, string>();
    let all = (await drain('all', { kind: 'now' })).position;
    let newest: ChangeFeedStart = { kind: 'beginning' };
    const catchUp = async (): Promise<void> => {
      const limit = 1 + random.below(10);
      const versions = await drain('all', { kind: 'position', position: all }, { limit });
      all = versions.position;
      for (const text of versions.changes.map(textOf)) {
        const [name = '', kind, value] = text.split(' ');
        seen.set(name, [...(seen.get(name) ?? []), `${kind} ${value}`]);
      }
      const { changes, position } = await drain('latest', newest, { limit });
      newest = { kind: 'position', position };
      for (const text of changes.map(textOf)) {
        const [name = '', , value = ''] = text.split(' ');
        copy.set(name, value);
      }
    };
    for (let step = 0; step < 150; step++) {
      const pk = `k${random.below(12)}`;
      const id = `${random.below(4)}`;
      const name = `${pk}/${id}`;
      const past = history.get(name) ?? [];
      if (random.below(5) === 0 && latest.has(name)) {
        await remove(pk, id);
        history.set(name, [...past, `delete ${latest.get(name)}`]);
        latest.delete(name);
      } else {
        await write(pk, id, `v${step}`);
        history.set(name, [...past, `${latest.has(name) ? 'replace' : 'create'} v${step}`]);
        latest.set(name, `v${step}`);
      }
      if (random.below(9) === 0) await splitOrMerge((n) => random.below(n));
      if (random.below(6) === 0) await catchUp();
    }
    await catchUp();
    expect(service.resizer.log.totals.merge.done).toBeGreaterThan(0);
    expect(service.resizer.log.totals.split.done).toBeGreaterThan(2);
    expect(seen).toEqual(history);
    for (const [name, value] of latest) expect(copy.get(name), name).toBe(value);
    const again = await drain('latest', { kind: 'beginning' }, { limit: 7 });
    expect(
      new Map(again.changes.map(textOf).map((text) => text.split(' write ') as [string, string])),
    ).toEqual(latest);
  });
});

test('deletions survive a split and a merge', async () => {
  await open();
  for (let n = 0; n < 20; n++) await write(`k${n}`, 'i', 'v');
  const { position } = await drain('latestAndDeleted', { kind: 'beginning' });
  for (let n = 0; n < 20; n += 2) await remove(`k${n}`, 'i');
  await service.resizer.split(container, '0');
  await service.resizer.merge(container, ['1', '2']);
  const { changes } = await drain('latestAndDeleted', { kind: 'position', position });
  expect(changes.map(({ kind }) => kind)).toEqual(Array(10).fill('deletion'));
});

test('a time before a merge finds the writes of all that were merged', async () => {
  await open();
  await service.resizer.split(container, '0', 'anywhere');
  for (let n = 0; n < 30; n++) {
    await write(`k${n % 10}`, `${n}`, `v${n}`);
    clock.advance(60_000);
  }
  const sinceSec = Math.floor(clock.nowMs() / 1000) - 15 * 60;
  const idsSince = async () => {
    const { changes } = await drain('latest', { kind: 'time', sinceSec }, { limit: 3 });
    return changes.map((change) => Number(textOf(change).split('v')[1])).sort((a, b) => a - b);
  };
  const expected = Array.from({ length: 15 }, (_, n) => n + 15);
  expect(await idsSince()).toEqual(expected);
  await service.resizer.merge(container, ['1', '2']);
  expect(await idsSince()).toEqual(expected);
});

test('one key, one range, that of a parent as well; an id that never was is gone; a position from elsewhere is refused', async () => {
  await open();
  for (let n = 0; n < 6; n++) await write(`k${n % 2}`, `${n}`, `v${n}`);
  const ofKey: FeedScope = { kind: 'partitionKey', values: ['k1'] };
  const texts = async (scope: FeedScope) =>
    (await drain('latest', { kind: 'beginning' }, { scope })).changes.map(textOf);
  expect(await texts(ofKey)).toEqual(['k1/1 write v1', 'k1/3 write v3', 'k1/5 write v5']);
  await service.resizer.split(container, '0');
  expect(await texts({ kind: 'partition', id: '0' })).toHaveLength(6);
  await expect(texts({ kind: 'partition', id: '7' })).rejects.toMatchObject({
    code: 'partitionGone',
  });
  expect(await texts(ofKey)).toHaveLength(3);
  const both = [
    ...(await texts({ kind: 'partition', id: '1' })),
    ...(await texts({ kind: 'partition', id: '2' })),
  ];
  expect(both).toHaveLength(6);
  const future = parseChangePosition(
    printChangePosition([
      { min: new Uint8Array(0), max: Uint8Array.of(0xff), start: { kind: 'after', lsn: 1000 } },
    ]),
  );
  const reading = drain('latest', { kind: 'position', position: future });
  await expect(reading).rejects.toMatchObject({ code: 'invalidInput' });
  for (const text of ['', 'x', 'e30', Buffer.from('{"v":1,"parts":[[1,2]]}').toString('base64url')])
    expect(() => parseChangePosition(text)).toThrow('Invalid Continuation Token');
});

test('an idle poll reads nothing and costs the least', async () => {
  await open();
  await write('k', 'i', 'v');
  const { position } = await drain('latest', { kind: 'beginning' });
  const page = await service.changeFeed.read(current(), {
    scope: { kind: 'container' },
    mode: 'latest',
    start: { kind: 'position', position },
    limit: 10,
    bytesMax: PAGE_BYTES_MAX,
  });
  expect(page).toMatchObject({ changes: [], more: false, charge: 1, lsn: 1, position });
});
