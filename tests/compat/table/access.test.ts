// Goal: who may do what: keys, signatures of accounts and tables, stored policies, ranges of keys, clocks. Method: stock client.
import {
  AzureNamedKeyCredential,
  AzureSASCredential,
  generateAccountSas,
  generateTableSas,
  TableClient,
  type TableSasSignatureValues,
  TableServiceClient,
} from '@azure/data-tables';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT, type Account, KEY, MODES, type Mode, startAccount } from './harness.ts';
import { sendRaw } from './raw-request.ts';

let account: Account;
let nowMs = Date.now();
beforeAll(async () => {
  account = await startAccount({ clock: { nowMs: () => nowMs } });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const credential = new AzureNamedKeyCredential(ACCOUNT, KEY);
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };

function byTableSas(mode: Mode, name: string, values: TableSasSignatureValues): TableClient {
  const sas = new AzureSASCredential(generateTableSas(name, credential, values));
  return new TableClient(account.endpoint(mode), name, sas, options);
}

const refusal = (code: string) => ({ statusCode: 403, details: { odataError: { code } } });

describe.each(MODES)('%s mode', (mode) => {
  test('the signature of an account allows what it says', async () => {
    const sas = (permissions: object, resourceTypes: string): TableServiceClient => {
      const text = generateAccountSas(credential, { permissions, resourceTypes });
      return new TableServiceClient(account.endpoint(mode), new AzureSASCredential(text), options);
    };
    const name = `account${mode}`;
    await sas({ write: true }, 'sco').createTable(name);
    await expect(sas({ list: true }, 'sco').deleteTable(name)).rejects.toMatchObject(
      refusal('AuthorizationPermissionMismatch'),
    );
    await expect(sas({ delete: true }, 'o').deleteTable(name)).rejects.toMatchObject(
      refusal('AuthorizationResourceTypeMismatch'),
    );
    await sas({ delete: true }, 'sco').deleteTable(name);
  });

  test('the signature of a table is limited to its keys', async () => {
    const name = `Ranges${mode}`;
    const table = account.table(mode, name);
    await table.createTable();
    for (const partitionKey of ['a', 'b', 'c'])
      for (const rowKey of ['1', '2', '3']) await table.createEntity({ partitionKey, rowKey });
    const limited = byTableSas(mode, name, {
      permissions: { query: true, add: true },
      startPartitionKey: 'a',
      startRowKey: '2',
      endPartitionKey: 'b',
      endRowKey: '2',
    });
    const found: string[] = [];
    for await (const { partitionKey, rowKey } of limited.listEntities())
      found.push(`${partitionKey}${rowKey}`);
    expect(found).toEqual(['a2', 'a3', 'b1', 'b2']);
    expect(await limited.getEntity('b', '2')).toMatchObject({ rowKey: '2' });
    await limited.createEntity({ partitionKey: 'a', rowKey: '9' });
    for (const [partition, row] of [
      ['a', '1'],
      ['b', '3'],
      ['c', '1'],
    ] as const)
      await expect(limited.getEntity(partition, row)).rejects.toMatchObject(
        refusal('AuthorizationFailure'),
      );
    await expect(
      limited.submitTransaction([['create', { partitionKey: 'c', rowKey: '9' }]]),
    ).rejects.toMatchObject({ statusCode: 403 });
    await expect(limited.deleteEntity('a', '2')).rejects.toMatchObject(
      refusal('AuthorizationPermissionMismatch'),
    );
  });

  test('a stored policy can be changed and taken away', async () => {
    const name = `policies${mode}`;
    const table = account.table(mode, name);
    await table.createTable();
    const policy = (permission: string) => [
      { id: 'p', accessPolicy: { permission, expiry: new Date(nowMs + 60_000) } },
    ];
    await table.setAccessPolicy(policy('ra'));
    expect(await table.getAccessPolicy()).toMatchObject([{ id: 'p' }]);
    const limited = byTableSas(mode, name, { identifier: 'p' });
    await limited.createEntity({ partitionKey: 'p', rowKey: '1' });
    await table.setAccessPolicy(policy('r'));
    await expect(limited.createEntity({ partitionKey: 'p', rowKey: '2' })).rejects.toMatchObject(
      refusal('AuthorizationPermissionMismatch'),
    );
    await table.setAccessPolicy([]);
    await expect(limited.getEntity('p', '1')).rejects.toMatchObject(
      refusal('AuthenticationFailed'),
    );
  });

  test('who may only update may add by an upsert where the service is Storage', async () => {
    const name = `updated${mode}`;
    const table = account.table(mode, name);
    await table.createTable();
    const entity = { partitionKey: 'p', rowKey: '1', n: 1 };
    const updater = byTableSas(mode, name, { permissions: { update: true } });
    const added = updater.upsertEntity(entity, 'Replace');
    if (mode === 'cosmos')
      await expect(added).rejects.toMatchObject(refusal('AuthorizationPermissionMismatch'));
    else await added;
    const adder = byTableSas(mode, name, { permissions: { add: true } });
    await expect(adder.upsertEntity(entity, 'Merge')).rejects.toMatchObject(
      refusal('AuthorizationPermissionMismatch'),
    );
  });

  test('signatures expire', async () => {
    const name = `expired${mode}`;
    await account.table(mode, name).createTable();
    const expiresOn = new Date(nowMs + 60_000);
    const limited = byTableSas(mode, name, { permissions: { add: true }, expiresOn });
    await limited.createEntity({ partitionKey: 'p', rowKey: '1' });
    const before = nowMs;
    nowMs += 60_000;
    await expect(limited.createEntity({ partitionKey: 'p', rowKey: '2' })).rejects.toMatchObject(
      refusal('AuthenticationFailed'),
    );
    nowMs = before;
  });
});

test.each([
  [
    'another key',
    { authorization: `SharedKeyLite ${ACCOUNT}:${'A'.repeat(43)}=` },
    403,
    'AuthenticationFailed',
  ],
  [
    'another account',
    { authorization: `SharedKeyLite other:${'A'.repeat(43)}=` },
    403,
    'AuthenticationFailed',
  ],
  ['no signature', { authorization: 'SharedKeyLite' }, 400, 'InvalidAuthenticationInfo'],
  ['a token over plain HTTP', { authorization: 'Bearer x' }, 403, 'AuthenticationFailed'],
])('%s', async (_, headers, status, code) => {
  expect(await sendRaw(account, { path: '/Tables', headers })).toMatchObject({ status, code });
});

test('clocks may differ by a quarter of an hour', async () => {
  const at = (minutes: number) => new Date(nowMs + minutes * 60_000).toUTCString();
  expect((await sendRaw(account, { path: '/Tables', date: at(-14) })).status).toBe(200);
  expect((await sendRaw(account, { path: '/Tables', date: at(-16) })).status).toBe(403);
  expect((await sendRaw(account, { path: '/Tables', date: at(16) })).status).toBe(403);
  const none = await sendRaw(account, { path: '/Tables', isSigned: false });
  expect(none).toMatchObject({ status: 403, code: 'AuthenticationFailed' });
});

test('properties, rules for other origins, statistics', async () => {
  const tables = account.tables('storage');
  await tables.setProperties({
    cors: [
      {
        allowedOrigins: 'http://a.example,http://b.example',
        allowedMethods: 'GET,PUT',
        allowedHeaders: 'x-ms-*',
        exposedHeaders: 'etag',
        maxAgeInSeconds: 5,
      },
    ],
  });
  const { cors } = await tables.getProperties();
  expect(cors).toMatchObject([{ allowedMethods: 'GET,PUT', maxAgeInSeconds: 5 }]);
  const preflight = (origin: string, method: string) =>
    sendRaw(account, {
      method: 'OPTIONS',
      path: '/t',
      isSigned: false,
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'x-ms-date',
      },
    });
  expect((await preflight('http://a.example', 'GET')).headers).toMatchObject({
    'access-control-allow-origin': 'http://a.example',
    'access-control-allow-methods': 'GET',
    'access-control-max-age': '5',
  });
  expect((await preflight('http://a.example', 'DELETE')).status).toBe(403);
  expect((await preflight('http://c.example', 'GET')).status).toBe(403);
  const response = await sendRaw(account, {
    path: '/Tables',
    headers: { origin: 'http://b.example' },
  });
  expect(response.headers['access-control-allow-origin']).toBe('http://b.example');
  expect((await account.tables('cosmos').getStatistics()).geoReplication).toMatchObject({
    status: 'live',
  });
});
