// Goal: the signature is checked as the protocol documents it. Method: a published example and requests with one fault each.
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../base/index.ts';
import { MASTER, memoryAccessStore, openAccessControl } from '../../../service/index.ts';
import { parseTarget } from '../target.ts';
import { Authenticator } from './authenticate.ts';

const KEY = Buffer.alloc(64, 'a key').toString('base64');
const DATE = 'Thu, 27 Apr 2017 00:51:12 GMT';
const NOW_MS = Date.parse(DATE);

/** The worked example of the protocol's documentation. */
const DOCUMENTED = {
  key: 'dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==',
  url: '/dbs/ToDoList',
  authorization:
    'type%3dmaster%26ver%3d1.0%26sig%3dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2bc%2bc%3d',
};

function authenticator(keys: readonly string[], clock: FakeClock): Authenticator {
  const [primary = '', secondary = primary] = keys;
  const access = openAccessControl({ keys: { primary, secondary } }, memoryAccessStore(), clock);
  return new Authenticator(access, clock);
}

function signed(method: string, type: string, link: string, dates: string): string {
  const text = `${method.toLowerCase()}\n${type}\n${link}\n${dates}`;
  const signature = createHmac('sha256', Buffer.from(KEY, 'base64')).update(text).digest('base64');
  return encodeURIComponent(`type=master&ver=1.0&sig=${signature}`);
}

test('the documented example', () => {
  const authorizer = authenticator([DOCUMENTED.key], new FakeClock(NOW_MS));
  const target = parseTarget(DOCUMENTED.url);
  const headers = { authorization: DOCUMENTED.authorization, 'x-ms-date': DATE };
  expect(authorizer.identify({ method: 'GET', type: 'dbs', target, headers })).toBe(MASTER);
  expect(() => authorizer.identify({ method: 'PUT', type: 'dbs', target, headers })).toThrow(
    expect.objectContaining({ status: 401 }),
  );
});

const LOWER = DATE.toLowerCase();

test.each([
  ['the account', 'GET', '/', '', ''],
  ['a feed', 'POST', '/dbs/a/colls/b/docs', 'docs', 'dbs/a/colls/b'],
  ['an item', 'GET', '/dbs/a/colls/b/docs/C%20c', 'docs', 'dbs/a/colls/b/docs/C c'],
  ['an offer', 'GET', '/offers/AbCd', 'offers', 'abcd'],
  ['offers', 'POST', '/offers', 'offers', ''],
  ['a resource id', 'GET', '/dbs/AbCdEf==', 'dbs', 'abcdef=='],
  [
    'an operation',
    'POST',
    '/dbs/a/colls/b/operations/partitionkeydelete',
    'colls',
    'dbs/a/colls/b',
  ],
])('%s', (_, method, url, type, link) => {
  const authorizer = authenticator(['AAAA', KEY], new FakeClock(NOW_MS));
  const authorization = signed(method, type, link, `${LOWER}\n\n`);
  const headers = { authorization, 'x-ms-date': DATE };
  const request = { method, type, target: parseTarget(url), headers };
  expect(() => authorizer.identify(request)).not.toThrow();
});

test('the HTTP date replaces x-ms-date, on the last signed line', () => {
  const authorizer = authenticator([KEY], new FakeClock(NOW_MS));
  const authorization = signed('GET', 'dbs', '', `\n${LOWER}\n`);
  const request = { method: 'GET', type: 'dbs', target: parseTarget('/dbs') };
  expect(() =>
    authorizer.identify({ ...request, headers: { authorization, date: DATE } }),
  ).not.toThrow();
  expect(() => authorizer.identify({ ...request, headers: { authorization } })).toThrow(
    /x-ms-date/,
  );
});

test.each([
  [15 * 60_000, undefined],
  [-15 * 60_000, undefined],
  [15 * 60_000 + 1000, 403],
  [-15 * 60_000 - 1000, 403],
])('a clock off by %i ms', (skewMs, status) => {
  const authorizer = authenticator([KEY], new FakeClock(NOW_MS + skewMs));
  const headers = { authorization: signed('GET', 'dbs', '', `${LOWER}\n\n`), 'x-ms-date': DATE };
  const check = () =>
    authorizer.identify({ method: 'GET', type: 'dbs', target: parseTarget('/dbs'), headers });
  if (status === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ status }));
});

test('a valid signature does not make the next one valid', () => {
  const authorizer = authenticator([KEY], new FakeClock(NOW_MS));
  const post = (authorization: string) => () =>
    authorizer.identify({
      method: 'POST',
      type: 'docs',
      target: parseTarget('/dbs/a/colls/b/docs'),
      headers: { authorization, 'x-ms-date': DATE },
    });
  const right = signed('POST', 'docs', 'dbs/a/colls/b', `${LOWER}\n\n`);
  const wrong = signed('POST', 'docs', 'dbs/a/colls/c', `${LOWER}\n\n`);
  for (let times = 0; times < 2; times++) {
    expect(post(right)).not.toThrow();
    expect(post(wrong)).toThrow(expect.objectContaining({ status: 401 }));
  }
});

test('a signature is invalid once its key was rotated', () => {
  const clock = new FakeClock(NOW_MS);
  const access = openAccessControl({ keys: { primary: KEY } }, memoryAccessStore(), clock);
  const authorizer = new Authenticator(access, clock);
  const authorization = signed('POST', 'docs', 'dbs/a/colls/b', `${LOWER}\n\n`);
  const post = () =>
    authorizer.identify({
      method: 'POST',
      type: 'docs',
      target: parseTarget('/dbs/a/colls/b/docs'),
      headers: { authorization, 'x-ms-date': DATE },
    });
  expect(post()).toBe(MASTER);
  void access.keys.rotate('primary');
  expect(post).toThrow(expect.objectContaining({ status: 401 }));
});
