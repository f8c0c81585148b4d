// Goal: one resource by many addresses: names, resource ids, odd slashes. Method: raw requests and the SDK with rids.
import type { Container, CosmosClient, Database } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';
import { sendRaw } from './raw-request.ts';

let account: Account;
let client: CosmosClient;
let database: Database;
let container: Container;
let rids: { database: string; container: string; item: string };
const KEY = { 'x-ms-documentdb-partitionkey': '["p"]' };

beforeAll(async () => {
  account = await startAccount();
  client = account.client();
  const created = await client.databases.create({ id: 'my db ü' });
  database = created.database;
  const collection = await database.containers.create({ id: 'my coll', partitionKey: '/pk' });
  container = collection.container;
  const { resource } = await container.items.create({ id: 'my item', pk: 'p' });
  rids = {
    database: created.resource?._rid as string,
    container: collection.resource?._rid as string,
    item: resource?._rid as string,
  };
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

test.each([
  '/dbs/my%20db%20%C3%BC/colls/my%20coll/docs/my%20item',
  '/dbs/my%20db%20%c3%bc/colls/my%20coll/docs/my%20item/',
  '//dbs//my%20db%20%C3%BC/colls/my%20coll//docs/my%20item//',
])('the path %s names the item', async (path) => {
  const link = 'dbs/my db ü/colls/my coll/docs/my item';
  const { status, json } = await sendRaw(account, { path, link, type: 'docs', headers: KEY });
  expect([status, json.id]).toEqual([200, 'my item']);
});

test('resource ids all the way down', async () => {
  const path = `/dbs/${rids.database}/colls/${rids.container}/docs/${rids.item}`;
  const read = await sendRaw(account, { path, headers: KEY });
  expect([read.status, read.json.id]).toEqual([200, 'my item']);
  const replaced = await sendRaw(account, {
    method: 'PUT',
    path,
    headers: KEY,
    body: { id: 'my item', pk: 'p', n: 1 },
  });
  expect([replaced.status, replaced.json.n, replaced.json._rid]).toEqual([200, 1, rids.item]);
  const feed = await sendRaw(account, {
    path: `/dbs/${rids.database}/colls/${rids.container}/docs`,
  });
  expect(feed.json.Documents).toHaveLength(1);
  const ranges = await sendRaw(account, {
    path: `/dbs/${rids.database}/colls/${rids.container}/pkranges/`,
  });
  expect(ranges.json._count).toBe(1);
});

test('clients that sign the resource id alone', async () => {
  const path = `/dbs/${rids.database}/colls/${rids.container}/docs/${rids.item}`;
  const read = await sendRaw(account, { path, link: rids.item.toLowerCase(), headers: KEY });
  expect(read.status).toBe(200);
  const feed = await sendRaw(account, {
    path: `/dbs/${rids.database}/colls/${rids.container}/docs`,
    link: rids.container.toLowerCase(),
  });
  expect(feed.status).toBe(200);
});

test('the SDK by resource ids', async () => {
  const byRid = client.database(rids.database).container(rids.container);
  expect((await byRid.read()).resource?.id).toBe('my coll');
  expect((await byRid.item('my item', 'p').read()).resource?.id).toBe('my item');
  expect((await byRid.item(rids.item, 'p').read()).resource?.id).toBe('my item');
  const created = await byRid.items.create({ id: 'by rid', pk: 'p' });
  expect((await container.item('by rid', 'p').read()).resource).toEqual(created.resource);
  expect((await byRid.item(created.resource?._rid as string, 'p').delete()).statusCode).toBe(204);
  expect((await byRid.item(created.resource?._rid as string, 'p').read()).statusCode).toBe(404);
});

test('a resource id of another container names nothing here', async () => {
  const { container: other, resource } = await database.containers.create({ id: 'other' });
  const path = `/dbs/${rids.database}/colls/${resource?._rid}/docs/${rids.item}`;
  const reply = await sendRaw(account, { path, headers: KEY });
  expect(reply.status).toBe(404);
  await other.delete();
});

test.each([
  ['GET', '/nothing', 404],
  ['GET', '/dbs/a/nothing', 404],
  ['GET', '/dbs/a/colls/b/nothing/c', 404],
  ['GET', '/dbs/a/b/c/d/e/f/g/h/i/j/k/l', 400],
  ['GET', '/dbs/%E0%A4%A', 400],
  ['GET', '/dbs/%ff', 400],
  ['PUT', '/dbs', 405],
  ['POST', '/dbs/a', 405],
  ['PATCH', '/dbs/a/colls/b', 405],
  ['DELETE', '/dbs/a/colls/b/docs', 405],
  ['PUT', '/', 405],
  ['DELETE', '/dbs/a/colls/b/pkranges', 405],
  ['GET', '/dbs/a/colls/b/pkranges/0', 405],
  ['GET', '/dbs/__proto__', 404],
  ['GET', '/constructor', 404],
])('%s %s returns %i with a JSON body', async (method, path, status) => {
  const reply = await sendRaw(account, { method, path });
  expect(reply.status).toBe(status);
  expect(reply.json).toEqual({ code: expect.any(String), message: expect.any(String) });
  if (status === 405) expect(reply.headers).toHaveProperty('allow');
});

test('a missing owner and a missing resource are distinguished', async () => {
  const substatus = async (path: string, headers = {}) => {
    const reply = await sendRaw(account, { path, headers });
    return [reply.status, reply.headers['x-ms-substatus']];
  };
  const db = `/dbs/${rids.database}`;
  expect(await substatus('/dbs/none')).toEqual([404, undefined]);
  expect(await substatus('/dbs/none/colls/c')).toEqual([404, '1003']);
  expect(await substatus(`${db}/colls/none`)).toEqual([404, undefined]);
  expect(await substatus(`${db}/colls/none/docs/d`, KEY)).toEqual([404, '1003']);
  expect(await substatus(`${db}/colls/none/docs`)).toEqual([404, '1003']);
  expect(await substatus(`${db}/colls/none/pkranges`)).toEqual([404, '1003']);
  expect(await substatus(`${db}/colls/${rids.container}/docs/d`, KEY)).toEqual([404, undefined]);
});
