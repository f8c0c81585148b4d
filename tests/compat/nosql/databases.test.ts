// Goal: databases as the stock client uses them. Method: the SDK, and raw requests for what it refuses to send.
import type { CosmosClient } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';
import { sendRaw } from './raw-request.ts';

let account: Account;
let client: CosmosClient;

beforeAll(async () => {
  account = await startAccount();
  client = account.client();
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

test('the account says where to go and how consistent it is', async () => {
  const { resource, headers } = await client.getDatabaseAccount();
  expect(resource?.databasesLink).toBe('/dbs/');
  expect(resource?.maxMediaStorageUsageInMB).toBe(headers['x-ms-max-media-storage-usage-mb']);
  expect(resource?.enableMultipleWritableLocations).toBe(false);
  const { json } = await sendRaw(account, { path: '/' });
  expect(json).toMatchObject({
    id: 'localhost',
    writableLocations: [{ databaseAccountEndpoint: account.endpoint }],
    userConsistencyPolicy: { defaultConsistencyLevel: 'Session' },
  });
  expect(JSON.parse(json.queryEngineConfiguration)).toMatchObject({ maxJoinsPerSqlQuery: 10 });
});

test('a database has the system properties of its kind', async () => {
  const { resource, statusCode, etag } = await client.databases.create({ id: 'kinds' });
  expect(statusCode).toBe(201);
  expect(resource).toEqual({
    id: 'kinds',
    _rid: expect.stringMatching(/^[A-Za-z0-9+-]{6}==$/),
    _self: `dbs/${resource?._rid}/`,
    _etag: etag,
    _colls: 'colls/',
    _users: 'users/',
    _ts: expect.any(Number),
  });
  const read = await client.database('kinds').read();
  expect(read.resource).toEqual(resource);
});

test('the same name twice is a conflict, a missing one is not found', async () => {
  await client.databases.create({ id: 'twice' });
  await expect(client.databases.create({ id: 'twice' })).rejects.toMatchObject({
    code: 409,
    body: { code: 'Conflict' },
  });
  await expect(client.database('never').read()).rejects.toMatchObject({
    code: 404,
    body: { code: 'NotFound' },
  });
  await expect(client.database('never').containers.readAll().fetchAll()).rejects.toMatchObject({
    code: 404,
    substatus: 1003,
  });
});

test('lists come in pages and end', async () => {
  const ids = Array.from({ length: 7 }, (_, at) => `page ${at} ü`);
  for (const id of ids) await client.databases.create({ id });
  const pages: number[] = [];
  const seen: string[] = [];
  const feed = client.databases.readAll({ maxItemCount: 3 });
  while (feed.hasMoreResults()) {
    const { resources } = await feed.fetchNext();
    pages.push(resources.length);
    seen.push(...resources.map(({ id }) => id));
  }
  expect(seen.filter((id) => id.startsWith('page'))).toEqual(ids);
  expect(pages.every((count) => count <= 3)).toBe(true);
});

test.each([
  ['SELECT * FROM root r WHERE r.id=@id', [{ name: '@id', value: 'searched' }], ['searched']],
  ['select * from c where c["id"] = "searched"', [], ['searched']],
  ["SELECT * FROM root WHERE root.id = 'none'", [], []],
])('the query %s', async (query, parameters, found) => {
  await client.databases.createIfNotExists({ id: 'searched' });
  const { resources } = await client.databases.query({ query, parameters }).fetchAll();
  expect(resources.map(({ id }) => id)).toEqual(found);
});

test('any query runs on the list of databases', async () => {
  await client.databases.createIfNotExists({ id: 'searched' });
  const { resources } = await client.databases
    .query("SELECT VALUE COUNT(1) FROM c WHERE STARTSWITH(c.id, 'search')")
    .fetchAll();
  expect(resources).toEqual([1]);
  const feed = client.databases.query('SELECT * FROM c WHERE = 1');
  await expect(feed.fetchAll()).rejects.toMatchObject({
    code: 400,
    message: expect.stringContaining('SC1001'),
  });
});

test.each([
  ['no id', {}, /required properties - 'id; ' - are missing/],
  ['an empty id', { id: '' }, /name is invalid. Ensure to provide a unique non-empty string/],
  ['a number', { id: 5 }, /name is invalid/],
  ['a slash', { id: 'a/b' }, /illegal chars/],
  ['a question mark', { id: 'a?b' }, /illegal chars/],
  ['a trailing space', { id: 'a ' }, /ends with a space/],
  ['256 characters', { id: 'x'.repeat(256) }, /less than '255' characters/],
  ['a list', [], /JSON object is expected/],
  ['broken JSON', '{"id":', /not valid JSON/],
  ['no body', '', /body is empty/],
  ['bytes that are no text', Buffer.from([0x7b, 0xff, 0x7d]), /not valid UTF-8/],
])('%s makes no database', async (_, body, message) => {
  const reply = await sendRaw(account, { method: 'POST', path: '/dbs', body });
  expect(reply.status).toBe(400);
  expect(reply.json.code).toBe('BadRequest');
  expect(reply.json.message).toMatch(message);
});

test('255 characters of any script make a name', async () => {
  for (const id of ['x'.repeat(255), '鱀'.repeat(255), 'a b.c~d+e=f$g@h']) {
    await client.databases.create({ id });
    const { resource } = await client.database(id).read();
    expect(resource?.id).toBe(id);
    await client.database(id).delete();
  }
});

test('etags guard reads and deletions', async () => {
  const { resource, database } = await client.databases.create({ id: 'guarded' });
  const etag = resource?._etag as string;
  const held = await sendRaw(account, {
    path: '/dbs/guarded',
    headers: { 'if-none-match': etag },
  });
  expect([held.status, held.text, held.headers.etag]).toEqual([304, '', etag]);
  const wrong = { type: 'IfMatch', condition: '"other"' };
  await expect(database.delete({ accessCondition: wrong })).rejects.toMatchObject({ code: 412 });
  await database.delete({ accessCondition: { type: 'IfMatch', condition: etag } });
  await expect(database.read()).rejects.toMatchObject({ code: 404 });
});

test('a database may own throughput, manual or autoscale', async () => {
  const { database: manual } = await client.databases.create({ id: 'manual', throughput: 500 });
  const { resource } = await manual.readOffer();
  expect(resource?.content?.offerThroughput).toBe(500);
  const { database: scaled } = await client.databases.create({
    id: 'scaled',
    maxThroughput: 50_000,
  });
  const offer = (await scaled.readOffer()).resource;
  expect(offer?.content?.offerAutopilotSettings).toMatchObject({ maxThroughput: 50_000 });
  const { database: bare } = await client.databases.create({ id: 'bare' });
  expect((await bare.readOffer()).resource).toBeUndefined();
});

test.each([
  [{ 'x-ms-offer-throughput': '450' }, /increments of 100/],
  [{ 'x-ms-offer-throughput': 'many' }, /not a whole number/],
  [{ 'x-ms-offer-throughput': '300' }, /between 400/],
  [{ 'x-ms-cosmos-offer-autopilot-settings': '{' }, /autopilot-settings is not valid/],
  [{ 'x-ms-cosmos-offer-autopilot-settings': '{"maxThroughput":1500}' }, /increments of 1000/],
  [{ 'x-ms-offer-type': 'S9' }, /must be S1, S2 or S3/],
  [
    {
      'x-ms-offer-throughput': '400',
      'x-ms-cosmos-offer-autopilot-settings': '{"maxThroughput":4000}',
    },
    /cannot both be given/,
  ],
])('the throughput %j is refused', async (headers, message) => {
  const reply = await sendRaw(account, {
    method: 'POST',
    path: '/dbs',
    headers,
    body: { id: 'refused' },
  });
  expect([reply.status, reply.json.code]).toEqual([400, 'BadRequest']);
  expect(reply.json.message).toMatch(message);
});
