// Goal: writes of a procedure or a trigger are stored as a whole or not at all after kill -9, and stored if acknowledged.
// Method: rounds of procedures that give several items one number, and of writes with a trigger that counts them, cut off.
import { Agent } from 'node:http';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/base/index.ts';
import { ChildServer } from '../server/child-server.ts';
import { send, type WireRequest } from '../server/wire.ts';
import { newStorage, TIMEOUT_MS } from './storage.ts';

const ROUNDS = 8;
const ITEMS = 8;
const CLIENTS = 4;
const LOAD_MS_MIN = 150;
const LOAD_MS_SPREAD = 500;

const SEED = Number(process.env.MESOCOSM_SEED ?? Date.now() % 1_000_000);

const CONTAINER = ['dbs', 'd', 'colls', 'c'];

/** Gives all items of the key the next number; they must have had one number before. */
const PROCEDURE = `function (count, pk) {
  const self = __.getSelfLink();
  __.queryDocuments(self, 'SELECT * FROM c', (error, items) => {
    if (error) throw error;
    const numbers = new Set(items.map((item) => item.n));
    if (numbers.size > 1) throw new Error('torn: ' + [...numbers]);
    const n = items.length === 0 ? 1 : items[0].n + 1;
    for (let i = 0; i < count; i++) __.upsertDocument(self, { id: 'i' + i, pk, n });
    getContext().getResponse().setBody(n);
  });
}`;

/** Counts the items of the key in one of them. */
const TRIGGER = `function () {
  const pk = getContext().getRequest().getBody().pk;
  __.readDocument(__.getAltLink() + '/docs/counter', (error, item) => {
    const n = error ? 0 : item.n;
    __.upsertDocument(__.getSelfLink(), { id: 'counter', pk, n: n + 1 });
  });
}`;

interface Client {
  readonly pk: string;
  /** The last number that was acknowledged. */
  acknowledged: number;
  /** Items that were acknowledged. */
  created: number;
}

test(`${ROUNDS} times kill -9 under scripts (MESOCOSM_SEED=${SEED})`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const random = seededRandom(SEED);
  const storage = newStorage();
  const clients = Array.from(
    { length: CLIENTS },
    (_, at): Client => ({ pk: `k${at}`, acknowledged: 0, created: 0 }),
  );
  for (let round = 0; round < ROUNDS; round++) {
    await using server = await ChildServer.start([...storage, '--throughput', 'report']);
    const agent = new Agent({ keepAlive: true });
    if (round === 0) await prepare(server.port, agent);
    for (const client of clients) await check(server.port, agent, client);
    agent.destroy();
    // The threads of scripts start with the first of them.
    await Promise.all(clients.map((client) => execute(server.port, client)));
    const work = clients.flatMap((client) => [
      untilBroken(() => execute(server.port, client)),
      untilBroken(() => createCounted(server.port, client, random.below(2 ** 30))),
    ]);
    await new Promise((resolve) => setTimeout(resolve, LOAD_MS_MIN + random.below(LOAD_MS_SPREAD)));
    await server.stop('SIGKILL');
    await Promise.all(work);
  }
  const total = clients.reduce((sum, { acknowledged, created }) => sum + acknowledged + created, 0);
  console.log(`${total} scripts acknowledged over ${ROUNDS} kills`);
  expect(total).toBeGreaterThan(ROUNDS);
});

async function prepare(port: number, agent: Agent): Promise<void> {
  const post = (path: readonly string[], body: object) =>
    ok(port, agent, { verb: 'POST', path: [...path], body: JSON.stringify(body) });
  await post(['dbs'], { id: 'd' });
  await post(['dbs', 'd', 'colls'], { id: 'c', partitionKey: { paths: ['/pk'], kind: 'Hash' } });
  await post([...CONTAINER, 'sprocs'], { id: 'next', body: PROCEDURE });
  const trigger = { triggerType: 'Post', triggerOperation: 'All' };
  await post([...CONTAINER, 'triggers'], { id: 'count', body: TRIGGER, ...trigger });
}

/** All items of a key have one number, at least the acknowledged one; the counter includes every counted item. */
async function check(port: number, agent: Agent, client: Client): Promise<void> {
  const numbers = await query(port, agent, client.pk, 'SELECT VALUE c.n FROM c');
  expect(new Set(numbers).size).toBeLessThanOrEqual(1);
  expect(numbers[0] ?? 0).toBeGreaterThanOrEqual(client.acknowledged);
  expect([0, ITEMS]).toContain(numbers.length);
  const counted = `${client.pk}-counted`;
  const items = await query(
    port,
    agent,
    counted,
    'SELECT VALUE c.id FROM c WHERE c.id != "counter"',
  );
  const count = await query(port, agent, counted, 'SELECT VALUE c.n FROM c WHERE c.id = "counter"');
  expect(count[0] ?? 0).toBe(items.length);
  expect(items.length).toBeGreaterThanOrEqual(client.created);
}

async function query(port: number, agent: Agent, pk: string, text: string): Promise<number[]> {
  const body = await ok(port, agent, {
    verb: 'POST',
    path: [...CONTAINER, 'docs'],
    headers: {
      'x-ms-documentdb-partitionkey': JSON.stringify([pk]),
      'x-ms-documentdb-isquery': 'true',
      'x-ms-max-item-count': '10000',
    },
    body: JSON.stringify({ query: text }),
  });
  return JSON.parse(body).Documents;
}

async function execute(port: number, client: Client): Promise<void> {
  const { pk } = client;
  const body = await ok(port, undefined, {
    verb: 'POST',
    path: [...CONTAINER, 'sprocs', 'next'],
    headers: { 'x-ms-documentdb-partitionkey': JSON.stringify([pk]) },
    body: JSON.stringify([ITEMS, pk]),
  });
  client.acknowledged = Number(body);
}

async function createCounted(port: number, client: Client, number: number): Promise<void> {
  const pk = `${client.pk}-counted`;
  await ok(port, undefined, {
    verb: 'POST',
    path: [...CONTAINER, 'docs'],
    headers: {
      'x-ms-documentdb-partitionkey': JSON.stringify([pk]),
      'x-ms-documentdb-post-trigger-include': 'count',
    },
    body: JSON.stringify({ id: `${number}`, pk }),
  });
  client.created++;
}

class RefusedError extends Error {}

async function ok(port: number, agent: Agent | undefined, request: WireRequest): Promise<string> {
  const { status, body } = await send(port, agent ?? new Agent(), request);
  if (status >= 300)
    throw new RefusedError(`${request.path.join('/')} returned ${status}: ${body}`);
  return body;
}

/** Runs until the connection breaks; a response that is no success fails the test. */
async function untilBroken(work: () => Promise<void>): Promise<void> {
  for (;;)
    try {
      await work();
    } catch (error) {
      if (error instanceof RefusedError) throw error;
      return;
    }
}
