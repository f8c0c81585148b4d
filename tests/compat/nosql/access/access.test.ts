// Goal: only requests with a valid signature, date and version are accepted. Method: raw requests with one fault each.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, PRIMARY_KEY, SECONDARY_KEY, startAccount } from '../harness.ts';
import { sendRaw, sign } from '../raw-request.ts';

let account: Account;

beforeAll(async () => {
  account = await startAccount();
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const minutes = (count: number) => new Date(Date.now() + count * 60_000).toUTCString();
const signature = () =>
  decodeURIComponent(
    sign({ method: 'GET', path: '/dbs', date: new Date().toUTCString(), key: PRIMARY_KEY }),
  );

test.each([
  ['the primary key', { key: PRIMARY_KEY }, 200],
  ['the secondary key', { key: SECONDARY_KEY }, 200],
  ['another key', { key: Buffer.alloc(64, 'x').toString('base64') }, 401],
  ['a key of no bytes', { key: '' }, 401],
  ['another resource type', { type: 'colls' }, 401],
  ['another link', { link: 'dbs/x' }, 401],
  ['a date 14 minutes old', { date: minutes(-14) }, 200],
  ['a date 14 minutes ahead', { date: minutes(14) }, 200],
  ['a date 16 minutes old', { date: minutes(-16) }, 403],
  ['a date 16 minutes ahead', { date: minutes(16) }, 403],
  ['a date that is none', { date: 'yesterday' }, 401],
  ['an old version', { headers: { 'x-ms-version': '2018-06-18' } }, 200],
  ['an ancient version', { headers: { 'x-ms-version': '2001-01-01' } }, 400],
  ['a version that is none', { headers: { 'x-ms-version': 'latest' } }, 400],
  ['no signature', { headers: { authorization: '' } }, 401],
  [
    'a signature of nothing',
    { headers: { authorization: 'type%3Dmaster%26ver%3D1.0%26sig%3D' } },
    401,
  ],
  ['a signature that is no text', { headers: { authorization: '%E0%A4%A' } }, 401],
  [
    'a resource token',
    { headers: { authorization: 'type%3Dresource%26ver%3D1.0%26sig%3Dabc' } },
    401,
  ],
  ['another type of token', { headers: { authorization: 'Bearer abc' } }, 401],
])('%s returns %o', async (_, request, status) => {
  const reply = await sendRaw(account, { path: '/dbs', ...request });
  expect(reply.status).toBe(status);
  if (status >= 400)
    expect(reply.json).toEqual({ code: expect.any(String), message: expect.any(String) });
});

test.each([
  ['not encoded', (text: string) => text],
  ['encoded in lower case', (text: string) => encodeURIComponent(text).replace(/%3D/g, '%3d')],
])('a signature %s is as good', async (_, encode) => {
  const reply = await sendRaw(account, {
    path: '/dbs',
    headers: { authorization: encode(signature()) },
  });
  expect(reply.status).toBe(200);
});

test('changing a request invalidates its signature', async () => {
  const date = new Date().toUTCString();
  const authorization = sign({ method: 'GET', path: '/dbs/a', date });
  const sent = { date, headers: { authorization } };
  expect((await sendRaw(account, { ...sent, path: '/dbs/a' })).status).toBe(404);
  expect((await sendRaw(account, { ...sent, path: '/dbs/b' })).status).toBe(401);
  const put = await sendRaw(account, { ...sent, path: '/dbs/a', method: 'DELETE' });
  expect(put.status).toBe(401);
  const later = { ...sent, date: minutes(1) };
  expect((await sendRaw(account, { ...later, path: '/dbs/a' })).status).toBe(401);
});

test('the stock client with a wrong key learns why', async () => {
  const client = account.client({ key: Buffer.alloc(64, 'wrong').toString('base64') });
  await expect(client.databases.readAll().fetchAll()).rejects.toMatchObject({
    code: 401,
    message: expect.stringContaining("can't serve the request"),
  });
});
