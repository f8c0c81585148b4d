// Goal: no input brings the server down or gets a response without a JSON body. Method: seeded random requests, malformed in
// every part, and random bytes on the bare socket; the seed is in the test's name and replays the run.
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Random, seededRandom } from '../../../src/base/index.ts';
import { type Account, startAccount } from './harness.ts';
import { type RawReply, type RawRequest, sendRaw, sign } from './raw-request.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? 20261115);
const REQUESTS = process.env.MESOCOSM_LONG === undefined ? 3000 : 100_000;
const CONNECTIONS = process.env.MESOCOSM_LONG === undefined ? 200 : 5000;

let account: Account;

beforeAll(async () => {
  account = await startAccount();
  await makeContainer();
});

async function makeContainer(): Promise<void> {
  const { database } = await account.client().databases.createIfNotExists({ id: 'db' });
  await database.containers.createIfNotExists({
    id: 'c',
    partitionKey: '/pk',
    throughput: 25_000,
  });
}

afterAll(() => account.close());

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'];

const PATHS = [
  '/',
  '/dbs',
  '/dbs/db',
  '/dbs/db/colls',
  '/dbs/db/colls/c',
  '/dbs/db/colls/c/docs',
  '/dbs/db/colls/c/docs/a',
  '/dbs/db/colls/c/docs/a?b',
  '/dbs/db/colls/c/docs/%00',
  '/dbs/db/colls/c/docs/%E0%A4%A',
  '/dbs/db/colls/c/pkranges',
  '/dbs/db/colls/c/sprocs',
  '/dbs/db/colls/c/sprocs/s',
  '/dbs/db/colls/c/operations/partitionkeydelete',
  '/dbs/db/users/u/permissions',
  '/dbs/AAAAAA==/colls/AAAAAIAAAAE=',
  '/dbs/none/colls/none/docs/none',
  '/offers',
  '/offers/AAAA',
  '/nothing',
  '//dbs//db//',
  '/dbs/db/colls/c/docs/..',
  '/%2e%2e/%2e%2e',
  '/dbs/__proto__/colls/constructor',
];

const VALUES = [
  '',
  ' ',
  '0',
  '-1',
  '1',
  '1e9',
  '99999999999999999999',
  'true',
  'True',
  'false',
  '*',
  '"etag"',
  '[]',
  '["p"]',
  '[{}]',
  '[null]',
  '["p","q"]',
  '[[[[',
  '{"a":1}',
  '{"maxThroughput":4000}',
  'Strong',
  '0:-1#1',
  '0:-1#9999999999999999999999',
  'AAAA',
  'eyJ2IjoxLCJsZWZ0IjpbXX0=',
  'eyJ2IjoxLCJhZnRlciI6MX0=',
  'eyJ2IjoxLCJsZWZ0IjpbWyIiLCJGRiIsInoiXV19',
  '00',
  'FF',
  'xyz',
  'application/query+json',
  'Incremental Feed',
  '\u00e4\u00ff',
  'x'.repeat(2000),
];

const HEADERS = [
  'x-ms-documentdb-partitionkey',
  'x-ms-documentdb-partitionkeyrangeid',
  'x-ms-start-epk',
  'x-ms-end-epk',
  'x-ms-continuation',
  'x-ms-max-item-count',
  'x-ms-session-token',
  'x-ms-consistency-level',
  'x-ms-documentdb-is-upsert',
  'x-ms-documentdb-isquery',
  'x-ms-cosmos-is-query-plan-request',
  'x-ms-cosmos-is-batch-request',
  'x-ms-offer-throughput',
  'x-ms-offer-type',
  'x-ms-cosmos-offer-autopilot-settings',
  'x-ms-documentdb-populatequotainfo',
  'x-ms-indexing-directive',
  'x-ms-activity-id',
  'x-ms-version',
  'x-ms-date',
  'authorization',
  'content-type',
  'if-match',
  'if-none-match',
  'a-im',
  'prefer',
];

/** JSON of every kind, some of it nearly what is expected. */
function randomJson(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 4 ? 6 : 9);
  if (kind === 0) return null;
  if (kind === 1) return random.below(2) === 0;
  if (kind === 2) return random.below(1000) - 500;
  if (kind < 6) return pick(random, ['', 'a', 'p', '/pk', '/*', 'none', 'Hash', '鱀', '\u0000']);
  if (kind === 6)
    return Array.from({ length: random.below(4) }, () => randomJson(random, depth + 1));
  const names = [
    'id',
    'pk',
    'ttl',
    'partitionKey',
    'paths',
    'kind',
    'version',
    'indexingPolicy',
    'path',
    'includedPaths',
    'excludedPaths',
    'compositeIndexes',
    'spatialIndexes',
    'vectorIndexes',
    'vectorEmbeddingPolicy',
    'vectorEmbeddings',
    'uniqueKeyPolicy',
    'uniqueKeys',
    'defaultTtl',
    'query',
    'parameters',
    'name',
    'value',
    '_etag',
    '_rid',
    '__proto__',
    'geospatialConfig',
    'conflictResolutionPolicy',
    'computedProperties',
    'changeFeedPolicy',
    'fullTextPolicy',
  ];
  return Object.fromEntries(
    Array.from({ length: random.below(6) }, () => [
      pick(random, names),
      randomJson(random, depth + 1),
    ]),
  );
}

function randomBody(random: Random): string | Buffer {
  const text = JSON.stringify(randomJson(random)) ?? '';
  switch (random.below(6)) {
    case 0:
      return text.slice(0, random.below(text.length + 1));
    case 1:
      return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
    case 2:
      return '['.repeat(random.below(5000));
    case 3:
      return `{"id":"a","pk":"p","v":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`;
    default:
      return text;
  }
}

function randomRequest(random: Random): RawRequest {
  const headers: Record<string, string> = {};
  for (let count = random.below(4); count > 0; count--)
    headers[pick(random, HEADERS)] = pick(random, VALUES);
  const method = pick(random, METHODS);
  return {
    method,
    path: pick(random, PATHS),
    headers,
    ...(random.below(10) === 0 ? { key: 'AAAA' } : {}),
    ...(random.below(20) === 0 ? { date: pick(random, VALUES.slice(0, 10)) } : {}),
    ...(method === 'POST' || method === 'PUT' || method === 'PATCH'
      ? { body: randomBody(random) }
      : {}),
  };
}

function isProper(reply: RawReply, method: string): boolean {
  if (reply.status < 400) return true;
  if (reply.status >= 500) return false;
  if (method === 'HEAD') return true;
  const { code, message } = reply.json ?? {};
  return typeof code === 'string' && typeof message === 'string' && message.length > 0;
}

test(`random requests, seed ${SEED}`, async () => {
  const random = seededRandom(SEED);
  let unsendable = 0;
  for (let round = 0; round < REQUESTS; round++) {
    const request = randomRequest(random);
    const reply = await sendRaw(account, request).catch((error: Error) => error);
    const where = `seed ${SEED}, request ${round}: ${JSON.stringify(request).slice(0, 500)}`;
    if (reply instanceof Error) {
      unsendable++;
      continue;
    }
    if (reply.status === 204) await makeContainer();
    expect(isProper(reply, request.method ?? ''), `${where} → ${reply.status} ${reply.text}`).toBe(
      true,
    );
    expect(account.failures, where).toEqual([]);
  }
  expect(unsendable).toBeLessThan(REQUESTS / 10);
  await expectAlive();
});

test(`random bytes on the socket, seed ${SEED}`, async () => {
  const random = seededRandom(SEED);
  for (let round = 0; round < CONNECTIONS; round++) {
    const bytes = randomBytes(random);
    const response = await sendBytes(bytes, random.below(2) === 0);
    const where = `seed ${SEED}, connection ${round}: ${bytes.toString('latin1').slice(0, 200)}`;
    const status = /^HTTP\/1\.1 (\d{3})/.exec(response)?.[1];
    expect(response === '' || (status !== undefined && Number(status) < 500), where).toBe(true);
  }
  expect(account.failures).toEqual([]);
  await expectAlive();
});

/** Heads that begin well and go wrong, bodies that end early, lines that never end. */
function randomBytes(random: Random): Buffer {
  const date = new Date().toUTCString();
  const path = '/dbs/db/colls/c/docs';
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-ms-date: ${date}\r\nauthorization: ${sign({ method: 'POST', path, date })}\r\n`;
  const noise = Buffer.from(Array.from({ length: random.below(300) }, () => random.below(256)));
  switch (random.below(7)) {
    case 0:
      return noise;
    case 1:
      return Buffer.concat([Buffer.from(head), noise]);
    case 2:
      return Buffer.from(`${head}content-length: 100\r\n\r\n{"id":`);
    case 3:
      return Buffer.from(`${head}transfer-encoding: chunked\r\n\r\n5\r\n{"id"\r\nzz\r\n`);
    case 4:
      return Buffer.from(`${head}content-length: 7\r\n\r\n{"id":1${noise.toString('latin1')}`);
    case 5:
      return Buffer.from(`GET ${path} HTTP/1.1\r\nx: ${'y'.repeat(random.below(20_000))}`);
    default:
      return Buffer.from(head.slice(0, random.below(head.length)));
  }
}

/** All bytes received until one side closes. */
function sendBytes(bytes: Buffer, isCut: boolean): Promise<string> {
  return new Promise((resolve) => {
    let response = '';
    const socket = connect(account.port, '127.0.0.1', () => {
      socket.write(bytes, () => {
        if (isCut) socket.destroy();
        else socket.end();
      });
    });
    socket.on('data', (chunk) => {
      response += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(response));
  });
}

test('a connection that closes within a body causes no failure', async () => {
  const before = account.failures.length;
  const date = new Date().toUTCString();
  const path = '/dbs/db/colls/c/docs';
  const authorization = sign({ method: 'POST', path, date });
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-ms-date: ${date}\r\nauthorization: ${authorization}\r\ncontent-length: 50000\r\n\r\n`;
  for (let round = 0; round < 50; round++)
    await sendBytes(Buffer.from(head + 'x'.repeat(1000)), true);
  expect(account.failures).toHaveLength(before);
  await expectAlive();
});

test('chunked bodies without end are cut off', async () => {
  const date = new Date().toUTCString();
  const path = '/dbs/db/colls/c/docs';
  const authorization = sign({ method: 'POST', path, date });
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-ms-date: ${date}\r\nauthorization: ${authorization}\r\ntransfer-encoding: chunked\r\n\r\n`;
  const chunk = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
  let sentBytes = 0;
  const response = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(account.port, '127.0.0.1', () => {
      socket.write(head);
      const pump = (error?: Error | null): void => {
        if (error) return;
        sentBytes += chunk.length;
        if (sentBytes < 256 * 1024 * 1024) socket.write(chunk, pump);
      };
      pump();
    });
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
  expect(sentBytes).toBeLessThan(64 * 1024 * 1024);
  if (response !== '') expect(response).toMatch(/^HTTP\/1\.1 413/);
  await expectAlive();
});

async function expectAlive(): Promise<void> {
  const reply = await sendRaw(account, { path: '/dbs/db' });
  expect(reply.status).toBe(200);
}
