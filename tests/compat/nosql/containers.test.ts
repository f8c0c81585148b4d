// Goal: containers, their policies, ranges and offers. Method: the stock SDK, tables of definitions and refusals.
import {
  type Container,
  type ContainerRequest,
  type Database,
  GeospatialType,
  type PartitionKeyDefinitionVersion,
  PartitionKeyKind,
} from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';
import { sendRaw } from './raw-request.ts';

let account: Account;
let database: Database;
let count = 0;

beforeAll(async () => {
  account = await startAccount();
  ({ database } = await account.client().databases.create({ id: 'db' }));
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function create(request: ContainerRequest = {}): Promise<Container> {
  const { container } = await database.containers.create({ id: `c${count++}`, ...request });
  return container;
}

test('a container comes back with every default', async () => {
  const { resource, statusCode, headers } = await database.containers.create({
    id: 'defaults',
    partitionKey: '/pk',
  });
  expect(statusCode).toBe(201);
  const databaseRid = (await database.read()).resource?._rid;
  const self = `dbs/${databaseRid}/colls/${resource?._rid}/`;
  expect(resource).toEqual({
    id: 'defaults',
    indexingPolicy: {
      indexingMode: 'consistent',
      automatic: true,
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/"_etag"/?' }],
    },
    partitionKey: { paths: ['/pk'], kind: 'Hash' },
    conflictResolutionPolicy: {
      mode: 'LastWriterWins',
      conflictResolutionPath: '/_ts',
      conflictResolutionProcedure: '',
    },
    geospatialConfig: { type: 'Geography' },
    _rid: expect.stringMatching(/^[A-Za-z0-9+-]{11}=$/),
    _self: self,
    _etag: headers.etag,
    _ts: expect.any(Number),
    _docs: 'docs/',
    _sprocs: 'sprocs/',
    _triggers: 'triggers/',
    _udfs: 'udfs/',
    _conflicts: 'conflicts/',
  });
  expect(headers['x-ms-content-path']).toBe(resource?._rid);
  // Java's client appends the container's name to this path: it is the owner's.
  expect(headers['x-ms-alt-content-path']).toBe('dbs/db');
  const read = await database.container('defaults').read();
  expect(read.resource).toEqual(resource);
  expect(read.headers['x-ms-documentdb-collection-index-transformation-progress']).toBe('100');
  expect(read.headers).not.toHaveProperty('x-ms-documentdb-collection-lazy-indexing-progress');
});

test('definitions come back as they were made', async () => {
  const request: ContainerRequest = {
    partitionKey: { paths: ['/a', '/b', '/c'], kind: PartitionKeyKind.MultiHash, version: 2 },
    defaultTtl: 60,
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/x', '/y/z'] }] },
    indexingPolicy: {
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/"big"/*' }],
      compositeIndexes: [
        [
          { path: '/a', order: 'ascending' },
          { path: '/b', order: 'descending' },
        ],
      ],
    },
    computedProperties: [{ name: 'lower', query: 'SELECT VALUE LOWER(c.name) FROM c' }],
  };
  const { resource } = await (await create(request)).read();
  expect(resource).toMatchObject({
    partitionKey: { paths: ['/a', '/b', '/c'], kind: 'MultiHash', version: 2 },
    defaultTtl: 60,
    uniqueKeyPolicy: request.uniqueKeyPolicy,
    computedProperties: request.computedProperties,
  });
  expect(resource?.indexingPolicy?.compositeIndexes).toEqual(
    request.indexingPolicy?.compositeIndexes,
  );
  expect(resource?.indexingPolicy?.excludedPaths).toEqual([
    { path: '/"big"/*' },
    { path: '/"_etag"/?' },
  ]);
});

test("the version of a partition key may be written as Java's client writes it", async () => {
  const paths = ['/a', '/b'];
  const version = 'V2' as unknown as PartitionKeyDefinitionVersion;
  const made = await create({ partitionKey: { paths, kind: PartitionKeyKind.MultiHash, version } });
  expect((await made.read()).resource?.partitionKey).toMatchObject({ paths, version: 2 });
});

test.each<[string, object, RegExp]>([
  ['paths as text', { partitionKey: { paths: '/id' } }, /array of at least one path/],
  ['no paths', { partitionKey: { paths: [] } }, /array of at least one path/],
  [
    'a space in a path',
    { partitionKey: { paths: ['/id ds'] } },
    /'\/id ds' could not be accepted.*must contain only valid characters and not contain a trailing slash or wildcard/,
  ],
  ['a wildcard', { partitionKey: { paths: ['/a/*'] } }, /could not be accepted/],
  ['a trailing slash', { partitionKey: { paths: ['/a/'] } }, /could not be accepted/],
  [
    'no leading slash',
    { partitionKey: { paths: ['id', '/id2'], kind: 'MultiHash', version: 2 } },
    /The partition key component definition path 'id' could not be accepted/,
  ],
  ['two paths of kind Hash', { partitionKey: { paths: ['/a', '/b'] } }, /Too many partition key/],
  [
    'four levels',
    { partitionKey: { paths: ['/a', '/b', '/c', '/d'], kind: 'MultiHash' } },
    /Too many partition key paths specified: 4/,
  ],
  ['an unknown kind', { partitionKey: { paths: ['/a'], kind: 'Round' } }, /Hash or MultiHash/],
  ['an unknown version', { partitionKey: { paths: ['/a'], version: 3 } }, /must be 1 or 2/],
  ['a system property', { partitionKey: { paths: ['/_ts'] } }, /the service sets/],
  ['no key at all', { partitionKey: null }, /definition is missing/],
  ['a policy without end', { clientEncryptionPolicy: nested(5000) }, /more than 128 levels/],
  ['a ttl of 0', { defaultTtl: 0 }, /defaultTtl is invalid/],
  ['a ttl of -2', { defaultTtl: -2 }, /defaultTtl is invalid/],
  ['a ttl of 1.5', { defaultTtl: 1.5 }, /defaultTtl is invalid/],
  ['a unique key without paths', { uniqueKeyPolicy: { uniqueKeys: [{}] } }, /1 to 16 paths/],
  [
    'flat space without bounds',
    {
      indexingPolicy: { spatialIndexes: [{ path: '/l/?', types: ['Point'] }] },
      geospatialConfig: { type: 'Geometry' },
    },
    /boundingBox.*Geometry/,
  ],
  [
    'a globe with bounds',
    {
      indexingPolicy: {
        spatialIndexes: [{ path: '/l/?', boundingBox: { xmin: 0, ymin: 0, xmax: 1, ymax: 1 } }],
      },
    },
    /boundingBox.*Geography/,
  ],
  [
    'a vector index without an embedding',
    {
      indexingPolicy: { vectorIndexes: [{ path: '/vector2', type: 'flat' }] },
      vectorEmbeddingPolicy: {
        vectorEmbeddings: [
          { path: '/v', dataType: 'float32', dimensions: 5, distanceFunction: 'cosine' },
        ],
      },
    },
    /vector2 not matching in Embedding's path/,
  ],
  [
    'a vector of no dimensions',
    {
      vectorEmbeddingPolicy: {
        vectorEmbeddings: [
          { path: '/v', dataType: 'float32', dimensions: -1, distanceFunction: 'cosine' },
        ],
      },
    },
    /has invalid Dimensions:-1, it should be positive integer/,
  ],
])('%s is refused', async (_, definition, message) => {
  const body = { id: 'refused', partitionKey: { paths: ['/pk'] }, ...definition };
  const reply = await sendRaw(account, { method: 'POST', path: '/dbs/db/colls', body });
  expect([reply.status, reply.json.code]).toEqual([400, 'BadRequest']);
  expect(reply.json.message).toMatch(message);
});

function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

test('replacing changes policies, never name or key', async () => {
  const container = await create({ partitionKey: '/pk' });
  const { resource } = await container.read();
  if (resource === undefined) throw new Error('not found');
  resource.defaultTtl = 100;
  resource.geospatialConfig = { type: GeospatialType.Geometry };
  resource.indexingPolicy = {
    ...resource.indexingPolicy,
    spatialIndexes: [
      {
        path: '/region/?',
        types: ['Polygon'],
        boundingBox: { xmin: 0, ymin: 0, xmax: 9, ymax: 9 },
      },
    ],
  } as NonNullable<typeof resource.indexingPolicy>;
  const replaced = await container.replace(resource);
  expect(replaced.resource).toMatchObject({ defaultTtl: 100, _rid: resource._rid });
  expect(replaced.resource?._etag).not.toBe(resource._etag);
  const otherKey = { ...resource, partitionKey: { paths: ['/key'] } };
  await expect(container.replace(otherKey)).rejects.toMatchObject({ code: 400 });
  const stale = { accessCondition: { type: 'IfMatch', condition: resource._etag } };
  await expect(container.replace(resource, stale)).rejects.toMatchObject({ code: 412 });
  const renamed = await sendRaw(account, {
    method: 'PUT',
    path: `/dbs/db/colls/${container.id}`,
    body: { ...resource, id: 'renamed' },
  });
  expect(renamed.status).toBe(400);
});

test('a deleted container is gone with its items and its offer', async () => {
  const container = await create({ throughput: 400 });
  await container.items.create({ id: 'x' });
  const { resource: offer } = await container.readOffer();
  await container.delete();
  await expect(container.read()).rejects.toMatchObject({ code: 404 });
  await expect(
    account
      .client()
      .offer(offer?.id as string)
      .read(),
  ).rejects.toMatchObject({
    code: 404,
  });
  const reading = await sendRaw(account, {
    path: `/dbs/db/colls/${container.id}/docs/x`,
    headers: { 'x-ms-documentdb-partitionkey': '["x"]' },
  });
  expect([reading.status, reading.headers['x-ms-substatus']]).toEqual([404, '1003']);
});

test('quota and usage come on request', async () => {
  const container = await create({ partitionKey: '/pk' });
  await container.items.create({ id: 'x', pk: 'x', text: 'y'.repeat(3000) });
  const { headers } = await container.read({ populateQuotaInfo: true });
  expect(headers['x-ms-resource-quota']).toContain('collectionSize=10485760;');
  expect(headers['x-ms-resource-usage']).toMatch(/documentsCount=1;collectionSize=[34];/);
  expect((await container.read()).headers).not.toHaveProperty('x-ms-resource-quota');
});

test.each([
  [400, 1],
  [10_000, 1],
  [10_100, 2],
  [25_000, 3],
])('%i RU/s give %i ranges that tile the hash space', async (throughput, ranges) => {
  for (const version of [1, 2]) {
    const container = await create({ partitionKey: { paths: ['/pk'], version }, throughput });
    const { resources } = await container.readPartitionKeyRanges().fetchAll();
    expect(resources).toHaveLength(ranges);
    let end = '';
    for (const range of resources) {
      expect(range.minInclusive).toBe(end);
      end = range.maxExclusive;
      expect(range).toMatchObject({ status: 'online', parents: [] });
    }
    expect(end).toBe('FF');
    expect(resources.map(({ id }) => id)).toEqual(
      Array.from({ length: ranges }, (_, at) => String(at)),
    );
  }
});

test('ranges that have not changed are not sent again', async () => {
  const container = await create();
  const path = `/dbs/db/colls/${container.id}/pkranges`;
  const first = await sendRaw(account, { path });
  const etag = first.headers.etag as string;
  const again = await sendRaw(account, {
    path,
    headers: { 'if-none-match': etag, 'a-im': 'Incremental Feed' },
  });
  expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
});

test('every container has its offer, found by link, id and list', async () => {
  const client = account.client();
  const container = await create({ throughput: 700 });
  const { resource: definition } = await container.read();
  const { resource: offer } = await container.readOffer();
  expect(offer).toMatchObject({
    offerVersion: 'V2',
    offerType: 'Invalid',
    resource: definition?._self,
    offerResourceId: definition?._rid,
    content: { offerThroughput: 700 },
  });
  const id = offer?.id as string;
  expect((await client.offer(id).read()).resource).toEqual(offer);
  const query = {
    query: 'select * FROM root r WHERE r.id=@id',
    parameters: [{ name: '@id', value: id }],
  };
  expect((await client.offers.query(query).fetchAll()).resources).toEqual([offer]);
  const { resources } = await client.offers.readAll().fetchAll();
  expect(resources.filter(({ _rid }) => _rid === id)).toEqual([offer]);
});

test('autoscale is kept with the offer', async () => {
  const container = await create({ maxThroughput: 4000 });
  const { resource } = await container.readOffer();
  expect(resource?.content?.offerAutopilotSettings).toMatchObject({ maxThroughput: 4000 });
});

test('containers share the throughput of their database', async () => {
  const client = account.client();
  const { database: shared } = await client.databases.create({ id: 'shared', throughput: 1000 });
  const { container } = await shared.containers.create({ id: 'c', partitionKey: '/pk' });
  expect((await container.readOffer()).resource).toBeUndefined();
  const { container: own } = await shared.containers.create({ id: 'own', throughput: 400 });
  expect((await own.readOffer()).resource?.content?.offerThroughput).toBe(400);
});

test('lists of containers come in pages, and by id', async () => {
  const { database: listed } = await account.client().databases.create({ id: 'listed' });
  for (const id of ['a', 'b', 'c']) await listed.containers.create({ id });
  const feed = listed.containers.readAll({ maxItemCount: 2 });
  const first = await feed.fetchNext();
  expect(first.resources.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(first.hasMoreResults).toBe(true);
  expect((await feed.fetchNext()).resources.map(({ id }) => id)).toEqual(['c']);
  const query = { query: 'SELECT * FROM root r WHERE r.id = "b"' };
  const { resources } = await listed.containers.query(query).fetchAll();
  expect(resources.map(({ id }) => id)).toEqual(['b']);
  await expect(listed.containers.create({ id: 'a' })).rejects.toMatchObject({ code: 409 });
});

test('a new container has no scripts and no conflicts', async () => {
  const { scripts, conflicts } = await create();
  expect((await scripts.storedProcedures.readAll().fetchAll()).resources).toEqual([]);
  expect((await scripts.triggers.readAll().fetchAll()).resources).toEqual([]);
  expect((await scripts.userDefinedFunctions.readAll().fetchAll()).resources).toEqual([]);
  expect((await conflicts.readAll().fetchAll()).resources).toEqual([]);
  await expect(scripts.storedProcedure('s').read()).rejects.toMatchObject({ code: 404 });
});

test('defaultTtl: null is no lifetime', async () => {
  const spec = { id: 'null-lifetime', partitionKey: '/id', defaultTtl: null } as never;
  await expect(database.containers.create(spec)).rejects.toMatchObject({ code: 400 });
});

test('a conflict is deleted by its partition key', async () => {
  const path = `${(await create()).url}/conflicts/x`;
  const remove = (headers: Record<string, string>) =>
    sendRaw(account, { method: 'DELETE', path: `/${path}`, headers });
  expect((await remove({})).status).toBe(400);
  expect((await remove({ 'x-ms-documentdb-partitionkey': '["x"]' })).status).toBe(404);
});
