// Goal: a batch that is open when the process is killed is stored as a whole or not at all, with its unique keys.
// Method: writers that move all items of their key from one version to the next by one batch, killed again and again;
// the seed is in the test's name.
import { Agent } from 'node:http';
import { expect, test, vi } from 'vitest';
import { seededRandom } from '../../src/base/index.ts';
import { ChildServer } from '../server/child-server.ts';
import { send } from '../server/wire.ts';
import { isShort, newStorage } from './storage.ts';

const ROUNDS = isShort ? 2 : 8;
const WRITERS = 6;
/** One batch has as many upserts, a patch that counts, a deletion and a creation. */
const ITEMS = 20;
const LOAD_MS_MIN = 200;
const LOAD_MS_SPREAD = 500;
/** A slow machine gets the time for one batch in each round. */
const WAIT = { timeout: 200_000, interval: 5 };

const SEED = Number(process.env.MESOCOSM_SEED ?? Date.now() % 1_000_000);
const DOCS = ['dbs', 'd', 'colls', 'c', 'docs'];

interface Book {
  readonly pk: string;
  /** Versions of the last batch that was acknowledged, and of the last one sent. */
  acknowledged: number;
  sent: number;
}

test(`${ROUNDS} times kill -9 under batches (MESOCOSM_SEED=${SEED})`, async () => {
  const random = seededRandom(SEED);
  const storage = newStorage();
  const books = Array.from(
    { length: WRITERS },
    (_, at): Book => ({ pk: `w${at}`, acknowledged: 0, sent: 0 }),
  );
  let batches = 0;
  for (let round = 0; round <= ROUNDS; round++) {
    await using server = await ChildServer.start(storage);
    if (round === 0) await createContainer(server.port);
    for (const book of books) await check(server.port, book);
    if (round === ROUNDS) break;
    const before = books.map(({ acknowledged }) => acknowledged);
    const work = books.map((book) => writeUntilBroken(server.port, book));
    await new Promise((resolve) => setTimeout(resolve, LOAD_MS_MIN + random.below(LOAD_MS_SPREAD)));
    await vi.waitUntil(
      () => books.some((book, at) => book.acknowledged > Number(before[at])),
      WAIT,
    );
    await server.stop('SIGKILL');
    for (const written of await Promise.all(work)) batches += written;
  }
  console.log(`${batches} batches acknowledged over ${ROUNDS} kills`);
  expect(batches).toBeGreaterThanOrEqual(ROUNDS);
});

async function createContainer(port: number): Promise<void> {
  const agent = new Agent();
  const post = (path: readonly string[], body: object) =>
    send(port, agent, { verb: 'POST', path, body: JSON.stringify(body) });
  expect((await post(['dbs'], { id: 'd' })).status).toBe(201);
  const { status } = await post(['dbs', 'd', 'colls'], {
    id: 'c',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/name'] }] },
  });
  expect(status).toBe(201);
  agent.destroy();
}

const keyHeader = (pk: string) => ({ 'x-ms-documentdb-partitionkey': JSON.stringify([pk]) });

/** Names move on from item to item with every version: each is free only because the batch before let go of it. */
function batch(pk: string, version: number): string {
  const upserts = Array.from({ length: ITEMS }, (_, at) => ({
    operationType: 'Upsert',
    resourceBody: { id: `${at}`, pk, version, name: `${at} of ${version}` },
  }));
  const counter =
    version === 1
      ? {
          operationType: 'Create',
          resourceBody: { id: 'counter', pk, version: 1, name: 'counter' },
        }
      : {
          operationType: 'Patch',
          id: 'counter',
          resourceBody: { operations: [{ op: 'incr', path: '/version', value: 1 }] },
        };
  const relay = { id: `relay ${version}`, pk, version, name: 'relay' };
  const handOver = [
    ...(version === 1 ? [] : [{ operationType: 'Delete', id: `relay ${version - 1}` }]),
    { operationType: 'Create', resourceBody: relay },
  ];
  return JSON.stringify([...upserts, counter, ...handOver]);
}

async function writeUntilBroken(port: number, book: Book): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = {
    ...keyHeader(book.pk),
    'x-ms-cosmos-is-batch-request': 'true',
    'x-ms-cosmos-batch-atomic': 'true',
  };
  const from = book.acknowledged;
  try {
    for (;;) {
      book.sent = book.acknowledged + 1;
      const body = batch(book.pk, book.sent);
      const reply = await send(port, agent, { verb: 'POST', path: DOCS, headers, body }).catch(
        () => undefined,
      );
      if (reply === undefined) return book.acknowledged - from;
      if (reply.status !== 200) throw new Error(`${reply.status} ${reply.body.slice(0, 300)}`);
      book.acknowledged = book.sent;
    }
  } finally {
    agent.destroy();
  }
}

async function check(port: number, book: Book): Promise<void> {
  const agent = new Agent();
  const reply = await send(port, agent, {
    verb: 'GET',
    path: DOCS,
    headers: { ...keyHeader(book.pk), 'x-ms-max-item-count': '1000' },
  });
  agent.destroy();
  const items: { id: string; version: number }[] = JSON.parse(reply.body).Documents;
  const versions = new Set(items.map(({ version }) => version));
  const [version = 0] = versions;
  expect([book.acknowledged, book.sent]).toContain(version);
  expect(versions.size).toBe(version === 0 ? 0 : 1);
  expect(items).toHaveLength(version === 0 ? 0 : ITEMS + 2);
  book.acknowledged = version;
}
