// Goal: keys of a partition's store never change by accident. Method: golden vectors of every prefix that has parts.
import { expect, test } from 'vitest';
import { fromHex, toHex } from '../../base/index.ts';
import {
  FORMAT_KEY,
  INDEX_CHECKPOINT_KEY,
  INDEX_STATE_KEY,
  logKey,
  lsnAndRidOfLogKey,
  OWNER_KEY,
  outcomeKey,
  preparedKey,
  RANGE_TOMBSTONES_KEY,
  RETENTION_KEY,
  recordKey,
  ridBytes,
  STATE_KEY,
  tombstoneKey,
  transactionOfKey,
  versionKey,
} from './keyspace.ts';
import { newItem } from './record.ts';
import { decodeTombstone, encodeTombstone } from './tombstone.ts';
import { decodeVersion, encodeVersion } from './version.ts';

const TRANSACTION = fromHex('000102030405060708090A0B0C0D0E0F');
const RID = 3 * 2 ** 40 + 7;

test('golden vectors of keys', () => {
  const single = [
    FORMAT_KEY,
    STATE_KEY,
    INDEX_STATE_KEY,
    RETENTION_KEY,
    INDEX_CHECKPOINT_KEY,
    RANGE_TOMBSTONES_KEY,
    OWNER_KEY,
  ];
  expect(single.map(toHex)).toEqual(['00', '01', '02', '03', '04', '05', '06']);
  expect(toHex(recordKey(RID))).toBe('100000030000000007');
  expect(toHex(ridBytes(RID))).toBe('0000030000000007');
  expect(toHex(logKey(258, RID))).toBe('3000000000000001020000030000000007');
  expect(toHex(versionKey(258, 5, RID))).toBe('31000000000000010200050000030000000007');
  expect(toHex(tombstoneKey(258, RID))).toBe('3200000000000001020000030000000007');
  expect(lsnAndRidOfLogKey(tombstoneKey(258, RID))).toEqual({ lsn: 258, rid: RID });
});

test('golden vectors of prepared operations and outcomes', () => {
  const prepared = preparedKey(TRANSACTION, 258);
  expect(toHex(prepared)).toBe('33000102030405060708090A0B0C0D0E0F00000102');
  const outcome = outcomeKey(TRANSACTION);
  expect(toHex(outcome)).toBe('34000102030405060708090A0B0C0D0E0F');
  const parts = [prepared, outcome].map(transactionOfKey);
  expect(parts.map(({ transaction, number }) => [toHex(transaction), number])).toEqual([
    [toHex(TRANSACTION), 258],
    [toHex(TRANSACTION), undefined],
  ]);
});

test('golden vectors of versions and tombstones', () => {
  const item = newItem({
    primary: Uint8Array.of(0x11, 1),
    rid: RID,
    version: { salt: 0xbeef, lsn: 258, operation: 5 },
    timestampSec: 0x65535353,
    ttlSec: 0,
    encoding: 'json',
    body: Uint8Array.of(0x7b, 0x7d),
  });
  const version = { kind: 'delete', lsn: 258, timestampSec: 9, previousLsn: 257, item } as const;
  const entry = encodeVersion(version, 5);
  expect(toHex(entry.value)).toBe(`0200000009000000000101${toHex(item.record)}`);
  expect(decodeVersion(entry, 0xbeef)).toEqual(version);
  const tombstone = encodeTombstone({ timestampSec: 9, primary: item.primary });
  expect(toHex(tombstone)).toBe('000000091101');
  expect(decodeTombstone(tombstone).timestampSec).toBe(9);
});
