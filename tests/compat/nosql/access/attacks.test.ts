// Goal: what bearers of tokens try beyond their rights gets 401 or 403 and changes nothing. Method: tokens of every kind, also malformed; raw requests.
import { createHmac } from 'node:crypto';
import { createAuthorizationSasToken, PermissionMode } from '@azure/cosmos';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Account, PRIMARY_KEY, startAccount } from '../harness.ts';
import { type RawReply, sendRaw } from '../raw-request.ts';

const REPLACER = 'only-replaces';
let account: Account;

beforeAll(async () => {
  const actions = ['readMetadata', 'sqlDatabases/containers/items/replace'];
  const dataActions = actions.map((name) => `Microsoft.DocumentDB/databaseAccounts/${name}`);
  account = await startAccount({
    access: {
      identities: { keys: { kind: 'any' }, issuer: undefined, audience: undefined },
      roles: {
        definitions: [{ id: REPLACER, permissions: [{ dataActions }] }],
        assignments: [{ roleDefinitionId: REPLACER, principalId: 'ina', scope: '/' }],
      },
    },
  });
  const { database } = await account.client().databases.create({ id: 'shop' });
  await database.containers.create({ id: 'orders', partitionKey: { paths: ['/customer'] } });
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const orders = () => account.client().database('shop').container('orders');

beforeEach(async () => {
  await orders().items.upsert({ id: 'mine', customer: 'ada' });
});

function replaceMine(authorization: string, id: string, path = '/dbs/shop/colls/orders') {
  return sendRaw(account, {
    method: 'PUT',
    path: `${path}/docs/mine`,
    headers: { authorization, 'x-ms-documentdb-partitionkey': '["ada"]' },
    body: { id, customer: 'ada', isChanged: true },
  });
}

async function idsNow(): Promise<readonly string[]> {
  const { resources } = await orders().items.query('SELECT VALUE c.id FROM c').fetchAll();
  return resources as string[];
}

const CREATE = 0x1;
const REPLACE = 0x2;
const DELETE = 0x8;

/** As the stock client makes it, with the times and the rest by hand. */
function sasOf(more: { user?: string; path?: string; writes?: number; end?: string }): string {
  const { user = 'sam', path = '/dbs/shop/colls/orders', writes = REPLACE } = more;
  const { end = (Math.floor(Date.now() / 1000) + 600).toString(16) } = more;
  const lines = [user, 'tag', path, '', '0', end, '1', '60', '0', '40', writes.toString(16)];
  const payload = Buffer.from(`${lines.join('\n')}\n`).toString('base64');
  const signature = createHmac('sha256', Buffer.from(PRIMARY_KEY, 'base64')).update(payload);
  return `type=sas&ver=1.0&sig=${signature.digest('base64')};${payload}`;
}

function jwtOf(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `type=aad&ver=1.0&sig=${part({ alg: 'none' })}.${part(claims)}.x`;
}

const inAnHour = (): number => Math.floor(Date.now() / 1000) + 3600;

describe('a replace that changes the id is no replace', () => {
  test.each<[string, () => string]>([
    ['a SAS that only replaces', () => sasOf({})],
    ['a SAS that replaces and creates', () => sasOf({ writes: REPLACE | CREATE })],
    ['a SAS that replaces and deletes', () => sasOf({ writes: REPLACE | DELETE })],
    [
      'a SAS of one item that has every right to it',
      () =>
        sasOf({
          path: '/dbs/shop/colls/orders/docs/mine/',
          writes: (REPLACE * 0x8000) | REPLACE | CREATE | DELETE,
        }),
    ],
    ['an identity that only replaces', () => jwtOf({ oid: 'ina', exp: inAnHour() })],
  ])('for %s', async (_, token) => {
    const authorization = encodeURIComponent(token());
    expect((await replaceMine(authorization, 'other')).status).toBe(403);
    expect(await idsNow()).toEqual(['mine']);
    expect((await replaceMine(authorization, 'mine')).status).toBe(200);
  });

  test('for a token of the item', async () => {
    const { user } = await account.client().database('shop').users.create({ id: 'u' });
    const { resource } = await user.permissions.create({
      id: 'p',
      permissionMode: PermissionMode.All,
      resource: 'dbs/shop/colls/orders/docs/mine',
      resourcePartitionKey: ['ada'],
    });
    const token = encodeURIComponent((resource as unknown as { _token: string })._token);
    expect((await replaceMine(token, 'other')).status).toBe(403);
    expect(await idsNow()).toEqual(['mine']);
    expect((await replaceMine(token, 'mine')).status).toBe(200);
  });

  test('and works for callers that may create and delete', async () => {
    const sas = encodeURIComponent(sasOf({ writes: REPLACE | CREATE | DELETE }));
    expect((await replaceMine(sas, 'renamed')).status).toBe(200);
    expect(await idsNow()).toEqual(['renamed']);
    await orders().item('renamed', 'ada').delete();
  });
});

describe('a SAS says what its signer meant', () => {
  const listDatabases = (token: string): Promise<RawReply> =>
    sendRaw(account, { path: '/dbs', headers: { authorization: encodeURIComponent(token) } });

  test('newlines in the user do not make a token for the account', async () => {
    const end = inAnHour().toString(16);
    const all = ['', '', '0', end, '1', 'ffff', 'ffff', 'ffff', 'ffff'];
    const user = `eve\n\n${all.slice(1).join('\n')}`;
    const now = new Date();
    const token = await createAuthorizationSasToken(PRIMARY_KEY, {
      user,
      userTag: '',
      databaseName: 'shop',
      containerName: 'orders',
      resourceName: 'mine',
      resourceKind: 'ITEM',
      resourcePath: '',
      startTime: new Date(now.getTime() - 60_000),
      expiryTime: new Date(now.getTime() + 600_000),
      keyType: 1,
      controlPlaneReaderScope: 0,
      controlPlaneWriterScope: 0,
      dataPlaneReaderScope: 0x40,
      dataPlaneWriterScope: 0,
    } as unknown as Parameters<typeof createAuthorizationSasToken>[1]);
    expect((await listDatabases(token)).status).toBe(401);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('nor do %i newlines', async (count) => {
    const hidden = ['', '', '0', inAnHour().toString(16), '1', 'ffff', 'ffff', 'ffff', 'ffff'];
    const user = ['eve', ...hidden].slice(0, count + 1).join('\n');
    expect((await listDatabases(sasOf({ user }))).status).toBe(401);
  });

  test.each(['\r', '\t', '\u0000', '\u007f'])('nor does the control character %j', async (mark) => {
    expect(
      (await replaceMine(encodeURIComponent(sasOf({ user: `e${mark}` })), 'mine')).status,
    ).toBe(401);
  });

  test.each(['', 'never', '-1'])('one that expires %j is refused', async (end) => {
    expect((await replaceMine(encodeURIComponent(sasOf({ end })), 'mine')).status).toBe(401);
  });

  test('one for an item named like the number of another is not for that other', async () => {
    const { resource: victim } = await orders().items.create({ id: 'victim', customer: 'ada' });
    const number = String(victim?._rid);
    await orders().items.create({ id: number, customer: 'ada' });
    const { resource: container } = await orders().read();
    const rid = encodeURIComponent(String(container?._rid));
    const { resource: database } = await account.client().database('shop').read();
    const sas = sasOf({ path: `/dbs/shop/colls/orders/docs/${number}`, writes: 0x1_0002 });
    const request = {
      path: `/dbs/${encodeURIComponent(String(database?._rid))}/colls/${rid}/docs/${encodeURIComponent(number)}`,
      headers: {
        authorization: encodeURIComponent(sas),
        'x-ms-documentdb-partitionkey': '["ada"]',
      },
    };
    expect((await sendRaw(account, request)).status).toBe(403);
    for (const id of ['victim', number]) await orders().item(id, 'ada').delete();
  });
});

describe('identity tokens expire', () => {
  test.each<[string, object]>([
    ['never', {}],
    ['at a text', { exp: 'never' }],
    ['at a number in a text', { exp: '99999999999' }],
    ['at null', { exp: null }],
    ['at an hour, and begin at a text', { exp: inAnHour(), nbf: 'x' }],
  ])('one that expires %s is refused', async (_, claims) => {
    const token = encodeURIComponent(jwtOf({ oid: 'ina', ...claims }));
    const reply = await replaceMine(token, 'mine');
    expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([401, '5003']);
  });
});
