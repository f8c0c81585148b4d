/**
 * A thread of stock clients that run every form of query and feed in loops, each compared with what it gave before the
 * first split. A thread, because a client that never returns may keep its event loop busy for ever: the test ends it.
 */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { ChangeFeedStartFrom, type Container, CosmosClient, type FeedOptions } from '@azure/cosmos';

export interface ClientTask {
  readonly endpoint: string;
  readonly key: string;
  readonly fixedCount: number;
}

export type ClientMessage =
  | { readonly kind: 'round'; readonly form: string }
  | { readonly kind: 'failure'; readonly form: string; readonly error: string };

const { endpoint, key, fixedCount } = workerData as ClientTask;

/** Items of this kind never change; the others come and go. */
const FIXED = `c.t = 'fixed'`;
const VECTOR = '[0.3, 0.5, 0.1]';
const BULK_ITEMS = 12;

interface Row {
  readonly id: string;
  readonly t: string;
  readonly round?: number;
}

/** One round of a form: its result must stay the same. */
type Form = (container: Container, round: number) => Promise<unknown>;

function query(text: string, options: FeedOptions = {}, isSorted = true): Form {
  return async (container) => {
    const rows: unknown[] = [];
    const iterator = container.items.query(text, { maxItemCount: 8, ...options });
    while (iterator.hasMoreResults()) rows.push(...((await iterator.fetchNext()).resources ?? []));
    return isSorted ? rows : rows.map((row) => JSON.stringify(row)).sort();
  };
}

const unsorted = (text: string, options?: FeedOptions): Form => query(text, options, false);

/** Reads every page with a new iterator, from the token of the page before. */
function resumed(text: string, isSorted: boolean): Form {
  return async (container) => {
    const rows: unknown[] = [];
    let continuationToken: string | undefined;
    do {
      const options = {
        maxItemCount: 20,
        enableQueryControl: true,
        ...(continuationToken !== undefined && { continuationToken }),
      };
      const page = await container.items.query(text, options).fetchNext();
      rows.push(...(page.resources ?? []));
      continuationToken = page.continuationToken;
    } while (continuationToken !== undefined);
    return isSorted ? rows : rows.map((row) => JSON.stringify(row)).sort();
  };
}

const readAll: Form = async (container) => {
  const ids: string[] = [];
  const iterator = container.items.readAll<Row>({ maxItemCount: 9 });
  while (iterator.hasMoreResults())
    for (const { t, id } of (await iterator.fetchNext()).resources ?? [])
      if (t === 'fixed') ids.push(id);
  return ids.sort();
};

const top: Form = async (container) => {
  const text = `SELECT TOP 31 VALUE c.id FROM c WHERE ${FIXED}`;
  const { resources } = await container.items.query<string>(text, { maxItemCount: 5 }).fetchAll();
  return [resources.length, new Set(resources).size];
};

/** From the beginning until after the last fixed item, half of the pages by the token of the page before. */
const changeFeed: Form = async (container) => {
  const seen: string[] = [];
  const start = (from: ChangeFeedStartFrom) =>
    container.items.getChangeFeedIterator({ changeFeedStartFrom: from, maxItemCount: 25 });
  let iterator = start(ChangeFeedStartFrom.Beginning());
  let pagesAfter = 0;
  for (let page = 0; ; page++) {
    const { result, statusCode, continuationToken } = await iterator.readNext();
    for (const { id, t } of (result ?? []) as unknown as Row[]) if (t === 'fixed') seen.push(id);
    // Others write all the time, so that the feed may have no end; what comes twice comes soon.
    if (seen.length >= fixedCount && (statusCode === 304 || ++pagesAfter > 5)) return seen.sort();
    if (page % 2 === 1) iterator = start(ChangeFeedStartFrom.Continuation(continuationToken));
  }
};

/** One iterator for the whole run returns the writes of every round, each once. */
function followed(): Form {
  const iterators = new Map<Container, ReturnType<Container['items']['getChangeFeedIterator']>>();
  return async (container, round) => {
    const iterator =
      iterators.get(container) ??
      container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Now() });
    iterators.set(container, iterator);
    await iterator.readNext();
    const written = new Set<string>();
    for (let n = 0; n < 5; n++) {
      await container.items.upsert({ id: `w${n}`, pk: `w${n}`, t: 'moving', round });
      written.add(`w${n}`);
    }
    while (written.size > 0) {
      const { result } = await iterator.readNext();
      for (const { id, round: seen } of (result ?? []) as unknown as Row[])
        if (seen === round) assert(written.delete(id), `${id} twice in the change feed`);
    }
    return 'all';
  };
}

const bulk: Form = async (container, round) => {
  const named = Array.from({ length: BULK_ITEMS }, (_, n) => ({
    id: `b${round}-${n}`,
    partitionKey: `b${n}`,
  }));
  const created = await container.items.executeBulkOperations(
    named.map(({ id, partitionKey }) => ({
      operationType: 'Create' as const,
      partitionKey,
      resourceBody: { id, pk: partitionKey, t: 'moving' },
    })),
  );
  const deleted = await container.items.executeBulkOperations(
    named.map(({ id, partitionKey }) => ({ operationType: 'Delete' as const, partitionKey, id })),
  );
  return [created, deleted].map((results) =>
    results.map(({ response, error }) => response?.statusCode ?? String(error)),
  );
};

const FORMS: Readonly<Record<string, Form>> = {
  count: query(`SELECT VALUE COUNT(1) FROM c WHERE ${FIXED}`),
  average: query(`SELECT VALUE AVG(c.n) FROM c WHERE ${FIXED}`),
  aggregates: query(
    `SELECT COUNT(1) AS n, SUM(c.n) AS s, MIN(c.n) AS low, MAX(c.n) AS high FROM c WHERE ${FIXED}`,
  ),
  group: unsorted(
    `SELECT c.g, COUNT(1) AS n, AVG(c.n) AS mean FROM c WHERE ${FIXED} GROUP BY c.g`,
    { maxItemCount: 3 },
  ),
  distinct: unsorted(`SELECT DISTINCT VALUE c.g FROM c WHERE ${FIXED}`),
  'distinct in order': query(`SELECT DISTINCT VALUE c.g FROM c WHERE ${FIXED} ORDER BY c.g`),
  top,
  'top in order': query(`SELECT TOP 23 VALUE c.id FROM c WHERE ${FIXED} ORDER BY c.n DESC`),
  'offset limit': query(`SELECT VALUE c.id FROM c WHERE ${FIXED} ORDER BY c.n OFFSET 10 LIMIT 31`),
  order: query(`SELECT VALUE c.id FROM c WHERE ${FIXED} ORDER BY c.n`),
  'order in parallel': query(`SELECT VALUE c.id FROM c WHERE ${FIXED} ORDER BY c.n DESC`, {
    maxDegreeOfParallelism: 4,
  }),
  plain: unsorted(`SELECT VALUE c.id FROM c WHERE ${FIXED}`),
  'one key': query(`SELECT VALUE c.id FROM c WHERE ${FIXED} AND c.pk = 'k3'`),
  vector: query(
    `SELECT TOP 20 VALUE c.id FROM c WHERE ${FIXED} ORDER BY VectorDistance(c.v, ${VECTOR})`,
  ),
  'full text': query(
    `SELECT TOP 20 c.id FROM c WHERE ${FIXED} ORDER BY RANK FullTextScore(c.text, 'amber')`,
  ),
  hybrid: query(
    `SELECT TOP 20 c.id FROM c WHERE ${FIXED} ORDER BY RANK RRF(FullTextScore(c.text, 'amber'), VectorDistance(c.v, ${VECTOR}))`,
  ),
  'resumed pages': resumed(`SELECT VALUE c.id FROM c WHERE ${FIXED}`, false),
  'resumed order': resumed(`SELECT c.id, c.n FROM c WHERE ${FIXED} ORDER BY c.n`, true),
  'read feed': readAll,
  'change feed': changeFeed,
  'followed change feed': followed(),
  bulk,
};

function newContainer(): { readonly client: CosmosClient; readonly container: Container } {
  const connectionPolicy = { enableBackgroundEndpointRefreshing: false };
  const client = new CosmosClient({ endpoint, key, connectionPolicy });
  return { client, container: client.database('d').container('c') };
}

function send(message: ClientMessage): void {
  parentPort?.postMessage(message);
}

/** One client keeps the ranges of the beginning; every other round has a new one that reads the current ranges. */
async function run(form: string, work: Form, old: Container): Promise<void> {
  let expected: unknown;
  for (let round = 0; ; round++) {
    try {
      if (round === 0) expected = await work(old, round);
      else if (round % 2 === 0 || form.startsWith('followed'))
        assert.deepEqual(await work(old, round), expected);
      else {
        const { client, container } = newContainer();
        assert.deepEqual(await work(container, round), expected);
        client.dispose();
      }
    } catch (error) {
      send({
        kind: 'failure',
        form,
        error: error instanceof Error ? `${error.stack}` : `${error}`,
      });
      return;
    }
    send({ kind: 'round', form });
  }
}

const { container: old } = newContainer();
for (const [form, work] of Object.entries(FORMS)) void run(form, work, old);
