// Goal: session tokens carry from response to request and are kept. Method: the SDK with a look at what it sends.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, onEachRequest, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

let account: Account;

beforeAll(async () => {
  account = await startAccount();
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

test('the SDK files tokens, also for names that must be encoded', async () => {
  const sent: (string | undefined)[] = [];
  const look = onEachRequest(({ resourceType, headers }) => {
    if (resourceType === 'docs') sent.push(headers?.['x-ms-session-token'] as string | undefined);
  });
  const client = account.client({ consistencyLevel: 'Session', ...look });
  const { database } = await client.databases.create({ id: 'my db 鱀' });
  const { container } = await database.containers.create({ id: 'my coll', partitionKey: '/pk' });
  const { headers } = await container.items.create({ id: 'a', pk: 'p' });
  await container.item('a', 'p').read();
  expect(sent.at(-1)).toBe(headers['x-ms-session-token']);
  expect(headers['x-ms-session-token']).toBe('0:-1#1');
  await container.items.create({ id: 'a', pk: 'p' }).catch(() => undefined);
  await container.items.create({ id: 'b', pk: 'p' });
  await container.item('missing', 'p').read();
  await container.item('a', 'p').read();
  expect(sent.at(-1)).toBe('0:-1#2');
});

test('a token ahead of the partition is not served', async () => {
  const client = account.client();
  const { database } = await client.databases.create({ id: 'ahead' });
  const { container } = await database.containers.create({ id: 'c', partitionKey: '/pk' });
  await container.items.create({ id: 'a', pk: 'p' });
  const read = (token: string) =>
    sendRaw(account, {
      path: '/dbs/ahead/colls/c/docs/a',
      headers: { 'x-ms-documentdb-partitionkey': '["p"]', 'x-ms-session-token': token },
    });
  for (const token of ['0:-1#1', '0:0#1#3=1', '5:-1#99', '0:-1#1,1:-1#7'])
    expect((await read(token)).status).toBe(200);
  for (const token of ['0:-1#2', '0:0#900000#3=8600000#10=-1']) {
    const reply = await read(token);
    expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([404, '1002']);
    expect(reply.json.code).toBe('NotFound');
  }
  expect((await read('no token')).status).toBe(400);
  const feed = await sendRaw(account, {
    path: '/dbs/ahead/colls/c/docs',
    headers: { 'x-ms-session-token': '0:-1#99' },
  });
  expect([feed.status, feed.headers['x-ms-substatus']]).toEqual([404, '1002']);
});

test('refusals carry the token as well', async () => {
  const client = account.client();
  const { database } = await client.databases.create({ id: 'refusals' });
  const { container } = await database.containers.create({ id: 'c', partitionKey: '/pk' });
  await container.items.create({ id: 'a', pk: 'p' });
  const path = '/dbs/refusals/colls/c/docs';
  const headers = { 'x-ms-documentdb-partitionkey': '["p"]' };
  const conflict = await sendRaw(account, {
    method: 'POST',
    path,
    headers,
    body: { id: 'a', pk: 'p' },
  });
  const missing = await sendRaw(account, { path: `${path}/none`, headers });
  const failed = await sendRaw(account, {
    method: 'DELETE',
    path: `${path}/a`,
    headers: { ...headers, 'if-match': '"x"' },
  });
  for (const [reply, status] of [
    [conflict, 409],
    [missing, 404],
    [failed, 412],
  ] as const) {
    expect(reply.status).toBe(status);
    expect(reply.headers).toMatchObject({
      'x-ms-session-token': '0:-1#1',
      'x-ms-content-path': expect.any(String),
      'x-ms-alt-content-path': 'dbs/refusals/colls/c',
      'x-ms-request-charge': '1',
    });
  }
});
