// Goal: the query language runs on every list of resources, in pages. Method: the stock client, and raw requests.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

let account: Account;
const names = ['a', 'b', 'c', 'd', 'e'];

beforeAll(async () => {
  account = await startAccount();
  for (const id of names) await account.client().databases.create({ id });
  const database = account.client().database('a');
  for (const id of names)
    await database.containers.create({
      id: `c ${id}`,
      partitionKey: '/pk',
      throughput: id === 'b' ? 25_000 : 400,
    });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

test('databases', async () => {
  const { databases } = account.client();
  const found = await databases
    .query('SELECT VALUE d.id FROM d WHERE d.id > "b" ORDER BY d.id DESC')
    .fetchAll();
  expect(found.resources).toEqual(['e', 'd', 'c']);
  const count = await databases.query('SELECT VALUE COUNT(1) FROM d').fetchAll();
  expect(count.resources).toEqual([5]);
});

test.each([1, 2, 100])('containers in pages of %i', async (maxItemCount) => {
  const { containers } = account.client().database('a');
  const { resources } = await containers
    .query({ query: 'SELECT * FROM c WHERE c.partitionKey.paths[0] = "/pk"' }, { maxItemCount })
    .fetchAll();
  expect(resources.map(({ id }) => id)).toEqual(names.map((id) => `c ${id}`));
});

test('offers, by what they belong to', async () => {
  const client = account.client();
  const { resource } = await client.database('a').container('c b').read();
  const { resources } = await client.offers
    .query({
      query: 'SELECT VALUE o.content.offerThroughput FROM o WHERE o.offerResourceId = @rid',
      parameters: [{ name: '@rid', value: resource?._rid as string }],
    })
    .fetchAll();
  expect(resources).toEqual([25_000]);
});

test('partition key ranges', async () => {
  const reply = await sendRaw(account, {
    method: 'POST',
    path: '/dbs/a/colls/c%20b/pkranges',
    headers: { 'x-ms-documentdb-isquery': 'true', 'content-type': 'application/query+json' },
    body: { query: 'SELECT VALUE r.id FROM r WHERE r.maxExclusive = "FF"' },
  });
  expect(reply.json).toMatchObject({ PartitionKeyRanges: ['2'], _count: 1 });
});

test('kinds of which there is none', async () => {
  const database = account.client().database('a');
  const query = { query: 'SELECT * FROM x WHERE x.id = "y"' };
  expect((await database.users.query(query).fetchAll()).resources).toEqual([]);
  const { scripts } = database.container('c a');
  expect((await scripts.storedProcedures.query(query).fetchAll()).resources).toEqual([]);
});

test('a page goes on where the last one ended, and only there', async () => {
  const path = '/dbs';
  const headers = {
    'x-ms-documentdb-isquery': 'true',
    'content-type': 'application/query+json',
    'x-ms-max-item-count': '2',
  };
  const body = { query: 'SELECT VALUE d.id FROM d' };
  const send = (more: Record<string, string>) =>
    sendRaw(account, { method: 'POST', path, headers: { ...headers, ...more }, body });
  const first = await send({});
  expect(first.json.Databases).toEqual(['a', 'b']);
  const next = await send({ 'x-ms-continuation': String(first.headers['x-ms-continuation']) });
  expect(next.json.Databases).toEqual(['c', 'd']);
  const junk = await send({ 'x-ms-continuation': 'junk' });
  expect(junk.status).toBe(400);
  expect(junk.json.message).toContain('Invalid Continuation Token');
});
