// Goal: addresses of replica sets are read as libpq reads them, and mistakes are named. Method: tables.
import { expect, test } from 'vitest';
import { parsePostgresAddress } from './postgres-address.ts';

test('members, user, password, database and schema', () => {
  expect(
    parsePostgresAddress('postgres://me:a%40b@db1,db2:6000,[::1]:7000/shop?schema=second'),
  ).toEqual({
    members: [
      { host: 'db1', port: 5432 },
      { host: 'db2', port: 6000 },
      { host: '::1', port: 7000 },
    ],
    user: 'me',
    password: 'a@b',
    database: 'shop',
    schema: 'second',
    tls: false,
    text: 'postgres://me@db1,db2:6000,[::1]:7000/shop?schema=second',
  });
});

test('the password may be in the environment, and one in the address takes precedence', () => {
  expect(parsePostgresAddress('postgres://me@a/d', 'secret')).toMatchObject({ password: 'secret' });
  expect(parsePostgresAddress('postgres://me:own@a/d', 'x')).toMatchObject({ password: 'own' });
});

test('encryption is asked for as libpq does', () => {
  const tlsOf = (query: string) => parsePostgresAddress(`postgres://me@a/d?${query}`);
  expect(tlsOf('sslmode=require')).toMatchObject({ tls: { rejectUnauthorized: false } });
  expect(tlsOf('sslmode=verify-full')).toMatchObject({ tls: { rejectUnauthorized: true } });
  expect(tlsOf('sslmode=prefer')).toBe('sslmode disable, require or verify-full');
  expect(tlsOf('sslmode=verify-full&sslrootcert=absent.pem')).toBe(
    'a readable file as sslrootcert, not absent.pem',
  );
});

const WRONG: readonly (readonly [url: string, allowed: string])[] = [
  ['mysql://me@a/d', 'postgres://USER@HOST[:PORT][,HOST…]/DATABASE'],
  ['postgres://a/d', 'postgres://USER@HOST[:PORT][,HOST…]/DATABASE'],
  ['postgres://me@a', 'postgres://USER@HOST[:PORT][,HOST…]/DATABASE'],
  ['postgres://me@a:99999/d', 'members as HOST or HOST:PORT, with commas'],
  ['postgres://me@a,,b/d', 'members as HOST or HOST:PORT, with commas'],
  ['postgres://me@a/d?schema=a"b', 'a schema of up to 51 small letters, digits and _'],
  ['postgres://me@a/d?option=1', 'the parameters schema, sslmode and sslrootcert, not option'],
];

for (const [url, allowed] of WRONG)
  test(`${url} is refused`, () => expect(parsePostgresAddress(url)).toBe(allowed));
