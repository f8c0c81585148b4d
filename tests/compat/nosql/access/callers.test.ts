// Goal: read-only keys, SAS tokens and identities as stock clients use them, and a line for the audit log for each refusal. Method: the SDK with each.
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CosmosClient } from '@azure/cosmos';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Account,
  PRIMARY_KEY,
  READONLY_KEY,
  SECONDARY_KEY,
  startAccount,
} from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

const ISSUER = 'https://sts.example/tenant/';
const AUDIENCE = 'https://localhost';
const folder = mkdtempSync(join(tmpdir(), 'mesocosm-jwks-'));
const keyFile = join(folder, 'jwks.json');
let account: Account;
let privateKey: CryptoKey;

beforeAll(async () => {
  const pair = await generateKeyPair('RS256', { extractable: true });
  privateKey = pair.privateKey;
  const published = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256' }] };
  writeFileSync(keyFile, JSON.stringify(published));
  const reader = '00000000-0000-0000-0000-000000000001';
  const contributor = '00000000-0000-0000-0000-000000000002';
  account = await startAccount({
    access: {
      identities: { keys: { kind: 'published', at: keyFile }, issuer: ISSUER, audience: AUDIENCE },
      roles: {
        definitions: [],
        assignments: [
          { roleDefinitionId: reader, principalId: 'rita', scope: '/' },
          {
            roleDefinitionId: contributor,
            principalId: 'writers',
            scope: '/dbs/shop/colls/orders',
          },
        ],
      },
    },
  });
  const { database } = await account.client().databases.create({ id: 'shop' });
  const partitionKey = { paths: ['/customer'] };
  for (const id of ['orders', 'others']) {
    const { container } = await database.containers.create({ id, partitionKey });
    await container.items.create({ id: '1', customer: 'ada' });
  }
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
  rmSync(folder, { recursive: true, force: true });
});

function ordersOf(client: CosmosClient, id = 'orders') {
  return client.database('shop').container(id);
}

const refused = { code: 403 };

test('a read-only key reads and queries, and does nothing else', async () => {
  const container = ordersOf(account.client({ key: READONLY_KEY }));
  expect((await container.item('1', 'ada').read()).resource?.id).toBe('1');
  expect((await container.items.query('SELECT * FROM c').fetchAll()).resources).toHaveLength(1);
  await expect(container.items.create({ id: '2', customer: 'ada' })).rejects.toMatchObject(refused);
  await expect(container.item('1', 'ada').delete()).rejects.toMatchObject(refused);
  await expect(container.delete()).rejects.toMatchObject(refused);
  await expect(container.database.users.create({ id: 'x' })).rejects.toMatchObject(refused);
  const operations = [{ operationType: 'Delete' as const, id: '1' }];
  await expect(container.items.batch(operations, 'ada')).rejects.toThrow(
    /Insufficient permissions/,
  );
  // A permission shows a token that may write.
  const { user } = await account.client().database('shop').users.create({ id: 'peter' });
  await user.permissions.create({
    id: 'p',
    permissionMode: 'all' as never,
    resource: container.url,
  });
  const permission = container.database.user('peter').permission('p');
  await expect(permission.read()).rejects.toMatchObject(refused);
});

test('a SAS token gives what its masks say, below its path', async () => {
  const nowSec = Math.floor(Date.now() / 1000);
  const sasOf = (more: { end?: number; keyType?: string; masks?: string[]; ranges?: string }) => {
    const { end = 600, keyType = '1', masks = ['60', '0', '43', '1'], ranges = '' } = more;
    const times = [nowSec - 60, nowSec + end].map((sec) => sec.toString(16));
    const lines = ['sam', 'tag', '/dbs/shop/colls/orders', ranges, ...times, keyType, ...masks];
    return signedSas(`${lines.join('\n')}\n`);
  };
  const good = ordersOf(account.client({ key: sasOf({}) }));
  expect((await good.item('1', 'ada').read()).resource?.id).toBe('1');
  await good.items.create({ id: 'sas', customer: 'ada' });
  await expect(good.item('sas', 'ada').delete()).rejects.toMatchObject(refused);
  const elsewhere = ordersOf(account.client({ key: sasOf({}) }), 'others');
  await expect(elsewhere.item('1', 'ada').read()).rejects.toMatchObject(refused);
  await account.client().database('shop').container('orders').item('sas', 'ada').delete();
  for (const more of [{ end: -1 }, { keyType: '2' }, { ranges: '97,' }]) {
    const bad = ordersOf(account.client({ key: sasOf(more) }));
    await expect(bad.item('1', 'ada').read()).rejects.toMatchObject({ code: 401 });
  }
});

function signedSas(payload: string): string {
  const text = Buffer.from(payload).toString('base64');
  const signature = createHmac('sha256', Buffer.from(PRIMARY_KEY, 'base64'))
    .update(text)
    .digest('base64');
  return `type=sas&ver=1.0&sig=${signature};${text}`;
}

async function tokenOf(claims: Record<string, unknown>, end = '1h'): Promise<string> {
  const token = new SignJWT({ iss: ISSUER, aud: AUDIENCE, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .setIssuedAt()
    .setExpirationTime(end);
  return `type=aad&ver=1.0&sig=${await token.sign(privateKey)}`;
}

/** The stock client sends identities over https only; what it sends is this. */
async function clientOf(claims: Record<string, unknown>, end?: string): Promise<CosmosClient> {
  const token = await tokenOf(claims, end);
  return account.client({ key: undefined as never, tokenProvider: async () => token });
}

test('identities have their roles, and those of their groups', async () => {
  const rita = ordersOf(await clientOf({ oid: 'rita' }));
  expect((await rita.item('1', 'ada').read()).resource?.id).toBe('1');
  expect((await rita.items.query('SELECT * FROM c').fetchAll()).resources).toHaveLength(1);
  await expect(rita.items.create({ id: '2', customer: 'ada' })).rejects.toMatchObject({
    code: 403,
    substatus: 5302,
    message: expect.stringContaining('principal [rita] does not have required RBAC permissions'),
  });
  const wim = await clientOf({ sub: 'wim', groups: ['writers'] });
  await ordersOf(wim).items.upsert({ id: '1', customer: 'ada', paid: true });
  const elsewhere = ordersOf(wim, 'others').item('1', 'ada').read();
  await expect(elsewhere).rejects.toMatchObject({ code: 403, substatus: 5302 });
  await expect(ordersOf(wim, 'others').read()).rejects.toMatchObject({
    code: 403,
    substatus: 5301,
  });
  await expect(wim.databases.create({ id: 'x' })).rejects.toMatchObject({
    code: 403,
    substatus: 5300,
    message: expect.stringContaining('cannot be authorized by AAD token in data plane'),
  });
});

test.each<[string, Record<string, unknown>, string, number]>([
  ['expired', { oid: 'rita' }, '-10m', 5006],
  ['of another issuer', { oid: 'rita', iss: 'https://elsewhere/' }, '1h', 5007],
  ['for another audience', { oid: 'rita', aud: 'https://elsewhere' }, '1h', 5008],
  ['of tomorrow', { oid: 'rita', nbf: Math.floor(Date.now() / 1000) + 86_400 }, '2d', 5005],
  ['of nobody', {}, '1h', 5011],
])('an identity token %s is refused', async (_, claims, end, substatus) => {
  const reading = ordersOf(await clientOf(claims, end))
    .item('1', 'ada')
    .read();
  await expect(reading).rejects.toMatchObject({ code: 401, substatus });
});

test('what no key of the provider signed is refused', async () => {
  const { privateKey: foreign } = await generateKeyPair('RS256');
  const forged = await new SignJWT({ iss: ISSUER, aud: AUDIENCE, oid: 'rita' })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .setExpirationTime('1h')
    .sign(foreign);
  const none = [{ alg: 'none' }, { iss: ISSUER, aud: AUDIENCE, oid: 'rita' }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  for (const [token, substatus] of [
    [forged, '5004'],
    [`${none}.`, '5004'],
    ['a.b', '5003'],
    ['', '5003'],
  ]) {
    const authorization = `type=aad&ver=1.0&sig=${token}`;
    const reply = await sendRaw(account, { path: '/dbs', headers: { authorization } });
    expect([reply.status, reply.headers['x-ms-substatus'], token]).toEqual([401, substatus, token]);
  }
});

test('development takes every well-formed token, and gives it what contributors have', async () => {
  const open = await startAccount({
    access: { identities: { keys: { kind: 'any' }, issuer: undefined, audience: undefined } },
  });
  const { database } = await open.client().databases.create({ id: 'shop' });
  await database.containers.create({ id: 'orders' });
  const { privateKey: own } = await generateKeyPair('RS256');
  const token = await new SignJWT({ oid: 'me' })
    .setProtectedHeader({ alg: 'RS256' })
    .setExpirationTime('1h')
    .sign(own);
  const client = open.client({
    key: undefined as never,
    tokenProvider: async () => `type=aad&ver=1.0&sig=${token}`,
  });
  await ordersOf(client).items.create({ id: '1' });
  await expect(client.databases.create({ id: 'x' })).rejects.toMatchObject({ substatus: 5300 });
  await open.close();
});

test('every refusal is reported, without secrets', async () => {
  account.refusals.length = 0;
  const reader = account.client({ key: READONLY_KEY });
  await expect(ordersOf(reader).delete()).rejects.toMatchObject(refused);
  await sendRaw(account, { path: '/dbs', key: Buffer.alloc(8).toString('base64') });
  const token = await tokenOf({ oid: 'rita' });
  await sendRaw(account, {
    path: '/dbs',
    method: 'POST',
    body: { id: 'x' },
    headers: { authorization: token },
  });
  expect(account.refusals).toMatchObject([
    {
      who: 'read-only key',
      from: '127.0.0.1',
      method: 'DELETE',
      path: '/dbs/shop/colls/orders',
      status: 403,
      reason: 'a read-only key does not give deleteContainer',
    },
    { who: 'unknown', status: 401, reason: 'no key of the account signed this' },
    { who: 'identity rita', method: 'POST', path: '/dbs', status: 403 },
  ]);
  const logged = JSON.stringify(account.refusals);
  for (const secret of [READONLY_KEY, PRIMARY_KEY, SECONDARY_KEY, token])
    expect(logged).not.toContain(secret);
});
