// Goal: tables take signatures of keys that may write, and of the emulators' public key while the account's is public.
import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { WELL_KNOWN_KEY, WELL_KNOWN_STORAGE_KEY } from '../../base/index.ts';
import { AccountKeys } from './account-keys.ts';
import { TableKeys } from './table-keys.ts';

const keysWith = (primary: string) =>
  new AccountKeys({
    given: { primary },
    secret: Buffer.alloc(64, 7),
    rotated: {},
    save: () => undefined,
    randomBytes,
  });

const sign = (key: string, text: string) =>
  createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest();

test('a key that only reads does not sign requests for tables', () => {
  const account = keysWith(WELL_KNOWN_KEY);
  const keys = new TableKeys(account);
  const isSignedBy = (key: string) => keys.isSigned('text', sign(key, 'text'), false);
  expect(isSignedBy(account.get('primary'))).toBe(true);
  expect(isSignedBy(account.get('secondary'))).toBe(true);
  expect(isSignedBy(account.get('primaryReadonly'))).toBe(false);
});

test('the key of storage emulators counts while the primary key is public, in any order of requests', () => {
  const account = keysWith(WELL_KNOWN_KEY);
  const keys = new TableKeys(account);
  for (const key of [WELL_KNOWN_STORAGE_KEY, WELL_KNOWN_KEY, WELL_KNOWN_STORAGE_KEY])
    expect(keys.isSigned('text', sign(key, 'text'), false)).toBe(true);
  expect(keys.isSigned('other', sign(WELL_KNOWN_STORAGE_KEY, 'text'), false)).toBe(false);
  void account.rotate('primary');
  expect(keys.isSigned('text', sign(WELL_KNOWN_STORAGE_KEY, 'text'), false)).toBe(false);
});

test('the key of storage emulators does not count where the operator gave a key', () => {
  const keys = new TableKeys(keysWith(randomBytes(64).toString('base64')));
  expect(keys.isSigned('text', sign(WELL_KNOWN_STORAGE_KEY, 'text'), false)).toBe(false);
});
