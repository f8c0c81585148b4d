// Goal: dozens of splits under a load: no error at any client, every item once, order and change feed right.
// Method: sixteen stock-client writers, readers, paging queries and a change feed reader at the same time, until all is loaded.
import type { Container } from '@azure/cosmos';
import { ChangeFeedStartFrom } from '@azure/cosmos';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../../src/base/index.ts';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

const KIB = 1024;
const WRITERS = 16;
const LOAD =
  process.env.MESOCOSM_LONG === undefined
    ? { bytes: 6 * KIB * KIB, limit: 256 * KIB, itemBytes: 4 * KIB }
    : { bytes: 50 * KIB * KIB, limit: 1024 * KIB, itemBytes: 16 * KIB };
const ITEMS = Math.ceil(LOAD.bytes / LOAD.itemBytes);
const TIMEOUT_MS = 1_200_000;
const SEED = Number(process.env.MESOCOSM_SEED ?? 6);

interface Row {
  readonly id: string;
  readonly pk: string;
  readonly n: number;
}

test(
  `${LOAD.bytes >> 20} MB at ${LOAD.limit >> 10} KB per partition`,
  async () => {
    const account = await startAccount({
      engine: 'sqlite',
      settings: { partitionStorageLimit: LOAD.limit, logicalPartitionLimit: KIB ** 3 },
    });
    try {
      await loadAndWatch(account);
      expect(account.failures).toEqual([]);
    } finally {
      await account.close();
    }
  },
  TIMEOUT_MS,
);

async function loadAndWatch(account: Account): Promise<void> {
  const { database } = await account.client().databases.create({ id: 'd' });
  const spec = { id: 'c', partitionKey: '/pk', throughput: 1000 };
  const { container } = await database.containers.create(spec);
  const written: Row[] = [];
  let started = 0;
  const writer = async (): Promise<void> => {
    while (started < ITEMS) {
      const number = started++;
      const item = { id: `i${number}`, pk: `k${number % 1009}`, n: number % 13 };
      await container.items.create({ ...item, text: 'x'.repeat(LOAD.itemBytes - 200) });
      written.push(item);
    }
  };
  let isWriting = true;
  const whileWriting = async (work: () => Promise<void>): Promise<number> => {
    let rounds = 0;
    for (; isWriting; rounds++) {
      await work();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return rounds;
  };
  const random = seededRandom(SEED);
  const readOne = async (): Promise<void> => {
    const item = written[random.below(Math.max(1, written.length))];
    if (item === undefined) return;
    const { resource } = await container.item(item.id, item.pk).read();
    expect(resource).toMatchObject(item);
  };
  const readAll = (text: string) => async (): Promise<void> => {
    const before = written.map(({ id }) => id);
    const rows = await readPages(container, text);
    const ids = new Set(rows.map(({ id }) => id));
    expect(ids.size, text).toBe(rows.length);
    for (const id of before) expect(ids.has(id), `${id} of ${text}`).toBe(true);
    if (text.includes('ORDER')) expectDescending(rows);
  };
  const count = async (): Promise<void> => {
    const least = written.length;
    const [found] = await readPages(container, 'SELECT VALUE COUNT(1) FROM c');
    expect(found).toBeGreaterThanOrEqual(least);
    expect(found).toBeLessThanOrEqual(started);
  };
  const feed = new FeedReader(container);
  const watchers = Promise.all([
    whileWriting(readOne),
    whileWriting(readOne),
    whileWriting(readAll('SELECT c.id, c.pk, c.n FROM c ORDER BY c.n DESC')),
    whileWriting(readAll('SELECT c.id, c.pk, c.n FROM c')),
    whileWriting(count),
    whileWriting(() => feed.drain()),
  ]);
  await Promise.all(Array.from({ length: WRITERS }, writer));
  isWriting = false;
  for (const rounds of await watchers) expect(rounds).toBeGreaterThan(0);
  await account.service.balancer.whenIdle();

  const splits = account.service.resizer.log.totals.split;
  expect(splits.failed).toBe(0);
  expect(splits.done).toBeGreaterThan(LOAD.bytes / LOAD.limit / 2);
  const all = written.map(({ id }) => id).sort();
  expect(all).toHaveLength(ITEMS);
  const rows = await readPages(container, 'SELECT c.id, c.pk, c.n FROM c ORDER BY c.n DESC');
  expectDescending(rows);
  expect(rows.map(({ id }) => id).sort()).toEqual(all);
  expect((await itemsOfRanges(account)).sort()).toEqual(all);
  await feed.drain();
  expect([...feed.seen].sort()).toEqual(all);
}

async function readPages(container: Container, text: string): Promise<Row[]> {
  const rows: Row[] = [];
  const options = { maxItemCount: 200, maxDegreeOfParallelism: 4 };
  const iterator = container.items.query<Row>(text, options);
  while (iterator.hasMoreResults()) {
    const { resources } = await iterator.fetchNext();
    rows.push(...(resources ?? []));
  }
  return rows;
}

function expectDescending(rows: readonly Row[]): void {
  rows.forEach(({ n }, at) => {
    expect(n).toBeLessThanOrEqual(rows[at - 1]?.n ?? Number.POSITIVE_INFINITY);
  });
}

/** Items are written once, so each is one change. */
class FeedReader {
  readonly seen = new Set<string>();
  readonly #iterator: ReturnType<Container['items']['getChangeFeedIterator']>;

  constructor(container: Container) {
    this.#iterator = container.items.getChangeFeedIterator({
      changeFeedStartFrom: ChangeFeedStartFrom.Beginning(),
      maxItemCount: 200,
    });
  }

  /** Until there is nothing new. */
  async drain(): Promise<void> {
    for (;;) {
      const { result, statusCode } = await this.#iterator.readNext();
      for (const { id } of (result ?? []) as unknown as Row[]) {
        expect(this.seen.has(id), `${id} twice in the change feed`).toBe(false);
        this.seen.add(id);
      }
      if (statusCode === 304) return;
    }
  }
}

/** Range by range, as a client that reads partitions side by side does. */
async function itemsOfRanges(account: Account): Promise<string[]> {
  const found: string[] = [];
  const ranges = await sendRaw(account, { path: '/dbs/d/colls/c/pkranges' });
  for (const { id } of ranges.json.PartitionKeyRanges as { id: string }[]) {
    let continuation: string | undefined;
    do {
      const reply = await sendRaw(account, {
        path: '/dbs/d/colls/c/docs',
        headers: {
          'x-ms-documentdb-partitionkeyrangeid': id,
          'x-ms-max-item-count': '100',
          ...(continuation === undefined ? {} : { 'x-ms-continuation': continuation }),
        },
      });
      expect(reply.status).toBe(200);
      found.push(...(reply.json.Documents as Row[]).map((item) => item.id));
      continuation = reply.headers['x-ms-continuation'] as string | undefined;
    } while (continuation !== undefined);
  }
  return found;
}
