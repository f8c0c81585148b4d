// Goal: a process killed at any step of a split or merge loses nothing acknowledged and leaves no half-made partition.
// Method: writers with ledgers against a child that kills itself at the named step; then what it stored is read without it.
import { type ChildProcess, spawn } from 'node:child_process';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { seededRandom } from '../../src/base/index.ts';
import { storeName } from '../../src/cluster/index.ts';
import { send } from '../server/wire.ts';
import { isShort, newStorage, openStored, type StorageFlags } from './storage.ts';
import { Writer } from './writer.ts';

const WRITERS = 6;
/** A child that never comes to its step ends otherwise, and the test says so. */
const DEADLINE_MS = 240_000;
const WAIT = { timeout: DEADLINE_MS, interval: 10 };
const SEED = Number(process.env.MESOCOSM_SEED ?? 5);
const root = fileURLToPath(new URL('../..', import.meta.url));

const SPLITS: readonly (readonly [string, number])[] = [
  ['copy', 2],
  ['catchUp', 1],
  ['fence', 2],
  ['finish', 1],
  ['commit', 2],
  ['done', 1],
  ['done', 3],
];
const MERGES = ['copy', 'catchUp', 'fence', 'finish', 'commit', 'done'];

test.each(isShort ? SPLITS.slice(4, 6) : SPLITS)('killed at %s, time %d', async (step, at) => {
  const storage = newStorage();
  const writers = Array.from(
    { length: WRITERS },
    (_, number) => new Writer(`w${number}`, ['small'], seededRandom(SEED + number)),
  );
  await writeUntilKilled(storage, { step, at }, writers);
  await check(storage, writers, step === 'done' ? at : 0);
});

// The split that makes two partitions to merge comes to every step once.
test.each(isShort ? MERGES.slice(4, 5) : MERGES)('a merge killed at %s', async (step) => {
  const storage = newStorage();
  const writers = Array.from(
    { length: WRITERS },
    (_, number) => new Writer(`w${number}`, ['small'], seededRandom(SEED + number)),
  );
  const killPoint = { step, at: 2, storageLimit: '1g' };
  await writeUntilKilled(storage, killPoint, writers, async (port) => {
    await vi.waitUntil(() => writers.every(({ acknowledged }) => acknowledged > 20), WAIT);
    expect((await resize(port, 'split', { partition: '0' })).status).toBe(200);
    // The request ends with the process.
    await resize(port, 'merge', { partitions: ['1', '2'] }).catch(() => undefined);
  });
  await check(storage, writers, 0);
});

async function resize(port: number, verb: 'split' | 'merge', what: object) {
  const agent = new Agent();
  try {
    const body = JSON.stringify({ db: 'd', container: 'small', ...what });
    return await send(port, agent, { verb: 'POST', path: ['_mesocosm', verb], body });
  } finally {
    agent.destroy();
  }
}

interface KillPoint {
  readonly step: string;
  readonly at: number;
  readonly storageLimit?: string;
}

async function writeUntilKilled(
  storage: StorageFlags,
  killPoint: KillPoint,
  writers: readonly Writer[],
  meanwhile: (port: number) => Promise<void> = async () => undefined,
): Promise<void> {
  const { child, port } = await startChild(storage, killPoint);
  const exit = new Promise<NodeJS.Signals | null>((resolve) => {
    child.on('close', (_, signal) => resolve(signal));
  });
  let complaints = '';
  child.stderr?.on('data', (text) => {
    complaints += text;
  });
  const deadline = setTimeout(() => child.kill('SIGTERM'), DEADLINE_MS);
  await createContainer(port);
  const work = writers.map((writer) => writer.writeUntilBroken(port, 0));
  await meanwhile(port);
  expect(await exit).toBe('SIGKILL');
  clearTimeout(deadline);
  // No split failed on the way.
  expect(complaints).toBe('');
  await Promise.all(work);
}

async function startChild(storage: StorageFlags, { step, at, storageLimit }: KillPoint) {
  const child: ChildProcess = spawn(
    join(root, 'node_modules/node/bin/node'),
    [join(root, 'tests/crash/split-child.ts')],
    {
      env: {
        PATH: process.env.PATH ?? '',
        MESOCOSM_TEST_FLAGS: JSON.stringify(storage),
        MESOCOSM_TEST_KILL_STEP: step,
        MESOCOSM_TEST_KILL_AT: String(at),
        ...(storageLimit === undefined ? {} : { MESOCOSM_TEST_STORAGE_LIMIT: storageLimit }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.once('data', (line) => resolve(Number(line)));
    child.once('close', () => reject(new Error('the child ended before it served')));
  });
  return { child, port };
}

async function createContainer(port: number): Promise<void> {
  const agent = new Agent();
  const body = JSON.stringify({ id: 'd' });
  expect((await send(port, agent, { verb: 'POST', path: ['dbs'], body })).status).toBe(201);
  const { status } = await send(port, agent, {
    verb: 'POST',
    path: ['dbs', 'd', 'colls'],
    headers: { 'x-ms-offer-throughput': '1000' },
    body: JSON.stringify({ id: 'small', partitionKey: { paths: ['/pk'], kind: 'Hash' } }),
  });
  expect(status).toBe(201);
  agent.destroy();
}

async function check(
  storage: StorageFlags,
  writers: readonly Writer[],
  splitsMin: number,
): Promise<void> {
  const { service, engine, close } = await openStored(storage);
  try {
    const database = service.databases.find('d');
    const container = database && service.containers.find(database, 'small');
    if (container === undefined) throw new Error('the container is gone');
    const { partitions } = container;
    expect(partitions.length).toBeGreaterThan(splitsMin);
    expect(partitions[0]?.min).toBe('');
    partitions.forEach(({ max }, at) => {
      expect(max).toBe(partitions[at + 1]?.min ?? 'FF');
    });
    const found = new Map<string, unknown>();
    let count = 0;
    for (const { id } of partitions) {
      const scope = { kind: 'partition', id } as const;
      const options = { limit: 10_000, bytesMax: 1e9, continuation: undefined };
      const page = await service.items.feed(container, {
        scope,
        sessionToken: undefined,
        ...options,
      });
      expect(page.continuation).toBeUndefined();
      for (const { body } of page.items) {
        const { id, pk, version, text } = JSON.parse(Buffer.from(body).toString());
        found.set(id, { id, pk, version, text });
        count++;
      }
    }
    expect(found.size).toBe(count);
    checkLedgers(writers, found);
    const expected = partitions.map(({ id }) => storeName(container, id)).sort();
    const stores = (await engine.list()).filter((name) => name.includes('/'));
    expect(stores).toEqual(expected);
  } finally {
    await close();
  }
}

function checkLedgers(writers: readonly Writer[], found: Map<string, unknown>): void {
  let acknowledged = 0;
  for (const writer of writers) {
    acknowledged += writer.acknowledged;
    for (const [id, { acknowledged, pending }] of writer.ledger) {
      const states = pending === undefined ? [acknowledged] : [acknowledged, pending ?? undefined];
      expect(states, id).toContainEqual(found.get(id));
      found.delete(id);
    }
  }
  expect([...found.keys()]).toEqual([]);
  expect(acknowledged).toBeGreaterThan(10);
}
