// Goal: the stored form of indexes never changes by accident. Method: golden vectors of the index table and of entries.
import { expect, test } from 'vitest';
import { bytesToText, toHex } from '../../../base/index.ts';
import { jsonCodec, type Value } from '../../../value/index.ts';
import { UniqueKeys } from '../../commit/unique/unique-keys.ts';
import { newItem } from '../../item/record.ts';
import { indexingForTest } from '../../test-kit.ts';
import { type DeclaredIndex, DeclaredIndexes } from '../declared/declared-indexes.ts';
import { indexLogKey } from '../terms/indexing.ts';
import { decodeChanges, encodeChanges } from './index-log.ts';
import { decodeIndexState, encodeIndexState } from './index-state.ts';
import { blockKey, encodeBlock } from './posting-block.ts';

const hexOf = (text: string) => toHex(Buffer.from(text, 'latin1'));

function itemOf(value: Value) {
  return newItem({
    primary: Uint8Array.of(0x11, 5, 0, 0x1c, 0x70, 0),
    rid: 7,
    version: { salt: 0, lsn: 1, operation: 0 },
    timestampSec: 0,
    ttlSec: 0,
    encoding: 'json',
    body: jsonCodec.encode(value),
  });
}

test('golden vector of the index table', () => {
  const state = {
    fingerprint: 'f',
    builtTo: 'all',
    declared: { 1: 'all', 2: 7, 3: 'failed', 4: 'dropped' },
  } as const;
  const bytes = encodeIndexState(state);
  expect(bytesToText(bytes)).toBe(
    '{"fingerprint":"f","builtTo":"all","declared":{"1":"all","2":7,"3":"failed","4":"dropped"}}',
  );
  expect(decodeIndexState(bytes)).toEqual(state);
});

test('golden vectors of terms: the path, the value, the rid', () => {
  const entries = indexingForTest({ included: ['/a/?'], excluded: ['/*'] }).entriesOf(
    itemOf({ a: 'x', b: 'y' }),
  );
  expect(entries.map(hexOf)).toEqual(['20B3855D5295C33A521C78000000000000000007']);
});

test.each<[string, Omit<DeclaredIndex, 'parts'>, readonly boolean[], Value, readonly string[]]>([
  [
    'of a place in the policy',
    { id: undefined },
    [false, false],
    { a: 'x', b: 1 },
    ['2100001C78001ABFF000000000000000'],
  ],
  [
    'of an id',
    { id: 258 },
    [false, false],
    { a: 'x', b: 1 },
    ['21000001021C78001ABFF000000000000000'],
  ],
  [
    'whose last part descends',
    { id: 258 },
    [false, true],
    { a: 'x', b: 1 },
    ['21000001021C7800E5400FFFFFFFFFFFFFFF01'],
  ],
  [
    'in bson',
    { id: 258, collation: 'bson' },
    [false, false],
    { a: 'x', b: 1 },
    ['210000010246780044BFF000000000000000'],
  ],
  [
    'of arrays',
    { id: 258, isMultikey: true },
    [false],
    { a: ['x', 'y', 'x'] },
    ['21000001021C7800', '21000001021C7900'],
  ],
  ['that is sparse', { id: 258, isSparse: true }, [false], { b: 1 }, []],
])('golden vectors of a declared index %s', (_, index, directions, value, expected) => {
  const parts = directions.map((isDescending, at) => ({
    path: ['/a', '/b'][at] ?? '',
    isDescending,
  }));
  const indexes = new DeclaredIndexes([{ ...index, parts }]);
  expect(indexes.entryPrefixesOf(value, new Uint8Array()).map(hexOf)).toEqual(expected);
});

test('golden vectors of unique entries', () => {
  const keys = (id: number | undefined) =>
    new UniqueKeys(
      { constraints: [{ ...(id !== undefined && { id }), paths: ['/a'] }], partitionKey: ['/pk'] },
      jsonCodec,
    );
  const item = itemOf({ pk: 'p', a: 'x' });
  expect(keys(258).entriesOf(item).map(hexOf)).toEqual([
    '1200000102A072AC52370A075BEEBFA3CEA71AF470E892B6B76F20B60042908D9ECC078F0C',
  ]);
  expect(keys(undefined).entriesOf(item).map(hexOf)).toEqual([
    '1201DCB5BEA5EBEC9926E73754DC33A6CE4416A641E5DADCF66C5B6F79FA989ED3',
  ]);
});

test('golden vectors of blocks and of the log', () => {
  expect(toHex(blockKey('\x20ab', 1))).toBe('24616200000000000007FF');
  expect(toHex(encodeBlock([1024, 1030]))).toBe('00000006');
  expect(toHex(indexLogKey(258))).toBe('230000000000000102');
  const changes = { added: ['ab'], removed: ['c'] };
  const bytes = encodeChanges(changes);
  expect(bytes.map(toHex)).toEqual(['000001630100026162']);
  expect(bytes.map(decodeChanges)).toEqual([changes]);
});
