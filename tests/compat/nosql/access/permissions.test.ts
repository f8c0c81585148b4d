// Goal: users get permissions, permissions get tokens, tokens give what they say. Method: the stock client with keys and with tokens.
import { type Container, type CosmosClient, type Database, PermissionMode } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/base/index.ts';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

let account: Account;
let database: Database;
let orders: Container;
let others: Container;
const clock = new FakeClock(Date.now());

beforeAll(async () => {
  account = await startAccount({ clock });
  const client = account.client();
  ({ database } = await client.databases.create({ id: 'shop' }));
  const partitionKey = { paths: ['/customer'] };
  ({ container: orders } = await database.containers.create({ id: 'orders', partitionKey }));
  ({ container: others } = await database.containers.create({ id: 'others', partitionKey }));
  for (const customer of ['ada', 'bob'])
    for (const id of ['1', '2']) {
      await orders.items.create({ id, customer });
      await others.items.create({ id, customer });
    }
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

interface Given {
  readonly mode: PermissionMode;
  readonly resource: string;
  readonly key?: string[];
  readonly expirySec?: number;
}

let users = 0;

/** The token of a new permission of a new user. */
async function tokenOf({ mode, resource, key, expirySec }: Given): Promise<string> {
  users++;
  const { user } = await database.users.create({ id: `user ${users}` });
  const { resource: permission } = await user.permissions.create(
    {
      id: 'p',
      permissionMode: mode,
      resource,
      ...(key === undefined ? {} : { resourcePartitionKey: key }),
    },
    expirySec === undefined ? {} : { resourceTokenExpirySeconds: expirySec },
  );
  const token = (permission as unknown as { _token: string })._token;
  expect(token).toMatch(/^type=resource&ver=1&sig=[^;]+;[^;]+;$/);
  return token;
}

/** A client that has nothing but such a token. */
async function bearerOf(given: Given): Promise<CosmosClient> {
  const token = await tokenOf(given);
  // Under every name the client may look for it.
  const names = [
    'shop',
    'orders',
    'others',
    '1',
    '2',
    'dbs/shop/colls/orders',
    'dbs/shop/colls/others',
  ];
  return account.client({
    key: undefined as unknown as string,
    resourceTokens: Object.fromEntries(names.map((name) => [name, token])),
  });
}

function ordersOf(client: CosmosClient): Container {
  return client.database('shop').container('orders');
}

const refused = { code: 403 };

test('a permission to read a container', async () => {
  const client = await bearerOf({ mode: PermissionMode.Read, resource: orders.url });
  const container = ordersOf(client);
  expect((await container.read()).resource?.id).toBe('orders');
  expect((await container.item('1', 'ada').read()).resource?.id).toBe('1');
  expect((await container.items.readAll().fetchAll()).resources).toHaveLength(4);
  const found = await container.items.query('SELECT * FROM c ORDER BY c.id').fetchAll();
  expect(found.resources).toHaveLength(4);
  await expect(container.items.create({ id: '9', customer: 'ada' })).rejects.toMatchObject(refused);
  await expect(container.items.upsert({ id: '1', customer: 'ada' })).rejects.toMatchObject(refused);
  await expect(container.item('1', 'ada').delete()).rejects.toMatchObject(refused);
  await expect(container.delete()).rejects.toMatchObject(refused);
  await expect(client.database('shop').container('others').read()).rejects.toMatchObject(refused);
  await expect(client.database('shop').read()).rejects.toMatchObject(refused);
});

test('a permission for everything in a container', async () => {
  const client = await bearerOf({ mode: PermissionMode.All, resource: orders.url });
  const container = ordersOf(client);
  await container.items.create({ id: '3', customer: 'ada' });
  await container.item('3', 'ada').replace({ id: '3', customer: 'ada', paid: true });
  expect((await container.item('3', 'ada').delete()).statusCode).toBe(204);
  const elsewhere = client.database('shop').container('others');
  await expect(elsewhere.items.create({ id: '3', customer: 'ada' })).rejects.toMatchObject(refused);
  await expect(elsewhere.item('1', 'ada').read()).rejects.toMatchObject(refused);
});

test('a permission for one partition key', async () => {
  const client = await bearerOf({ mode: PermissionMode.All, resource: orders.url, key: ['ada'] });
  const container = ordersOf(client);
  expect((await container.item('1', 'ada').read()).resource?.customer).toBe('ada');
  await expect(container.item('1', 'bob').read()).rejects.toMatchObject(refused);
  await container.items.create({ id: '4', customer: 'ada' });
  await container.item('4', 'ada').delete();
  await expect(container.items.create({ id: '4', customer: 'bob' })).rejects.toMatchObject(refused);
  const own = await container.items.query('SELECT * FROM c', { partitionKey: 'ada' }).fetchAll();
  expect(own.resources.map(({ customer }) => customer)).toEqual(['ada', 'ada']);
  await expect(container.items.query('SELECT * FROM c').fetchAll()).rejects.toMatchObject(refused);
  await expect(container.items.readAll().fetchAll()).rejects.toMatchObject(refused);
});

test('a permission for one item, by name and by resource id', async () => {
  const { resource: item } = await orders.item('1', 'ada').read();
  const links: Given[] = [
    { mode: PermissionMode.Read, resource: 'dbs/shop/colls/orders/docs/1', key: ['ada'] },
    { mode: PermissionMode.Read, resource: item?._self },
  ];
  for (const given of links) {
    const container = ordersOf(await bearerOf(given));
    expect((await container.item('1', 'ada').read()).resource?.id).toBe('1');
    await expect(container.item('1', 'bob').read()).rejects.toMatchObject(refused);
    await expect(container.item('2', 'ada').read()).rejects.toMatchObject(refused);
    await expect(container.item('1', 'ada').delete()).rejects.toMatchObject(refused);
    await expect(container.items.readAll().fetchAll()).rejects.toMatchObject(refused);
    expect((await container.read()).resource?.partitionKey?.paths).toEqual(['/customer']);
    const counts = container.read({ populateQuotaInfo: true });
    await expect(counts).rejects.toMatchObject(refused);
  }
});

test('a permission for a stored procedure', async () => {
  const procedures = orders.scripts.storedProcedures;
  await procedures.create({ id: 'one', body: "function () { __.response.setBody('ran'); }" });
  await procedures.create({ id: 'two', body: 'function () {}' });
  const link = 'dbs/shop/colls/orders/sprocs/one';
  const given = { mode: PermissionMode.All, resource: link, key: ['ada'] };
  const token = encodeURIComponent(await tokenOf(given));
  const send = (method: string, path: string, key?: string) =>
    sendRaw(account, {
      method,
      path: `/dbs/shop/colls/orders/${path}`,
      headers: {
        authorization: token,
        ...(key === undefined ? {} : { 'x-ms-documentdb-partitionkey': JSON.stringify([key]) }),
      },
      ...(method === 'POST' ? { body: [] } : {}),
    });
  expect(await send('POST', 'sprocs/one', 'ada')).toMatchObject({ status: 200, json: 'ran' });
  expect((await send('GET', 'sprocs/one')).status).toBe(200);
  for (const [method, path, key] of [
    ['POST', 'sprocs/one', 'bob'],
    ['POST', 'sprocs/two', 'ada'],
    ['GET', 'sprocs/two', undefined],
    ['GET', 'sprocs', undefined],
    ['GET', 'docs/1', 'ada'],
  ] as const)
    expect((await send(method, path, key)).status, `${method} ${path} ${key}`).toBe(403);
});

test('a permission for the first levels of a hierarchical key', async () => {
  const { container } = await database.containers.create({
    id: 'levels',
    partitionKey: { paths: ['/tenant', '/user'], kind: 'MultiHash' as never, version: 2 },
  });
  for (const tenant of ['a', 'b'])
    for (const user of ['x', 'y']) await container.items.create({ id: '1', tenant, user });
  const token = await tokenOf({ mode: PermissionMode.Read, resource: container.url, key: ['a'] });
  const send = (path: string, key: readonly string[], headers = {}) =>
    sendRaw(account, {
      path: `/dbs/shop/colls/levels/${path}`,
      headers: {
        authorization: encodeURIComponent(token),
        'x-ms-documentdb-partitionkey': JSON.stringify(key),
        ...headers,
      },
    });
  expect((await send('docs/1', ['a', 'x'])).json).toMatchObject({ tenant: 'a', user: 'x' });
  expect((await send('docs', ['a'])).json.Documents).toHaveLength(2);
  expect((await send('docs', ['a', 'y'])).json.Documents).toHaveLength(1);
  const changes = await send('docs', ['a'], { 'a-im': 'Incremental Feed' });
  expect(changes.json.Documents).toHaveLength(2);
  for (const key of [['b', 'x'], ['b'], []] as const)
    for (const path of ['docs', 'docs/1']) expect((await send(path, key)).status).toBe(403);
});

test('a token is valid for the time that was requested', async () => {
  const short = await bearerOf({ mode: PermissionMode.Read, resource: orders.url, expirySec: 600 });
  const plain = await bearerOf({ mode: PermissionMode.Read, resource: others.url });
  clock.advance(599_000);
  await ordersOf(short).read();
  clock.advance(2000);
  await expect(ordersOf(short).read()).rejects.toMatchObject({ code: 401 });
  await plain.database('shop').container('others').read();
  clock.advance(3600_000 - 601_000);
  await expect(plain.database('shop').container('others').read()).rejects.toMatchObject({
    code: 401,
  });
  clock.advance(Date.now() - clock.nowMs());
  for (const expirySec of [599, 86_401])
    await expect(
      bearerOf({ mode: PermissionMode.Read, resource: orders.url, expirySec }),
    ).rejects.toMatchObject({ code: 400 });
});

test('a token does not outlive its container, and a new one of the same name is another', async () => {
  const { container } = await database.containers.create({ id: 'brief' });
  const token = await tokenOf({ mode: PermissionMode.All, resource: container.url });
  await container.delete();
  await database.containers.create({ id: 'brief' });
  const reply = await sendRaw(account, {
    path: '/dbs/shop/colls/brief',
    headers: { authorization: encodeURIComponent(token) },
  });
  expect(reply.status).toBe(403);
  expect(reply.headers['x-ms-content-path']).toBeUndefined();
});

test('permissions are listed, queried, replaced, and there is one for each resource', async () => {
  const { user } = await database.users.create({ id: 'ida' });
  const read = { id: 'read', permissionMode: PermissionMode.Read, resource: orders.url };
  const { resource: made } = await user.permissions.create(read);
  expect(made).toEqual({
    ...read,
    _rid: expect.any(String),
    _self: expect.stringMatching(/^dbs\/.+\/users\/.+\/permissions\/.+\/$/),
    _etag: expect.any(String),
    _ts: expect.any(Number),
    _token: expect.any(String),
  });
  const self = (await orders.read()).resource?._self ?? '';
  await expect(
    user.permissions.create({ ...read, id: 'again', resource: self }),
  ).rejects.toMatchObject({ code: 409 });
  await user.permissions.create({ ...read, id: 'key', resourcePartitionKey: ['ada'] });
  const { resource: all } = await user
    .permission('read')
    .replace({ ...read, permissionMode: PermissionMode.All });
  expect(all?.permissionMode).toBe('all');
  expect((await user.permissions.upsert({ ...read, id: 'read' })).statusCode).toBe(200);
  const list = await user.permissions.readAll().fetchAll();
  expect(list.resources.map(({ id }) => id)).toEqual(['key', 'read']);
  const found = await user.permissions
    .query({ query: "SELECT * FROM p WHERE p.id = 'key'" })
    .fetchAll();
  expect(found.resources).toHaveLength(1);
  await user.permission('key').delete();
  await expect(user.permission('key').read()).rejects.toMatchObject({ code: 404 });
});

test.each([
  [{ permissionMode: 'Write', resource: 'dbs/shop/colls/orders' }, 400],
  [{ permissionMode: 'Read', resource: 'dbs/shop' }, 400],
  [{ permissionMode: 'Read', resource: 'dbs/shop/colls/orders/docs' }, 400],
  [{ permissionMode: 'Read' }, 400],
  [{ permissionMode: 'Read', resource: 'dbs/shop/colls/absent' }, 404],
  [{ permissionMode: 'Read', resource: 'dbs/elsewhere/colls/orders' }, 404],
  [{ permissionMode: 'Read', resource: 'dbs/shop/colls/orders', resourcePartitionKey: [[1]] }, 400],
])('%j is refused', async (body, status) => {
  const { user } = await database.users.upsert({ id: 'eve' });
  const path = `/dbs/shop/users/${user.id}/permissions`;
  const reply = await sendRaw(account, { method: 'POST', path, body: { id: 'x', ...body } });
  expect(reply.status).toBe(status);
});

test('a permission for a container that no longer is, by its _rid, opens nothing', async () => {
  const { user } = await database.users.upsert({ id: 'late' });
  const path = `/dbs/shop/users/${user.id}/permissions`;
  for (const resource of ['dbs/AQAAAA==/colls/AQAAAJ0fgTc=', 'dbs/AQAAAA==/colls/AQAAAJ0fgTg=']) {
    const body = { id: resource.slice(-3), permissionMode: 'All', resource };
    const { status, json } = await sendRaw(account, { method: 'POST', path, body });
    expect(status).toBe(201);
    expect(json).toMatchObject({ resource, _token: expect.any(String) });
    const request = { path: '/dbs/shop/colls/orders', headers: { authorization: json._token } };
    expect((await sendRaw(account, request)).status).toBe(403);
  }
});
