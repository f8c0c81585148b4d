// Goal: containers made without a partition key by clients of old versions. Method: the SDK with an old version header.
import type { Container } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, onEachRequest, startAccount } from './harness.ts';
import { sendRaw } from './raw-request.ts';

let account: Account;
let container: Container;

beforeAll(async () => {
  account = await startAccount();
  const asOldClient = onEachRequest((context) => {
    if (context.resourceType === 'colls' && context.method === 'POST')
      context.body = JSON.stringify({ id: JSON.parse(context.body as string).id });
    context.headers = { ...context.headers, 'x-ms-version': '2018-06-18' };
  });
  const legacy = account.client(asOldClient);
  const { database } = await legacy.databases.create({ id: 'db' });
  await database.containers.create({ id: 'legacy' });
  container = account.client().database('db').container('legacy');
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

test('the definition shows a key of the system', async () => {
  const { resource } = await container.read();
  expect(resource?.partitionKey).toEqual({
    paths: ['/_partitionKey'],
    kind: 'Hash',
    systemKey: true,
  });
});

test('items need no key', async () => {
  const { resource } = await container.items.create({ id: 'a', name: 'x' });
  expect(resource?.name).toBe('x');
  expect((await container.item('a', undefined).read()).resource?.id).toBe('a');
  await container.items.upsert({ id: 'b' });
  const replaced = await container.item('a', undefined).replace({ id: 'a', name: 'y' });
  expect(replaced.resource?.name).toBe('y');
  const { resources } = await container.items.readAll().fetchAll();
  expect(resources.map(({ id }) => id)).toEqual(['a', 'b']);
  await expect(container.items.create({ id: 'a' })).rejects.toMatchObject({ code: 409 });
  await container.item('a', undefined).delete();
  expect((await container.item('a', undefined).read()).statusCode).toBe(404);
});

test('with no key header at all', async () => {
  const path = '/dbs/db/colls/legacy/docs';
  const headers = { 'x-ms-version': '2018-06-18' };
  const created = await sendRaw(account, { method: 'POST', path, headers, body: { id: 'old' } });
  expect(created.status).toBe(201);
  const read = await sendRaw(account, { path: `${path}/old`, headers });
  expect(read.json.id).toBe('old');
});

test('a container keeps its system key when it is replaced', async () => {
  const { resource } = await container.read();
  if (resource === undefined) throw new Error('not found');
  const replaced = await container.replace({ ...resource, defaultTtl: 10 });
  expect(replaced.resource).toMatchObject({ defaultTtl: 10, partitionKey: { systemKey: true } });
});
