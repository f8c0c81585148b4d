// Goal: four keys, each rotated alone, for good. Method: openings of the same state with the same and with other flags.
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { FakeClock } from '../../base/index.ts';
import { type AccessState, memoryAccessStore, openAccessControl } from './access.ts';
import { KEY_NAMES } from './account-keys.ts';

const GIVEN = Buffer.from('given by a flag').toString('base64');
const clock = new FakeClock();

function hmac(key: string, text: string): Buffer {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest();
}

test('keys that were not given are derived, differ, and stay the same', () => {
  const store = memoryAccessStore();
  const { keys } = openAccessControl({ keys: { primary: GIVEN } }, store, clock);
  const all = KEY_NAMES.map((name) => keys.get(name));
  expect(all[0]).toBe(GIVEN);
  expect(new Set(all).size).toBe(4);
  const again = openAccessControl({ keys: { primary: GIVEN } }, store, clock).keys;
  expect(KEY_NAMES.map((name) => again.get(name))).toEqual(all);
  const elsewhere = openAccessControl(
    { keys: { primary: GIVEN } },
    memoryAccessStore(),
    clock,
  ).keys;
  expect(elsewhere.get('secondary')).not.toBe(all[1]);
});

test('a signature names its key', () => {
  const { keys } = openAccessControl({ keys: { primary: GIVEN } }, memoryAccessStore(), clock);
  for (const name of KEY_NAMES) expect(keys.match('text', hmac(keys.get(name), 'text'))).toBe(name);
  expect(keys.match('text', hmac(GIVEN, 'other'))).toBeUndefined();
  expect(keys.match('text', Buffer.alloc(0))).toBeUndefined();
});

test('a rotated key stays rotated under the old flag, and yields to a new one', () => {
  const store = memoryAccessStore();
  const { keys } = openAccessControl({ keys: { primary: GIVEN } }, store, clock);
  const rotated = keys.rotate('primary') as string;
  expect(Buffer.from(rotated, 'base64')).toHaveLength(64);
  expect(keys.get('primary')).toBe(rotated);
  expect(keys.match('text', hmac(GIVEN, 'text'))).toBeUndefined();
  const secondary = keys.rotate('secondary');
  const twice = keys.rotate('primary');
  const again = openAccessControl({ keys: { primary: GIVEN } }, store, clock).keys;
  expect([again.get('primary'), again.get('secondary')]).toEqual([twice, secondary]);
  const other = Buffer.from('another flag').toString('base64');
  const changed = openAccessControl({ keys: { primary: other } }, store, clock).keys;
  expect([changed.get('primary'), changed.get('secondary')]).toEqual([other, secondary]);
});

test('a key that cannot be kept is not rotated', () => {
  let state: AccessState | undefined;
  let isFull = false;
  const store = {
    read: () => state,
    write: (written: AccessState) => {
      if (isFull) throw new Error('disk full');
      state = written;
    },
  };
  const { keys } = openAccessControl({ keys: { primary: GIVEN } }, store, clock);
  isFull = true;
  expect(() => keys.rotate('primary')).toThrow('disk full');
  expect(keys.get('primary')).toBe(GIVEN);
});
