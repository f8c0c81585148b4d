// Goal: kill -9 at any time loses no acknowledged write and leaves none half done; a restart is quick.
// Method: 20 rounds of writers with ledgers against the built server with 100,000 items; the seed is in the test's name.
import { Agent } from 'node:http';
import { expect, test, vi } from 'vitest';
import { itemId, partitionKeyOf } from '../../bench/load/item.ts';
import { seed } from '../../bench/seed.ts';
import { seededRandom } from '../../src/base/index.ts';
import { ChildServer, killWhileStarting } from '../server/child-server.ts';
import { send } from '../server/wire.ts';
import { checkFiles } from './check-files.ts';
import { isOnPostgres, isShort, newStorage, openStored, type StorageFlags } from './storage.ts';
import { type Content, itemRequest, type LedgerEntry, Writer } from './writer.ts';

const ROUNDS = isShort ? 3 : 20;
const WRITERS = 8;
const SEEDED_ITEMS = isShort ? 1000 : 100_000;
const RESTART_MS_MAX = 2000;
/** A round is killed after 20 to 420 ms of load. */
const LOAD_MS_MIN = 20;
const LOAD_MS_SPREAD = 400;
const WRITES_MIN = 10;
/** A slow machine gets the time for so many writes in each round. */
const WAIT = { timeout: 200_000, interval: 5 };
/** About what a start takes. */
const START_MS = 400;

const SEED = Number(process.env.MESOCOSM_SEED ?? Date.now() % 1_000_000);

test(`${ROUNDS} times kill -9 under load (MESOCOSM_SEED=${SEED})`, async () => {
  const random = seededRandom(SEED);
  const storage = newStorage();
  await prepare(storage);
  const writers = Array.from(
    { length: WRITERS },
    (_, number) => new Writer(`w${number}`, ['big', 'small'], seededRandom(SEED + number + 1)),
  );
  const restartsMs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Recovery itself is killed now and then.
    if (round % 4 === 3) await killWhileStarting(storage, random.below(START_MS));
    const startedMs = performance.now();
    await using server = await ChildServer.start(storage);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    await readSeededItem(server.port, agent, random.below(SEEDED_ITEMS));
    restartsMs.push(performance.now() - startedMs);
    if (round === 0) await createSmallContainer(server.port, agent);
    await Promise.all(writers.map((writer) => completeLedger(server.port, agent, writer, round)));
    await checkCounts(server.port, agent, writers);
    agent.destroy();
    const goal = totalOf(writers) + WRITES_MIN;
    const work = writers.map((writer) => writer.writeUntilBroken(server.port, round));
    await delay(LOAD_MS_MIN + random.below(LOAD_MS_SPREAD));
    await vi.waitUntil(() => totalOf(writers) >= goal, WAIT);
    expect(await server.stop('SIGKILL')).toMatchObject({ code: null, signal: 'SIGKILL' });
    await Promise.all(work);
  }
  const acknowledged = totalOf(writers);
  await checkFiles(storage, writers, SEEDED_ITEMS);
  console.log(
    `${acknowledged} writes acknowledged over ${ROUNDS} kills; restart to first read at most ${Math.round(Math.max(...restartsMs))} ms`,
  );
  expect(acknowledged).toBeGreaterThanOrEqual(ROUNDS * WRITES_MIN);
  // Half of them, and in the long run only: other work on the machine may slow them. A server of PostgreSQL takes longer.
  if (process.env.MESOCOSM_LONG === undefined || isOnPostgres) return;
  expect(restartsMs.sort((a, b) => a - b)[ROUNDS / 2]).toBeLessThan(RESTART_MS_MAX);
});

async function prepare(storage: StorageFlags): Promise<void> {
  const open = await openStored(storage);
  await seed(open.service, { database: 'd', container: 'big' }, SEEDED_ITEMS);
  await open.close();
}

/** Two partitions, so that some files are written and others not when the kill comes. */
async function createSmallContainer(port: number, agent: Agent): Promise<void> {
  const { status } = await send(port, agent, {
    verb: 'POST',
    path: ['dbs', 'd', 'colls'],
    headers: { 'x-ms-offer-throughput': '20000' },
    body: JSON.stringify({ id: 'small', partitionKey: { paths: ['/pk'], kind: 'Hash' } }),
  });
  expect(status).toBe(201);
}

async function readSeededItem(port: number, agent: Agent, number: number): Promise<void> {
  const id = itemId(number);
  const { status, body } = await send(
    port,
    agent,
    itemRequest('big', { id, pk: partitionKeyOf(number) }),
  );
  expect(status).toBe(200);
  expect(JSON.parse(body)).toMatchObject({ id, owner: { name: 'Ada' } });
}

/** Compares the items of the last round with the ledger, and completes the ledger for writes that were open. */
async function completeLedger(
  port: number,
  agent: Agent,
  writer: Writer,
  round: number,
): Promise<void> {
  for (const [id, entry] of writer.ledger) {
    if (entry.round !== round - 1) continue;
    const { pk } = entry.acknowledged ?? entry.pending ?? entry.last;
    const { status, body } = await send(port, agent, itemRequest(entry.container, { id, pk }));
    expect([200, 404]).toContain(status);
    const found = status === 200 ? contentOf(body) : undefined;
    expect(possibleStates(entry), `${entry.container}/${id} after round ${round}`).toContainEqual(
      found,
    );
    entry.acknowledged = found;
    entry.pending = undefined;
  }
}

/** The acknowledged value; where a write was open, its value is allowed as well. */
function possibleStates({ acknowledged, pending }: LedgerEntry): readonly unknown[] {
  return pending === undefined ? [acknowledged] : [acknowledged, pending ?? undefined];
}

function contentOf(body: string): Content {
  const { id, pk, version, text } = JSON.parse(body);
  return { id, pk, version, text };
}

/** The counters of the partitions add up to what is there. */
async function checkCounts(port: number, agent: Agent, writers: readonly Writer[]): Promise<void> {
  for (const container of ['big', 'small']) {
    const { body } = await send(
      port,
      agent,
      { verb: 'GET', path: ['_mesocosm', 'partitions'] },
      `?db=d&container=${container}`,
    );
    const counts: { items: number }[] = JSON.parse(body).partitions;
    const counted = counts.reduce((sum, { items }) => sum + items, 0);
    const live = writers.flatMap(({ ledger }) =>
      [...ledger.values()].filter((entry) => entry.container === container && entry.acknowledged),
    );
    expect(counted).toBe(live.length + (container === 'big' ? SEEDED_ITEMS : 0));
  }
}

function totalOf(writers: readonly Writer[]): number {
  return writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
