// Goal: partial updates through the stock client: results, conditions, etags, refusals, many at once.
// Method: the stock SDK; raw requests for what it cannot send.
import {
  type Container,
  type ErrorResponse,
  PartitionKeyKind,
  type PatchOperation,
} from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

let account: Account;
let container: Container;

beforeAll(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'db' });
  ({ container } = await database.containers.create({
    id: 'c',
    partitionKey: '/pk',
    defaultTtl: -1,
  }));
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const failure = (promise: Promise<unknown>): Promise<ErrorResponse> =>
  promise.then(
    () => expect.fail('was not refused'),
    (error: ErrorResponse) => error,
  );

test('a patch returns the item as it then is, and the item is found by what the patch wrote', async () => {
  const { resource: before } = await container.items.create({
    id: 'a',
    pk: 'p',
    n: 1,
    tags: ['x'],
  });
  const operations: PatchOperation[] = [
    { op: 'incr', path: '/n', value: 2 },
    { op: 'add', path: '/tags/-', value: 'y' },
    { op: 'set', path: '/seen', value: { who: 'me' } },
  ];
  const { resource, etag, statusCode } = await container.item('a', 'p').patch(operations);
  expect(statusCode).toBe(200);
  expect(resource).toMatchObject({
    n: 3,
    tags: ['x', 'y'],
    seen: { who: 'me' },
    _rid: before?._rid,
  });
  expect(resource?._etag).toBe(etag);
  expect(etag).not.toBe(before?._etag);
  expect((await container.item('a', 'p').read()).resource).toEqual(resource);
  const query = 'SELECT VALUE c.id FROM c WHERE c.seen.who = "me" AND c.n = 3';
  expect((await container.items.query(query).fetchAll()).resources).toEqual(['a']);
});

test('increments from many writers at once all count', async () => {
  await container.items.create({ id: 'count', pk: 'p', n: 0 });
  const item = container.item('count', 'p');
  await Promise.all(
    Array.from({ length: 50 }, () => item.patch([{ op: 'incr', path: '/n', value: 1 }])),
  );
  expect((await item.read()).resource.n).toBe(50);
});

test('conditions: a filter and an etag', async () => {
  const { resource } = await container.items.create({ id: 'cond', pk: 'p', state: 'open', n: 1 });
  const item = container.item('cond', 'p');
  const operations: PatchOperation[] = [{ op: 'incr', path: '/n', value: 1 }];
  const closed = 'from c where c.state = "closed"';
  expect(await failure(item.patch({ operations, condition: closed }))).toMatchObject({ code: 412 });
  const open = 'FROM x WHERE x.state = "open" AND x.n < 10 AND IS_DEFINED(x._ts)';
  expect((await item.patch({ operations, condition: open })).resource.n).toBe(2);
  const stale = { accessCondition: { type: 'IfMatch', condition: resource?._etag as string } };
  expect(await failure(item.patch(operations, stale))).toMatchObject({ code: 412 });
  const bad = await failure(item.patch({ operations, condition: 'from c where c.n =' }));
  expect(bad.code).toBe(400);
  expect(bad.message).toContain('SC1002');
  expect((await item.read()).resource.n).toBe(2);
});

test('refusals: missing item, keys, system properties, ttl, size', async () => {
  await container.items.create({ id: 'r', pk: 'p', deep: {} });
  const item = container.item('r', 'p');
  const set = (path: string, value: unknown): PatchOperation[] => [{ op: 'set', path, value }];
  expect(await failure(container.item('none', 'p').patch(set('/a', 1)))).toMatchObject({
    code: 404,
  });
  const key = await failure(item.patch(set('/pk', 'q')));
  expect([key.code, key.substatus]).toEqual([400, 1001]);
  const system = await failure(item.patch(set('/_etag', 'x')));
  expect(system.message).toContain('Invalid patch request: Cannot patch system property _etag.');
  expect(await failure(item.patch(set('/ttl', -5)))).toMatchObject({ code: 400 });
  await item.patch(set('/big', 'x'.repeat(1_500_000)));
  expect(await failure(item.patch(set('/more', 'x'.repeat(1_000_000))))).toMatchObject({
    code: 413,
  });
  const { resource } = await item.patch([{ op: 'remove', path: '/big' }]);
  expect(Object.keys(resource)).toEqual('id,pk,deep,_rid,_self,_etag,_attachments,_ts'.split(','));
});

test('minimal responses, and bodies that are no patch', async () => {
  await container.items.create({ id: 'm', pk: 'p' });
  const send = (body: string, more = {}) =>
    sendRaw(account, {
      method: 'PATCH',
      path: '/dbs/db/colls/c/docs/m',
      headers: { 'x-ms-documentdb-partitionkey': '["p"]', ...more },
      body,
    });
  const patch = '{"operations":[{"op":"move","from":"/id2","path":"/b"}]}';
  expect((await send(patch)).status).toBe(400);
  const minimal = await send('[{"op":"set","path":"/a","value":1}]', { prefer: 'return=minimal' });
  expect([minimal.status, minimal.text]).toEqual([200, '']);
  for (const body of ['', '{', 'null', '{"operations":{}}', '[[]]'])
    expect((await send(body)).status).toBe(400);
});

test('with a hierarchical key', async () => {
  const { database } = container;
  const { container: levels } = await database.containers.create({
    id: 'levels',
    partitionKey: { paths: ['/a', '/b'], kind: PartitionKeyKind.MultiHash, version: 2 },
  });
  await levels.items.create({ id: '1', a: 'x', b: 2, n: 1 });
  const item = levels.item('1', ['x', 2]);
  expect((await item.patch([{ op: 'incr', path: '/n', value: 1 }])).resource.n).toBe(2);
  const key = await failure(item.patch([{ op: 'remove', path: '/b' }]));
  expect([key.code, key.substatus]).toEqual([400, 1001]);
});
