// Goal: primary keys keep their two formats, fit every engine, and sort as row keys do.
// Method: golden vectors, long and random addresses, and cut keys compared with whole ones.
import { describe, expect, it, test } from 'vitest';
import { type Bytes, compareBytes, KEY_BYTES_MAX, seededRandom, toHex } from '../../base/index.ts';
import {
  Extended,
  encodeWhole,
  type PartitionKeyDefinition,
  type Value,
} from '../../value/index.ts';
import { ItemKeys, type KeyCodec, type KeyFormat } from './item-keys.ts';
import { partitionKeyOfPrimary, rowStart } from './keyspace.ts';

const HASH: PartitionKeyDefinition = { paths: ['/pk'], kind: 'Hash', version: 2 };
const LEVELS: PartitionKeyDefinition = { paths: ['/a', '/b', '/c'], kind: 'MultiHash', version: 2 };
const bson: KeyCodec = { encode: (values) => encodeWhole(values, { collation: 'bson' }) };

function keysOf(format: KeyFormat, definition = HASH, codec?: KeyCodec): ItemKeys {
  return new ItemKeys({ definition, format, codec });
}

const hexOf = (keys: ItemKeys, partitionKey: readonly Value[], rowKey: readonly Value[]) =>
  toHex(keys.keyOf(partitionKey, rowKey).primary);

/** Prefix 11, then the hash of 'a' and the end of it. */
const HASH_OF_A = '113A5381E1114EB8D3FCC90795045B49B700';

describe('golden vectors', () => {
  const long = 'x'.repeat(600);
  it.each<[string, KeyFormat, Value, string]>([
    ['an id', 1, 'item', '1C6974656D00'],
    ['a zero byte', 1, 'a\0', '1C6100FF00'],
    ['a long id', 1, long, `1C${'78'.repeat(512)}FF5130B33E6B87FBF5316ED9049E98924E`],
    ['an id', 2, 'item', '1C6974656D00'],
    ['a zero byte', 2, 'a\0', '1C61010100'],
    ['a long id', 2, long, `1C${'78'.repeat(600)}00`],
    [
      'an id beyond 1,900 bytes',
      2,
      'x'.repeat(3000),
      `1C${'78'.repeat(1884)}2DD833B81B1323A4BF21B81873B0C5BF`,
    ],
  ])('%s in format %d', (_, format, id, row) => {
    const key = hexOf(keysOf(format), ['a'], [id]);
    expect(key.slice(0, HASH_OF_A.length + 6)).toBe(`${HASH_OF_A}1C6100`);
    expect(key.slice(HASH_OF_A.length + 6)).toBe(row);
  });

  it('a partition key beyond 600 bytes in format 2', () => {
    const values = ['a'.repeat(500), 'b'.repeat(500), 'c'];
    const keys = keysOf(2, LEVELS);
    const { primary, epk } = keys.keyOf(values, ['i']);
    const from = primary.length - 603;
    expect(epk.length).toBe(48);
    expect(toHex(primary.subarray(from))).toBe(
      `011C${'61'.repeat(500)}001C${'62'.repeat(80)}3E190F07A312E062E3C71F975ADD30421C6900`,
    );
  });
});

test('keys fit every engine, whatever is in them', () => {
  const random = seededRandom(7);
  const letters = ['\0', '\u0001', 'a', 'é', '\ud800', '😀'];
  const text = (length: number) =>
    Array.from({ length: random.below(length) }, () => letters[random.below(6)]).join('');
  for (const definition of [HASH, LEVELS, { ...HASH, version: 1 } as const])
    for (const codec of [undefined, bson])
      for (let round = 0; round < 100; round++) {
        const keys = keysOf(2, definition, codec);
        const partitionKey = definition.paths.map(() => text(2048));
        const { primary, epk } = keys.keyOf(partitionKey, [text(3000), text(3000)]);
        expect(primary.length).toBeLessThanOrEqual(KEY_BYTES_MAX);
        const prefix = keys.prefixOf(epk, partitionKey);
        expect(rowStart(primary, definition.paths.length)).toBe(prefix.length);
        expect(compareBytes(primary.subarray(0, prefix.length), prefix)).toBe(0);
        expect(compareBytes(keys.logicalPrefixOf(primary), prefix)).toBe(0);
      }
});

test('long partition keys that begin alike are different keys, and their first value can be read', () => {
  const keys = keysOf(2, LEVELS);
  const [one, other] = ['y', 'z'].map((last) =>
    keys.keyOf(['a'.repeat(512), 'b'.repeat(512), last], ['i']),
  );
  expect(one?.equals(other as never)).toBe(false);
  expect(partitionKeyOfPrimary(one?.primary as Bytes, 3)).toEqual([
    'a'.repeat(512),
    undefined,
    undefined,
  ]);
  const short = keys.keyOf(['a', 1, undefined], ['i']);
  expect(partitionKeyOfPrimary(short.primary, 3)).toEqual(['a', 1, undefined]);
});

test('row keys up to 1,900 bytes are in order; longer ones share a prefix with those that begin alike', () => {
  const keys = keysOf(2);
  const key = (row: string) => keys.keyOf(['a'], [row]).primary;
  const whole = 'x'.repeat(1897);
  expect(keys.runPrefixOf(key('x'.repeat(1800)))).toBeUndefined();
  expect(compareBytes(key(`${whole}a`), key(`${whole}b`))).toBe(-1);
  const [cut, other] = [key(`${whole}ab`), key(`${whole}bc`)];
  const prefix = keys.runPrefixOf(cut) as Bytes;
  expect(cut.length - (prefix.length + 16)).toBe(0);
  expect(keys.runPrefixOf(other)).toEqual(prefix);
  expect(compareBytes(cut, other)).not.toBe(0);
  expect(compareBytes(prefix, key(`${whole}a`).subarray(0, prefix.length))).toBe(0);
});

test('the rows of a prefix are those whose row keys begin with its values, long ones too', () => {
  const keys = keysOf(2, HASH, bson);
  const random = seededRandom(3);
  const values = [1, 'a', 'a\0', 'x'.repeat(1890), 'x'.repeat(2500), { a: 1 }, [1], null];
  const value = () => values[random.below(values.length)] as Value;
  const rows = Array.from({ length: 300 }, () => [value(), value()]);
  const epk = keys.epk(['a']);
  for (const first of values) {
    const { start, end } = keys.rowsOf(epk, ['a'], {
      from: { values: [first], isInclusive: true },
      to: { values: [first], isInclusive: true },
    });
    for (const row of rows) {
      const { primary } = keys.keyAt(epk, ['a'], row);
      const isFound = compareBytes(start, primary) <= 0 && compareBytes(primary, end as Bytes) < 0;
      const isWanted = row[0] === first;
      // Long values share their first bytes.
      const mayBeFound = isWanted || (start.length > 1800 && typeof row[0] === 'string');
      if (isWanted) expect(isFound).toBe(true);
      if (!mayBeFound) expect(isFound).toBe(false);
    }
  }
});

test('objects of the same properties in another order are two row keys in bson', () => {
  const keys = keysOf(2, HASH, bson);
  expect(hexOf(keys, ['a'], [{ a: 1, b: 2 }])).not.toBe(hexOf(keys, ['a'], [{ b: 2, a: 1 }]));
  const id = new Extended({ kind: 'int64', value: 1n });
  expect(hexOf(keys, ['a'], [id])).toBe(hexOf(keys, ['a'], [1]));
});
