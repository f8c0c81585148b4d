// Goal: who may look and who may write, and for how long. Method: injected time, requests as objects.
import { expect, test } from 'vitest';
import type { Exchange } from '../http/index.ts';
import type { AccountKeys } from '../service/index.ts';
import { Sessions } from './sessions.ts';

const PRIMARY = Buffer.alloc(64, 'primary').toString('base64');
const READONLY = Buffer.alloc(64, 'readonly').toString('base64');

function exchange(headers: Readonly<Record<string, string>> = {}): Exchange {
  return { headers, remoteAddress: '10.0.0.1', isEncrypted: false } as unknown as Exchange;
}

function open(options: { readonly isOpen?: boolean; readonly isReadOnly?: boolean } = {}) {
  let nowMs = 1_000_000;
  const known: Record<string, string> = { primary: PRIMARY, primaryReadonly: READONLY };
  const keys = {
    get: (name: string) => known[name] ?? '',
    named: (key: string) => Object.keys(known).find((name) => known[name] === key),
  } as unknown as AccountKeys;
  const sessions = new Sessions({
    keys,
    clock: { nowMs: () => nowMs },
    isOpen: () => options.isOpen === true,
    isReadOnly: options.isReadOnly === true,
  });
  const cookieOf = (key: string): string => {
    const login = sessions.login(key, exchange());
    if (login.kind !== 'accepted') throw new Error(login.kind);
    return (login.cookie.split(';')[0] ?? '') as string;
  };
  return {
    sessions,
    cookieOf,
    rotate: () => {
      known.primary = Buffer.alloc(64, 'another').toString('base64');
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('a key opens a session with its role; nobody else has one', () => {
  const { sessions, cookieOf } = open();
  expect(sessions.roleOf(exchange())).toBeUndefined();
  expect(sessions.roleOf(exchange({ cookie: 'mesocosm-portal=guess' }))).toBeUndefined();
  expect(sessions.roleOf(exchange({ cookie: cookieOf(PRIMARY) }))).toBe('write');
  expect(sessions.roleOf(exchange({ cookie: cookieOf(READONLY) }))).toBe('read');
});

test('the switch of the page and the flag of the server only take away', () => {
  const headers = { 'x-mesocosm-read-only': '1' };
  expect(open({ isOpen: true }).sessions.roleOf(exchange())).toBe('write');
  expect(open({ isOpen: true }).sessions.roleOf(exchange(headers))).toBe('read');
  expect(open({ isOpen: true, isReadOnly: true }).sessions.roleOf(exchange())).toBe('read');
  expect(open().sessions.roleOf(exchange(headers))).toBeUndefined();
});

test('sessions end after twelve hours, with a logout, and when their key is rotated', () => {
  const world = open();
  const { sessions, cookieOf } = world;
  const [first, second, third] = [cookieOf(PRIMARY), cookieOf(PRIMARY), cookieOf(READONLY)];
  sessions.logout(exchange({ cookie: first }));
  expect(sessions.roleOf(exchange({ cookie: first }))).toBeUndefined();
  world.rotate();
  expect(sessions.roleOf(exchange({ cookie: second }))).toBeUndefined();
  expect(sessions.roleOf(exchange({ cookie: third }))).toBe('read');
  world.pass(12 * 3_600_000);
  expect(sessions.roleOf(exchange({ cookie: third }))).toBeUndefined();
});

test('five wrong keys a minute are enough', () => {
  const world = open();
  const attempt = () => world.sessions.login('wrong', exchange()).kind;
  expect([1, 2, 3, 4, 5].map(attempt)).toEqual(Array(5).fill('refused'));
  expect(world.sessions.login(PRIMARY, exchange())).toEqual({ kind: 'tooMany', retryAfterSec: 60 });
  world.pass(60_000);
  expect(world.sessions.login(PRIMARY, exchange()).kind).toBe('accepted');
});
