// Goal: the stored form of an item never changes by accident. Method: a golden vector and a round trip.
import { expect, test } from 'vitest';
import { AssertionError, bytesToText, seededRandom, textToBytes, toHex } from '../../base/index.ts';
import { formatEtag, ITEM_FLAGS, WRITES_PER_ITEM_MAX } from './item.ts';
import { decodeRecord, isIntact, newItem, primaryOfRecord } from './record.ts';

const SEED = 20_261_116;

const item = newItem({
  primary: Uint8Array.of(0x11, 1, 2, 3),
  rid: 3 * 2 ** 40 + 7,
  version: { salt: 0xbeef, lsn: 258, operation: 5 },
  timestampSec: 0x65535353,
  ttlSec: -1,
  encoding: 'json',
  body: textToBytes('{"id":"x"}'),
});

test('golden vector of version 1', () => {
  expect(toHex(item.record)).toBe(
    [
      '0100', // version, encoding
      'FFFFFFFF', // ttl
      '65535353', // timestamp
      '000000000102', // lsn
      '0005', // operation
      '0000030000000007', // rid
      '89537EBC', // crc32
      '0004', // key length
      '11010203',
      '7B226964223A2278227D',
    ].join(''),
  );
});

test('round trip', () => {
  const back = decodeRecord(item.record, 0xbeef);
  expect(back).toEqual(item);
  expect(bytesToText(back.body)).toBe('{"id":"x"}');
  expect(back.etag).toBe('"0000beef-0000-0000-0000-000000008105"');
  expect(toHex(primaryOfRecord(item.record))).toBe('11010203');
});

test('golden vector of version 2: flags between header and key', () => {
  const shadow = newItem({
    primary: Uint8Array.of(0x11, 1, 2, 3),
    rid: 3 * 2 ** 40 + 7,
    version: { salt: 0xbeef, lsn: 258, operation: 5 },
    timestampSec: 0x65535353,
    ttlSec: 60,
    encoding: 'cql',
    body: Uint8Array.of(1, 2),
    flags: ITEM_FLAGS.shadow,
  });
  expect(toHex(shadow.record)).toBe(
    '02020000003C6553535300000000010200050000030000000007B6CC429200040111010203' + '0102',
  );
  const back = decodeRecord(shadow.record, 0xbeef);
  expect(back).toEqual(shadow);
  expect([toHex(back.primary), toHex(primaryOfRecord(shadow.record))]).toEqual([
    '11010203',
    '11010203',
  ]);
  expect([back.flags, back.isInternal, back.isShadow]).toEqual([1, true, true]);
  expect([item.flags, item.isInternal, item.isShadow]).toEqual([0, false, false]);
  expect(isIntact(shadow.record)).toBe(true);
});

test('a flipped bit in the body is found', () => {
  const record = Uint8Array.from(item.record);
  expect(isIntact(record)).toBe(true);
  record[record.length - 2] = (record.at(-2) as number) ^ 1;
  expect(isIntact(record)).toBe(false);
});

test('an unknown version is refused', () => {
  const record = Uint8Array.from(item.record);
  record[0] = 3;
  expect(() => decodeRecord(record, 0)).toThrow(AssertionError);
});

test('an etag is the write in twelve hexadecimal digits, however many there were', () => {
  const random = seededRandom(SEED);
  const lsns = [0, 1, 2 ** 16, 2 ** 17 - 1, 2 ** 17, 2 ** 29 - 1, 2 ** 41 - 1];
  for (let count = 0; count < 1000; count++)
    lsns.push(random.below(2 ** 30) * 2 ** random.below(12));
  for (const lsn of lsns) {
    const operation = random.below(WRITES_PER_ITEM_MAX);
    const write = BigInt(lsn) * BigInt(WRITES_PER_ITEM_MAX) + BigInt(operation);
    const salt = random.below(2) === 0 ? '00ef' : 'beef';
    expect(
      formatEtag({ salt: Number.parseInt(salt, 16), lsn, operation }),
      `seed ${SEED}, lsn ${lsn}`,
    ).toBe(`"0000${salt}-0000-0000-0000-${write.toString(16).padStart(12, '0')}"`);
  }
});
