// Goal: throughput is read, found and changed as stock clients do it. Method: the SDK, and raw requests for headers.
import type { Container, CosmosClient, Database, OfferDefinition, Resource } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { type RawReply, sendRaw } from '../raw-request.ts';

type Offer = OfferDefinition & Resource;

let account: Account;
let client: CosmosClient;
let database: Database;
let count = 0;

beforeAll(async () => {
  account = await startAccount();
  client = account.client();
  ({ database } = await client.databases.create({ id: 'offers' }));
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function create(options: Record<string, unknown>): Promise<Container> {
  const id = `c${count++}`;
  const { container } = await database.containers.create({ id, partitionKey: '/pk', ...options });
  return container;
}

async function offerOf(owner: Container | Database): Promise<Offer> {
  const { resource } = await owner.readOffer();
  if (resource === undefined) throw new Error('no offer');
  return resource as Offer;
}

function put(
  offer: Offer,
  content: object,
  headers: Record<string, string> = {},
): Promise<RawReply> {
  return sendRaw(account, {
    method: 'PUT',
    path: `/offers/${offer.id}`,
    link: offer.id?.toLowerCase() ?? '',
    headers,
    body: { ...offer, content },
  });
}

test('an offer is replaced, and read again as it was returned', async () => {
  const container = await create({ throughput: 400 });
  const offer = await offerOf(container);
  const content = { ...offer.content, offerThroughput: 500 };
  const { resource } = await client
    .offer(offer.id as string)
    .replace({ ...offer, content } as OfferDefinition);
  expect(resource?.content?.offerThroughput).toBe(500);
  expect(resource).toMatchObject({ id: offer.id, _rid: offer._rid, resource: offer.resource });
  expect(resource?._etag).not.toBe(offer._etag);
  expect(await offerOf(container)).toEqual(resource);
  expect((await client.offer(offer.id as string).read()).resource).toEqual(resource);
});

test('the minimum, and whether partitions are missing, are reported', async () => {
  const offer = await offerOf(await create({ throughput: 20_000 }));
  const read = await sendRaw(account, {
    path: `/offers/${offer.id}`,
    link: offer.id?.toLowerCase() ?? '',
  });
  expect(read.headers).toMatchObject({
    'x-ms-cosmos-min-throughput': '1000',
    'x-ms-offer-replace-pending': 'false',
  });
  expect(read.json.content).not.toHaveProperty('isOfferReplacePending');
  const raised = await put(offer, { offerThroughput: 200_000 });
  expect([raised.status, raised.headers['x-ms-offer-replace-pending']]).toEqual([200, 'true']);
  expect(raised.json.content.isOfferReplacePending).toBe(true);
  expect(raised.headers['x-ms-cosmos-min-throughput']).toBe('2000');
  expect(raised.json.content.offerMinimumThroughputParameters).toMatchObject({
    maxThroughputEverProvisioned: 200_000,
  });
});

test('without a key a container stays fixed; with one it becomes unlimited at 1,000 RU/s', async () => {
  const headers = { 'x-ms-version': '2018-06-18', 'x-ms-offer-throughput': '400' };
  const path = '/dbs/offers/colls';
  await sendRaw(account, { method: 'POST', path, headers, body: { id: 'fixed' } });
  const fixed = await offerOf(database.container('fixed'));
  const refused = await put(fixed, { offerThroughput: 10_100 });
  expect(refused.json.message).toMatch(/between 400 and 10000/);
  const keyed = await create({ throughput: 400 });
  expect((await put(await offerOf(keyed), { offerThroughput: 900 })).status).toBe(200);
  expect((await put(await offerOf(keyed), { offerThroughput: 400 })).status).toBe(200);
  expect((await put(await offerOf(keyed), { offerThroughput: 11_000 })).status).toBe(200);
  const lowered = await put(await offerOf(keyed), { offerThroughput: 900 });
  expect(lowered.json.message).toMatch(/between 1000 and/);
});

test.each<[string, Record<string, unknown>, object, RegExp]>([
  ['no step', { throughput: 1000 }, { offerThroughput: 1050 }, /increments of 100/],
  [
    'too little',
    { throughput: 1000 },
    { offerThroughput: 900 },
    /between 1000 and 1000000 inclusive in increments of 100\. Requested throughput 900 is less than required minimum throughput 1000\./,
  ],
  ['no number', { throughput: 400 }, { offerThroughput: 'many' }, /not a number/],
  [
    'another kind',
    { throughput: 400 },
    { offerAutopilotSettings: { maxThroughput: 4000 } },
    /needs the header x-ms-cosmos-migrate-offer-to-autopilot/,
  ],
  [
    'another kind back',
    { maxThroughput: 4000 },
    { offerThroughput: 4000 },
    /needs the header x-ms-cosmos-migrate-offer-to-manual-throughput/,
  ],
  [
    'autoscale without a maximum',
    { maxThroughput: 4000 },
    { offerAutopilotSettings: {} },
    /offerAutopilotSettings is not valid/,
  ],
  [
    'an unknown bucket',
    { throughput: 400 },
    { throughputBuckets: [{ id: 6, maxThroughputPercentage: 5 }] },
    /ids from 1 to 5/,
  ],
])('a change is refused: %s', async (_, options, content, message) => {
  const offer = await offerOf(await create(options));
  const reply = await put(offer, content);
  expect([reply.status, reply.json.code]).toEqual([400, 'BadRequest']);
  expect(reply.json.message).toMatch(message);
});

test('manual becomes autoscale and manual again', async () => {
  const container = await create({ throughput: 1500 });
  const toAutoscale = { 'x-ms-cosmos-migrate-offer-to-autopilot': 'true' };
  const toManual = { 'x-ms-cosmos-migrate-offer-to-manual-throughput': 'true' };
  const manual = await offerOf(container);
  const scaled = await put(manual, manual.content ?? {}, toAutoscale);
  expect(scaled.json.content).toMatchObject({
    offerThroughput: 200,
    offerAutopilotSettings: { maxThroughput: 2000 },
  });
  const raised = await put(scaled.json, { offerAutopilotSettings: { maxThroughput: 6000 } });
  expect(raised.json.content.offerAutopilotSettings.maxThroughput).toBe(6000);
  const back = await put(raised.json, raised.json.content, toManual);
  expect(back.json.content.offerThroughput).toBe(6000);
  expect(back.json.content.offerAutopilotSettings).toBeUndefined();
  const both = await put(back.json, back.json.content, { ...toAutoscale, ...toManual });
  expect(both.status).toBe(400);
});

test('the budget per minute and throughput buckets are kept with the offer', async () => {
  const created = await sendRaw(account, {
    method: 'POST',
    path: '/dbs/offers/colls',
    headers: {
      'x-ms-offer-throughput': '400',
      'x-ms-offer-is-ru-per-minute-throughput-enabled': 'true',
    },
    body: { id: 'minute', partitionKey: { paths: ['/pk'], kind: 'Hash' } },
  });
  expect(created.status).toBe(201);
  const offer = await offerOf(database.container('minute'));
  expect(offer.content?.offerIsRUPerMinuteThroughputEnabled).toBe(true);
  const throughputBuckets = [{ id: 2, maxThroughputPercentage: 30 }];
  const changed = await put(offer, { offerThroughput: 500, throughputBuckets });
  expect(changed.json.content).toMatchObject({
    offerThroughput: 500,
    offerIsRUPerMinuteThroughputEnabled: true,
    throughputBuckets,
  });
  const off = await put(changed.json, { offerIsRUPerMinuteThroughputEnabled: false });
  expect(off.json.content).toMatchObject({
    offerThroughput: 500,
    offerIsRUPerMinuteThroughputEnabled: false,
    throughputBuckets,
  });
});

test('a database owns throughput; a container inside may have its own; each offer changes by itself', async () => {
  const { database: shared } = await client.databases.create({ id: 'sharing', throughput: 500 });
  await shared.containers.create({ id: 'member', partitionKey: '/pk' });
  const { container: own } = await shared.containers.create({
    id: 'own',
    partitionKey: '/pk',
    throughput: 700,
  });
  const offer = await offerOf(shared);
  const reply = await put(offer, { offerThroughput: 800 });
  expect(reply.json.content.offerThroughput).toBe(800);
  expect((await offerOf(own)).content?.offerThroughput).toBe(700);
  await shared.delete();
  const { resources } = await client.offers.readAll().fetchAll();
  expect(resources.filter(({ id }) => id === offer.id)).toEqual([]);
});

test('an offer that is not there, another id, another version', async () => {
  const offer = await offerOf(await create({ throughput: 400 }));
  expect((await put({ ...offer, id: 'AAAA' }, {})).status).toBe(404);
  const renamed = await sendRaw(account, {
    method: 'PUT',
    path: `/offers/${offer.id}`,
    link: offer.id?.toLowerCase() ?? '',
    body: { ...offer, id: 'other', _rid: 'other' },
  });
  expect(renamed.status).toBe(400);
  const stale = await put(offer, { offerThroughput: 500 }, { 'if-match': '"stale"' });
  expect(stale.status).toBe(412);
});

test('a path below an offer is a bad id', async () => {
  const offer = await offerOf(await create({ throughput: 400 }));
  const wrong = client.offer(offer._self).replace(offer as OfferDefinition);
  await expect(wrong).rejects.toMatchObject({ code: 400 });
});

test('an id that no offer can have is malformed, another is not found', async () => {
  const read = async (id: string) =>
    (await sendRaw(account, { path: `/offers/${id}`, link: id.toLowerCase() })).status;
  expect(await read('no-offer')).toBe(400);
  const offer = await offerOf(await create({ throughput: 400 }));
  expect(await read(offer.id as string)).toBe(200);
  expect(await read('zzzz')).toBe(404);
});
