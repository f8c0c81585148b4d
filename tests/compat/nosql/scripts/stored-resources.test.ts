// Goal: small resources (users, encryption keys) as the stock client uses them; they go with their owner. Method: the SDK, and raw requests for what it has no call for.
import type { CosmosClient } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

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

test('users are created, read, renamed, upserted, listed, queried and deleted', async () => {
  const { database } = await client.databases.create({ id: 'people' });
  const { resource: made, statusCode } = await database.users.create({ id: 'ada' });
  expect(statusCode).toBe(201);
  expect(made).toEqual({
    id: 'ada',
    _rid: expect.stringMatching(/^[A-Za-z0-9+-]{11}=$/),
    _self: expect.stringMatching(/^dbs\/.+\/users\/.+\/$/),
    _etag: expect.any(String),
    _ts: expect.any(Number),
    _permissions: 'permissions/',
  });
  await expect(database.users.create({ id: 'ada' })).rejects.toMatchObject({ code: 409 });
  const { resource: renamed } = await database.user('ada').replace({ id: 'lovelace' });
  expect(renamed).toMatchObject({ id: 'lovelace', _rid: made?._rid });
  await expect(database.user('ada').read()).rejects.toMatchObject({ code: 404 });
  expect((await database.users.upsert({ id: 'grace' })).statusCode).toBe(201);
  expect((await database.users.upsert({ id: 'grace' })).statusCode).toBe(200);
  const all = await database.users.readAll().fetchAll();
  expect(all.resources.map(({ id }) => id)).toEqual(['grace', 'lovelace']);
  const found = await database.users
    .query({
      query: 'SELECT * FROM u WHERE u.id = @id',
      parameters: [{ name: '@id', value: 'grace' }],
    })
    .fetchAll();
  expect(found.resources.map(({ id }) => id)).toEqual(['grace']);
  expect((await database.user('grace').delete()).statusCode).toBe(204);
  await expect(database.user('grace').delete()).rejects.toMatchObject({ code: 404 });
});

test('a user is found by its _rid too, and goes with its database', async () => {
  const { database } = await client.databases.create({ id: 'gone' });
  const { resource: user } = await database.users.create({ id: 'u' });
  const { resource: owner } = await database.read();
  const path = `/dbs/${owner?._rid}/users/${user?._rid}`;
  const byRid = await sendRaw(account, { path });
  expect(byRid.json).toMatchObject({ id: 'u' });
  await database.delete();
  const { database: again } = await client.databases.create({ id: 'gone' });
  expect((await again.users.readAll().fetchAll()).resources).toEqual([]);
});

test('an encryption key comes back as it was sent', async () => {
  const { database } = await client.databases.create({ id: 'secrets' });
  const key = {
    id: 'k1',
    encryptionAlgorithm: 'AEAD_AES_256_CBC_HMAC_SHA256',
    wrappedDataEncryptionKey: 'AAEC',
    keyWrapMetadata: { type: 'AZURE_KEY_VAULT', name: 'n', value: 'v', algorithm: 'RSA-OAEP' },
  };
  const path = `/dbs/${database.id}/clientencryptionkeys`;
  const made = await sendRaw(account, { path, method: 'POST', body: JSON.stringify(key) });
  expect(made.status).toBe(201);
  expect((await sendRaw(account, { path: `${path}/k1` })).json).toMatchObject(key);
  const bad = await sendRaw(account, { path, method: 'POST', body: '{"id":"k2"}' });
  expect(bad.status).toBe(400);
});
