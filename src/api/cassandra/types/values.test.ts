// Goal: values survive text, JSON and bytes; what is no value is refused. Method: one table of values of every type.
import { expect, test } from 'vitest';
import { toHex } from '../../../base/index.ts';
import { Extended, type Value } from '../../../value/index.ts';
import { typeText } from './cql-type.ts';
import { checkNesting, parseType } from './parse-type.ts';
import { bytesOfJson, checkValue, jsonOf } from './values.ts';

const int64 = (value: bigint) => new Extended({ kind: 'int64', value });
const decimal = (digits: string) => new Extended({ kind: 'decimal', digits });

test.each<readonly [string, Value, string]>([
  ['ascii', 'a', '61'],
  ['bigint', -1, 'FFFFFFFFFFFFFFFF'],
  ['bigint', int64(9223372036854775807n), '7FFFFFFFFFFFFFFF'],
  ['blob', '0xcafe', 'CAFE'],
  ['blob', '0x', ''],
  ['boolean', true, '01'],
  ['date', '1970-01-01', '80000000'],
  ['date', '2024-02-29', '80004D46'],
  ['decimal', 12.5, '000000017D'],
  ['decimal', decimal('0.12345678901234567890'), '0000001400AB54A98CEB1F0AD2'],
  ['double', 1.5, '3FF8000000000000'],
  ['double', 'NaN', '7FF8000000000000'],
  ['float', 0.1, '3DCCCCCD'],
  ['inet', '127.0.0.1', '7F000001'],
  ['inet', '2001:db8:0:0:0:0:0:1', '20010DB8000000000000000000000001'],
  ['int', -1, 'FFFFFFFF'],
  ['smallint', 300, '012C'],
  ['text', 'grün', '6772C3BC6E'],
  ['time', '08:12:54.123456789', '00001AE5C31F8915'],
  ['timestamp', '2024-02-29 12:00:00.001Z', '0000018DF4BC5601'],
  ['timeuuid', '50554d6e-29bb-11e5-b345-feff819cdc9f', '50554D6E29BB11E5B345FEFF819CDC9F'],
  ['tinyint', -1, 'FF'],
  ['uuid', '00000000-0000-4000-8000-000000000001', '00000000000040008000000000000001'],
  ['varint', 128, '0080'],
  ['varint', decimal('123456789012345678901234567890'), '018EE90FF6C373E0EE4E3F0AD2'],
  ['list<int>', [1, 2], '0000000200000004000000010000000400000002'],
  ['frozen<set<text>>', ['a'], '000000010000000161'],
  ['map<text, int>', { a: 1 }, '0000000100000001610000000400000001'],
  ['frozen<tuple<int, text>>', [1, null], '0000000400000001FFFFFFFF'],
])('%s %j', (text, json, hex) => {
  const type = parseType(text);
  expect(typeText(type)).toBe(text);
  const bytes = bytesOfJson(type, json);
  expect(toHex(bytes)).toBe(hex);
  checkValue(type, bytes);
  expect(jsonOf(type, bytes)).toEqual(json);
});

test.each(['1y2mo3d4h5m6s7ms8us9ns', '-12d', '89h4m48s', '1mo'])('duration %s', (text) => {
  const type = parseType('duration');
  expect(jsonOf(type, bytesOfJson(type, text))).toBe(text);
});

test.each([
  ['int', '000000', 'Expected 0 or 4 bytes for a int (3)'],
  ['boolean', '0000', 'Expected 0 or 1 byte for a boolean (2)'],
  ['text', 'FF', "String didn't validate."],
  ['ascii', '80', 'Invalid byte for ascii: 128'],
  ['timeuuid', '00000000000040008000000000000001', 'Invalid version for TimeUUID type.'],
  [
    'list<int>',
    '0000000200000004',
    'Not enough bytes to read the value of a collection, tuple or user type',
  ],
  [
    'list<int>',
    '7FFFFFFF',
    'Not enough bytes to read the value of a collection, tuple or user type',
  ],
])('%s: bytes %s are refused', (text, hex, message) => {
  expect(() => checkValue(parseType(text), Buffer.from(hex, 'hex'))).toThrow(message);
});

test.each([
  ['list<list<int>>', 'Non-frozen collections are not allowed inside collections'],
  ['map<int>', "Cannot parse the type 'map<int>'"],
  ['other<int>', "Cannot parse the type 'other<int>'"],
  ['other', 'Unknown type'],
  ['frozen<'.repeat(100), 'The type is nested too deeply'],
])('type %s is refused', (text, message) => {
  expect(() => checkNesting(parseType(text), text)).toThrow(message);
});
