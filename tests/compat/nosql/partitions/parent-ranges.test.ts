// Goal: a client that names a range that was split or merged away gets exactly its items, once and in order, also with the
// tokens of before. Method: raw requests before and after splits and merges; what one page says is compared with what the
// range gave when it was live.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ContainerRecord } from '../../../../src/catalog/index.ts';
import { type Account, startAccount } from '../harness.ts';
import { type RawReply, sendRaw } from '../raw-request.ts';

let account: Account;
const DOCS = '/dbs/d/colls/c/docs';
const ITEMS = 60;

beforeEach(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'd' });
  const spec = { id: 'c', partitionKey: '/pk', throughput: 1000 };
  const { container } = await database.containers.create(spec);
  for (let n = 0; n < ITEMS; n++)
    await container.items.create({ id: `i${n}`, pk: `k${n}`, n: (n * 7) % ITEMS, g: `g${n % 9}` });
  // Partition 1 and 2 from here on.
  await account.service.resizer.split(record(), '0');
});

afterEach(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

function record(): ContainerRecord {
  const database = account.service.databases.find('d');
  const container = database && account.service.containers.find(database, 'c');
  if (container === undefined) throw new Error('no container');
  return container;
}

type Headers = Readonly<Record<string, string>>;
type Page = (token: string | undefined) => Promise<RawReply>;

function queryOf(id: string, text: string, more: Headers = {}): Page {
  return (token) =>
    sendRaw(account, {
      method: 'POST',
      path: DOCS,
      headers: {
        'x-ms-documentdb-partitionkeyrangeid': id,
        'x-ms-documentdb-isquery': 'True',
        'content-type': 'application/query+json',
        'x-ms-max-item-count': '4',
        ...(token !== undefined && { 'x-ms-continuation': token }),
        ...more,
      },
      body: { query: text, parameters: [] },
    });
}

function feedOf(id: string): Page {
  return (token) =>
    sendRaw(account, {
      path: DOCS,
      headers: {
        'x-ms-documentdb-partitionkeyrangeid': id,
        'x-ms-max-item-count': '4',
        ...(token !== undefined && { 'x-ms-continuation': token }),
      },
    });
}

interface Read {
  readonly rows: readonly unknown[];
  readonly token: string | undefined;
}

async function read(page: Page, from?: string, pagesMax = Number.POSITIVE_INFINITY): Promise<Read> {
  const rows: unknown[] = [];
  let token = from;
  for (let pages = 0; pages < pagesMax; pages++) {
    const reply = await page(token);
    expect(reply.status).toBe(200);
    rows.push(...(reply.json.Documents as unknown[]));
    token = reply.headers['x-ms-continuation'] as string | undefined;
    if (token === undefined) break;
  }
  return { rows, token };
}

/** Splits 1 in two, then one of its halves, and merges the last of these with 2. */
async function resizeAll(): Promise<void> {
  const { resizer } = account.service;
  await resizer.split(record(), '1');
  await resizer.split(record(), '4');
  const [, , third, fourth] = record().partitions.map(({ id }) => id) as [
    string,
    string,
    string,
    string,
  ];
  await resizer.merge(record(), [third, fourth]);
}

const QUERIES = [
  'SELECT VALUE c.id FROM c',
  'SELECT VALUE c.id FROM c WHERE c.n > 10',
  'SELECT VALUE c.id FROM c ORDER BY c.n',
  'SELECT VALUE c.id FROM c ORDER BY c.g DESC',
  'SELECT TOP 11 VALUE c.id FROM c ORDER BY c.n DESC',
  'SELECT VALUE c.id FROM c OFFSET 3 LIMIT 9',
  'SELECT DISTINCT VALUE c.g FROM c',
  'SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g',
  'SELECT VALUE COUNT(1) FROM c',
  'SELECT VALUE SUM(c.n) FROM c WHERE c.n < 40',
];

test.each(QUERIES)(
  '%s: the same rows of a range before and after it was replaced',
  async (text) => {
    // In pages of one partition rows come as they were made; children give theirs one after the other.
    const isOrdered = /ORDER|COUNT\(1\) FROM|SUM|DISTINCT|GROUP/.test(text);
    const sorted = (rows: readonly unknown[]) => (isOrdered ? rows : rows.toSorted());
    const isCut = text.includes('OFFSET');
    const live = await Promise.all(
      ['1', '2'].map(async (id) => ({
        id,
        before: await read(queryOf(id, text)),
        begun: await read(queryOf(id, text), undefined, 2),
      })),
    );
    await resizeAll();
    expect(record().partitions.filter(({ id }) => id === '1' || id === '2')).toEqual([]);
    for (const { id, before, begun } of live) {
      const after = await read(queryOf(id, text));
      if (isCut) expect(after.rows).toHaveLength(before.rows.length);
      else expect(sorted(after.rows)).toEqual(sorted(before.rows));
      const rest =
        begun.token === undefined ? [] : (await read(queryOf(id, text), begun.token)).rows;
      expect(sorted([...begun.rows, ...rest])).toEqual(sorted(before.rows));
    }
  },
);

test('the read feed of a parent, begun before and after', async () => {
  const ids = (rows: readonly unknown[]) => rows.map((row) => (row as { id: string }).id).sort();
  const [one, two] = [await read(feedOf('1')), await read(feedOf('2'))];
  const begun = await read(feedOf('1'), undefined, 3);
  await resizeAll();
  expect(ids((await read(feedOf('1'))).rows)).toEqual(ids(one.rows));
  expect(ids((await read(feedOf('2'))).rows)).toEqual(ids(two.rows));
  const rest = await read(feedOf('1'), begun.token);
  expect(ids([...begun.rows, ...rest.rows])).toEqual(ids(one.rows));
  expect(ids([...one.rows, ...two.rows])).toHaveLength(ITEMS);
});

test('the change feed of a parent continues after its etags', async () => {
  const changes = (id: string, etag?: string) =>
    sendRaw(account, {
      path: DOCS,
      headers: {
        'a-im': 'Incremental Feed',
        'x-ms-documentdb-partitionkeyrangeid': id,
        'x-ms-max-item-count': '7',
        ...(etag !== undefined && { 'if-none-match': etag }),
      },
    });
  const drain = async (id: string, from?: string): Promise<{ ids: string[]; etag: string }> => {
    const ids: string[] = [];
    let etag = from;
    for (;;) {
      const reply = await changes(id, etag);
      etag = String(reply.headers.etag);
      if (reply.status === 304) return { ids, etag };
      expect(reply.status).toBe(200);
      ids.push(...(reply.json.Documents as { id: string }[]).map((item) => item.id));
    }
  };
  const [one, two] = [await drain('1'), await drain('2')];
  const first = await changes('1');
  const firstIds = (first.json.Documents as { id: string }[]).map((item) => item.id);
  await resizeAll();
  expect((await drain('1')).ids.sort()).toEqual(one.ids.toSorted());
  const rest = await drain('1', String(first.headers.etag));
  expect([...firstIds, ...rest.ids].sort()).toEqual(one.ids.toSorted());
  expect((await drain('1', one.etag)).ids).toEqual([]);
  const container = account.client().database('d').container('c');
  for (let n = 0; n < ITEMS; n++) await container.items.upsert({ id: `i${n}`, pk: `k${n}` });
  const [later, others] = [await drain('1', one.etag), await drain('2', two.etag)];
  expect(later.ids.sort()).toEqual(one.ids.toSorted());
  expect(others.ids.sort()).toEqual(two.ids.toSorted());
  expect((await drain('1', later.etag)).ids).toEqual([]);
});

test('sessions of parents are understood, and a bulk of a parent is done by its children', async () => {
  const first = await queryOf('1', 'SELECT VALUE COUNT(1) FROM c')(undefined);
  const session = { 'x-ms-session-token': String(first.headers['x-ms-session-token']) };
  expect(session['x-ms-session-token']).toMatch(/^1:/);
  await resizeAll();
  const again = await queryOf('1', 'SELECT VALUE COUNT(1) FROM c', session)(undefined);
  expect([again.status, again.json.Documents]).toEqual([200, first.json.Documents]);
  const ahead = { 'x-ms-session-token': '1:-1#100000' };
  const refused = await queryOf('1', 'SELECT VALUE COUNT(1) FROM c', ahead)(undefined);
  expect([refused.status, refused.headers['x-ms-substatus']]).toEqual([404, '1002']);
  const bulk = await sendRaw(account, {
    method: 'POST',
    path: DOCS,
    headers: {
      'x-ms-documentdb-partitionkeyrangeid': '1',
      'x-ms-cosmos-is-batch-request': 'True',
      'x-ms-cosmos-batch-atomic': 'False',
      'x-ms-cosmos-batch-continue-on-error': 'True',
    },
    body: Array.from({ length: 20 }, (_, n) => ({
      operationType: 'Upsert',
      partitionKey: JSON.stringify([`k${n}`]),
      resourceBody: { id: `i${n}`, pk: `k${n}` },
    })),
  });
  const codes = (bulk.json as unknown as { statusCode: number }[]).map(
    ({ statusCode }) => statusCode,
  );
  expect(codes).toEqual(Array(20).fill(200));
});

test.each([
  'SELECT DISTINCT VALUE c.g FROM c',
  'SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g',
  'SELECT VALUE c.id FROM c ORDER BY c.n',
])('%s, begun on the only partition, goes on when there are several', async (text) => {
  await account.service.resizer.merge(record(), ['1', '2']);
  // As the stock client sends it first, without a plan.
  const page: Page = (token) =>
    sendRaw(account, {
      method: 'POST',
      path: DOCS,
      headers: {
        'x-ms-documentdb-isquery': 'True',
        'x-ms-documentdb-query-enablecrosspartition': 'True',
        'x-ms-cosmos-correlated-activityid': 'a',
        'content-type': 'application/query+json',
        'x-ms-max-item-count': '4',
        ...(token !== undefined && { 'x-ms-continuation': token }),
      },
      body: { query: text, parameters: [] },
    });
  const before = await read(page);
  const begun = await read(page, undefined, 1);
  for (const id of ['3', '4', '5']) await account.service.resizer.split(record(), id);
  expect(record().partitions).toHaveLength(4);
  const rest = await read(page, begun.token);
  expect([...begun.rows, ...rest.rows]).toEqual(before.rows);
});
