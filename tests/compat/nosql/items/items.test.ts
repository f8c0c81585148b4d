// Goal: point operations on items: keys, ids, sizes, etags, responses. Method: the stock SDK, raw requests for what it cannot send.
import { type Container, type Database, type PartitionKey, PartitionKeyKind } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

let account: Account;
let database: Database;
let container: Container;

beforeAll(async () => {
  account = await startAccount();
  ({ database } = await account.client().databases.create({ id: 'db' }));
  ({ container } = await database.containers.create({
    id: 'items',
    partitionKey: '/pk',
    throughput: 25_000,
  }));
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

test('an item comes back with its system properties, and the same bytes at every read', async () => {
  const created = await container.items.create({ id: 'a', pk: 'p', n: 1, text: '鱀 €' });
  const containerRid = (await container.read()).resource?._rid as string;
  const databaseRid = (await database.read()).resource?._rid;
  const { resource, headers } = created;
  expect(Object.keys(resource ?? {})).toEqual(
    'id,pk,n,text,_rid,_self,_etag,_attachments,_ts'.split(','),
  );
  expect(resource?._self).toBe(`dbs/${databaseRid}/colls/${containerRid}/docs/${resource?._rid}/`);
  expect(resource?._etag).toMatch(/^"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/);
  expect(headers).toMatchObject({
    etag: resource?._etag,
    'x-ms-content-path': containerRid,
    'x-ms-alt-content-path': 'dbs/db/colls/items',
    'x-ms-request-charge': '4.95',
    'content-type': 'application/json',
  });
  expect(headers['x-ms-session-token']).toMatch(/^[012]:-1#\d+$/);
  expect(headers['x-ms-activity-id']).toMatch(/^[0-9a-f-]{36}$/);
  const path = '/dbs/db/colls/items/docs/a';
  const key = { 'x-ms-documentdb-partitionkey': '["p"]' };
  const first = await sendRaw(account, { path, headers: key });
  const second = await sendRaw(account, { path, headers: key });
  expect(first.text).toBe(JSON.stringify(resource));
  expect(second.text).toBe(first.text);
  expect(first.headers['x-ms-request-charge']).toBe('1');
});

test('system properties that a client sends back are the service’s to set', async () => {
  const { resource } = await container.items.create({ id: 'sent back', pk: 'p' });
  const sent = { ...resource, _ts: 1, _etag: 'mine', more: true, id: 'sent back', pk: 'p' };
  const replaced = await container.item('sent back', 'p').replace(sent);
  expect(replaced.resource).toMatchObject({ more: true, _rid: resource?._rid });
  expect(replaced.resource?._etag).not.toBe('mine');
  expect(replaced.resource?._ts).toBeGreaterThan(1_600_000_000);
  const { text } = await sendRaw(account, {
    path: '/dbs/db/colls/items/docs/sent%20back',
    headers: { 'x-ms-documentdb-partitionkey': '["p"]' },
  });
  expect(text.match(/"_etag"/g)).toHaveLength(1);
});

describe('every kind of partition key value', () => {
  const values: [string, PartitionKey | undefined, object][] = [
    ['missing', undefined, {}],
    ['null', null, { pk: null }],
    ['false', false, { pk: false }],
    ['true', true, { pk: true }],
    ['zero', 0, { pk: 0 }],
    ['a fraction', -1.5, { pk: -1.5 }],
    ['a large number', 1e300, { pk: 1e300 }],
    ['empty text', '', { pk: '' }],
    ['text', 'x', { pk: 'x' }],
    ['text of another script', '鱀"\\/\u2028', { pk: '鱀"\\/\u2028' }],
    ['long text', 'k'.repeat(2000), { pk: 'k'.repeat(2000) }],
  ];

  test.each([1, 2])('are places of their own with hash version %i', async (version) => {
    const { container: keyed } = await database.containers.create({
      id: `keyed ${version}`,
      partitionKey: { paths: ['/pk'], version },
      throughput: 25_000,
    });
    for (const [name, , properties] of values)
      expect((await keyed.items.create({ id: 'same', name, ...properties })).statusCode).toBe(201);
    for (const [name, value] of values) {
      const { resource } = await keyed.item('same', value as PartitionKey).read();
      expect(resource?.name).toBe(name);
    }
    const { resources } = await keyed.items.readAll().fetchAll();
    expect(resources.map(({ name }) => name).sort()).toEqual(values.map(([name]) => name).sort());
    for (const [, value] of values)
      expect((await keyed.item('same', value as PartitionKey).delete()).statusCode).toBe(204);
    expect((await keyed.items.readAll().fetchAll()).resources).toEqual([]);
  });

  test('nested and quoted paths', async () => {
    const { container: nested } = await database.containers.create({
      id: 'nested',
      partitionKey: { paths: ['/address/"zip code"'] },
    });
    await nested.items.create({ id: 'x', address: { 'zip code': '12345' } });
    expect((await nested.item('x', '12345').read()).resource?.id).toBe('x');
  });

  test.each([
    ['two', { paths: ['/a', '/b'] }],
    ['three', { paths: ['/a', '/b', '/c'] }],
  ])('%s levels', async (name, { paths }) => {
    const { container: levels } = await database.containers.create({
      id: `levels ${name}`,
      partitionKey: { paths, kind: PartitionKeyKind.MultiHash, version: 2 },
    });
    const keys = [
      ['x', 'y', 'z'],
      ['x', 'y', undefined],
      ['x', null, 5],
      [undefined, undefined, undefined],
    ].map((key) => key.slice(0, paths.length));
    const distinct = [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()];
    for (const [a, b, c] of distinct) await levels.items.create({ id: 'same', a, b, c });
    for (const key of distinct) {
      const { resource } = await levels.item('same', key as PartitionKey).read();
      expect([resource?.a, resource?.b, resource?.c].slice(0, paths.length)).toEqual(key);
    }
    await expect(levels.item('same', ['x'] as PartitionKey).read()).rejects.toMatchObject({
      code: 400,
      substatus: 1001,
    });
  });
});

test('the same id lives once under each key', async () => {
  for (const pk of ['one', 'two']) await container.items.create({ id: 'both', pk });
  await expect(container.items.create({ id: 'both', pk: 'one' })).rejects.toMatchObject({
    code: 409,
    body: { code: 'Conflict' },
    headers: expect.objectContaining({ 'x-ms-session-token': expect.any(String) }),
  });
  await container.item('both', 'one').delete();
  expect((await container.item('both', 'one').read()).statusCode).toBe(404);
  expect((await container.item('both', 'two').read()).resource?.pk).toBe('two');
});

test.each([
  ['plain', 'Test'],
  ['spaces', 'This is a test'],
  ['leading spaces', '   Test'],
  ['trailing spaces', 'Test   '],
  ['another script', 'WithUnicode鱀'],
  ['special characters', 'WithAllowedSpecial,=.:~+-@()^{$}[]!_Chars'],
  [
    'base64 characters',
    'BQE1D3PdG4N4bzU9TKaCIM3qc0TVcZ2-Y3jnsRfwdHC1ombkX3F1dot-SG0-UTq9AbgdX3kOWoP6qL6lJqWeKgV3zwWWPZO-t5X0ehJzv9LGkWld07LID2rhWhGT6huBM6Q=',
  ],
  ['a percent-encoded space', 'IdEndingWithPercentEncodedWhitespace%20'],
  ['percent-encoded text', 'WithPercentEncodedSpecialChar%E9%B1%80'],
  ['a percent sign', '100% %zz'],
  ['a question mark', 'Disallowed?Chars'],
  ['an ampersand', 'a&b=c'],
  ['quotation marks', `"both" 'kinds'`],
  ['a carriage return', 'With\rCarriageReturn'],
  ['a tab', 'With\tTab'],
  ['a line feed', 'With\nLineFeed'],
  ['255 characters', 'x'.repeat(255)],
  ['255 characters of another script', '鱀'.repeat(255)],
  ['1023 bytes', 'x'.repeat(1023)],
  ['the shape of a resource id', 'abcdAA=='],
  ['a name of every object', 'constructor'],
  ['a name of every prototype', '__proto__'],
])('an id with %s', async (_, id) => {
  const created = await container.items.create({ id, pk: id });
  expect(created.statusCode).toBe(201);
  const item = container.item(id, id);
  expect((await item.read()).resource).toMatchObject({ id, pk: id });
  expect((await item.replace({ id, pk: id, n: 1 })).statusCode).toBe(200);
  expect((await container.items.upsert({ id, pk: id, n: 2 })).statusCode).toBe(200);
  expect((await item.delete()).statusCode).toBe(204);
});

test.each([
  ['no id', { pk: 'p' }, /required properties - 'id; ' - are missing/],
  ['an empty id', { id: '', pk: 'p' }, /non-empty string/],
  ['a number', { id: 7, pk: 'p' }, /non-empty string/],
  ['a slash', { id: 'a/b', pk: 'p' }, /illegal chars/],
  ['a backslash', { id: 'a\\b', pk: 'p' }, /illegal chars/],
  ['a number sign', { id: 'a#b', pk: 'p' }, /illegal chars/],
  ['1024 bytes', { id: 'x'.repeat(1024), pk: 'p' }, /less than '1024' characters/],
  ['half a character', '{"id":"\\ud800","pk":"p"}', /valid Unicode/],
  ['a list', '[]', /JSON object is expected/],
  ['a text', '"x"', /JSON object is expected/],
  ['null', 'null', /JSON object is expected/],
  ['nothing', '', /body is empty/],
  ['broken JSON', '{"id":"a","pk":"p"', /not valid JSON/],
  ['a number too large', '{"id":"a","pk":"p","n":1e999}', /beyond the range/],
  ['a ttl of 0', { id: 'a', pk: 'p', ttl: 0 }, /ttl is invalid/],
  ['a ttl of -2', { id: 'a', pk: 'p', ttl: -2 }, /ttl is invalid/],
  ['a ttl of 1.5', { id: 'a', pk: 'p', ttl: 1.5 }, /ttl is invalid/],
  ['a ttl of text', { id: 'a', pk: 'p', ttl: '5' }, /ttl is invalid/],
  ['129 levels', nest(129), /more than 128 levels/],
])('an item with %s is refused', async (_, body, message) => {
  const reply = await sendRaw(account, {
    method: 'POST',
    path: '/dbs/db/colls/items/docs',
    headers: { 'x-ms-documentdb-partitionkey': '["p"]' },
    body,
  });
  expect([reply.status, reply.json.code]).toEqual([400, 'BadRequest']);
  expect(reply.json.message).toMatch(message);
});

function nest(levels: number): string {
  return `{"id":"deep","pk":"p","v":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
}

test('128 levels are accepted', async () => {
  const reply = await sendRaw(account, {
    method: 'POST',
    path: '/dbs/db/colls/items/docs',
    headers: { 'x-ms-documentdb-partitionkey': '["p"]' },
    body: nest(128),
  });
  expect(reply.status).toBe(201);
});

test.each([
  ['none', {}, 400, undefined, /must be supplied/],
  ['another value', { key: '["q"]' }, 400, '1001', /doesn't match/],
  ['another type', { key: '[1]' }, 400, '1001', /doesn't match/],
  ['two values', { key: '["p","p"]' }, 400, '1001', /doesn't match/],
  ['no values', { key: '[]' }, 400, '1001', /doesn't match/],
  ['no list', { key: '"p"' }, 400, undefined, /is invalid/],
  ['no JSON', { key: '["p' }, 400, undefined, /is invalid/],
  ['an object', { key: '[{"a":1}]' }, 400, undefined, /is invalid/],
  ['a list in a list', { key: '[["p"]]' }, 400, undefined, /is invalid/],
])('the key header with %s is refused', async (_, { key }: { key?: string }, status, sub, text) => {
  const reply = await sendRaw(account, {
    method: 'POST',
    path: '/dbs/db/colls/items/docs',
    headers: key === undefined ? {} : { 'x-ms-documentdb-partitionkey': key },
    body: { id: 'keyed', pk: 'p' },
  });
  expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([status, sub]);
  expect(reply.json.message).toMatch(text);
});

test('objects and lists where the key should be count as missing', async () => {
  for (const pk of [{ a: 1 }, [1]]) {
    const reply = await sendRaw(account, {
      method: 'POST',
      path: '/dbs/db/colls/items/docs',
      headers: { 'x-ms-documentdb-partitionkey': '[{}]' },
      body: { id: `odd ${Array.isArray(pk)}`, pk },
    });
    expect(reply.status).toBe(201);
  }
});

test('etags: If-Match on writes, If-None-Match on reads', async () => {
  const { resource } = await container.items.create({ id: 'tagged', pk: 'p' });
  const etag = resource?._etag as string;
  const item = container.item('tagged', 'p');
  const held = await item.read({ accessCondition: { type: 'IfNoneMatch', condition: etag } });
  expect([held.statusCode, held.resource ?? null]).toEqual([304, null]);
  const body = { id: 'tagged', pk: 'p', n: 1 };
  const wrong = { accessCondition: { type: 'IfMatch', condition: '"wrong"' } };
  const right = { accessCondition: { type: 'IfMatch', condition: etag } };
  await expect(item.replace(body, wrong)).rejects.toMatchObject({
    code: 412,
    body: { code: 'PreconditionFailed' },
    headers: expect.objectContaining({ 'x-ms-session-token': expect.any(String) }),
  });
  await expect(container.items.upsert(body, wrong)).rejects.toMatchObject({ code: 412 });
  await expect(item.delete(wrong)).rejects.toMatchObject({ code: 412 });
  const replaced = await item.replace(body, right);
  expect(replaced.statusCode).toBe(200);
  await expect(item.replace(body, right)).rejects.toMatchObject({ code: 412 });
  const changed = await item.read({ accessCondition: { type: 'IfNoneMatch', condition: etag } });
  expect(changed.statusCode).toBe(200);
  const any = { accessCondition: { type: 'IfMatch', condition: '*' } };
  expect((await item.delete(any)).statusCode).toBe(204);
});

test('replacing what is not there, or under another id or key', async () => {
  const missing = container.item('missing', 'p');
  await expect(missing.replace({ id: 'missing', pk: 'p' })).rejects.toMatchObject({ code: 404 });
  await expect(missing.delete()).rejects.toMatchObject({ code: 404 });
  await container.items.create({ id: 'renamed', pk: 'p' });
  const renamed = await container.item('renamed', 'p').replace({ id: 'other', pk: 'p' });
  expect([renamed.statusCode, renamed.resource?.id]).toEqual([200, 'other']);
  expect((await container.item('renamed', 'p').read()).statusCode).toBe(404);
  expect((await container.item('other', 'p').read()).resource?.id).toBe('other');
  await container.items.create({ id: 'taken', pk: 'p' });
  const onto = container.item('other', 'p').replace({ id: 'taken', pk: 'p' });
  await expect(onto).rejects.toMatchObject({ code: 409 });
  expect((await container.item('other', 'p').read()).statusCode).toBe(200);
  const moved = container.item('other', 'p').replace({ id: 'other', pk: 'q' });
  await expect(moved).rejects.toMatchObject({ code: 400, substatus: 1001 });
});

test('1.9 MB are accepted, 2.2 MB are too large', async () => {
  const item = (bytes: number) => ({ id: 'large', pk: 'p', text: 'x'.repeat(bytes) });
  const created = await container.items.create(item(1_900_000));
  expect(created.statusCode).toBe(201);
  expect((await container.item('large', 'p').read()).resource?.text).toHaveLength(1_900_000);
  const refused = container.items.upsert(item(2_200_000));
  await expect(refused).rejects.toMatchObject({
    code: 413,
    body: {
      code: 'RequestEntityTooLarge',
      message: expect.stringContaining('Message: {"Errors":["Request size is too large"]}\r\n'),
    },
  });
  expect((await container.item('large', 'p').read()).resource?.text).toHaveLength(1_900_000);
});

test('far too large bodies are refused before they are read', async () => {
  const reply = await sendRaw(account, {
    method: 'POST',
    path: '/dbs/db/colls/items/docs',
    headers: { 'content-length': String(64 * 1024 * 1024) },
    body: '{"id":"x"',
  }).catch((error) => error);
  // The connection closes while the client still sends: it reads the refusal, or learns of the reset.
  if (!(reply instanceof Error)) expect(reply.status).toBe(413);
});

test('a minimal response has no body but all headers', async () => {
  const reply = await sendRaw(account, {
    method: 'POST',
    path: '/dbs/db/colls/items/docs',
    headers: { 'x-ms-documentdb-partitionkey': '["p"]', prefer: 'return=minimal' },
    body: { id: 'minimal', pk: 'p' },
  });
  expect([reply.status, reply.text]).toEqual([201, '']);
  expect(reply.headers).toMatchObject({
    etag: expect.any(String),
    'preference-applied': 'return=minimal',
    'x-ms-session-token': expect.any(String),
  });
});

test('charges follow the documented table', async () => {
  const small = await container.items.create({ id: 'charged', pk: 'p' });
  expect(small.requestCharge).toBe(4.95);
  const text = 'x'.repeat(100 * 1024);
  const large = await container.items.create({ id: 'charged more', pk: 'p', text });
  expect(large.requestCharge).toBeGreaterThan(22.67);
  expect(large.requestCharge).toBeLessThan(48.19);
  expect((await container.item('charged', 'p').read()).requestCharge).toBe(1);
  expect((await container.item('never', 'p').read()).requestCharge).toBe(1);
});

test('a client’s activity id comes back', async () => {
  const id = '11111111-2222-3333-4444-555555555555';
  const { headers } = await sendRaw(account, { path: '/dbs', headers: { 'x-ms-activity-id': id } });
  expect(headers['x-ms-activity-id']).toBe(id);
});

test('requests for a container that was created again are refused as such', async () => {
  const reply = await sendRaw(account, {
    path: '/dbs/db/colls/items/docs/a',
    headers: {
      'x-ms-documentdb-partitionkey': '["p"]',
      'x-ms-cosmos-intended-collection-rid': 'AAAAAIAAAAE=',
    },
  });
  expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([400, '1024']);
});
