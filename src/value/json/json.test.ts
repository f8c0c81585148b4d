// Goal: JSON is read strictly, safely and without loss. Method: tables; extended JSON against its documented text.
import { describe, expect, it } from 'vitest';
import { bytesToText, textToBytes } from '../../base/index.ts';
import { Extended, type ExtendedPayload, type Value } from '../value.ts';
import { jsonCodec } from './json.ts';

const decode = (text: string) => jsonCodec.decode(textToBytes(text));
const encode = (value: Value) => bytesToText(jsonCodec.encode(value));

it.each(['null', 'true', '-1.5e-7', '"é😀\\u0000"', '[]', '{"a":[1,{"b":null}]}', '"\\ud800"'])(
  '%s reads and writes back',
  (text) => {
    expect(encode(decode(text))).toBe(text);
  },
);

describe('decode', () => {
  it.each(['', '{', '{"a":1,}', "{'a':1}", 'NaN', 'undefined', '01', '{}{}', '\ufeff{}'])(
    'refuses %j',
    (text) => {
      expect(() => decode(text)).toThrow(SyntaxError);
    },
  );

  it('refuses bytes that are not UTF-8', () => {
    const overlong = Uint8Array.of(0x22, 0xc0, 0x80, 0x22);
    const invalid = Uint8Array.of(0x22, 0xe2, 0x82, 0x22);
    expect(() => jsonCodec.decode(overlong)).toThrow(SyntaxError);
    expect(() => jsonCodec.decode(invalid)).toThrow(SyntaxError);
  });

  it('has __proto__ as a property like any other', () => {
    const value = decode('{"__proto__":{"isAdmin":true}}') as Record<string, Value>;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(value.isAdmin).toBeUndefined();
    expect(encode(value)).toBe('{"__proto__":{"isAdmin":true}}');
  });

  it('creates no Extended from extended JSON, and runs no toJSON of a client', () => {
    expect(decode('{"$oid":"00"}')).toEqual({ $oid: '00' });
    expect(encode(decode('{"toJSON":"x"}'))).toBe('{"toJSON":"x"}');
  });
});

it('pluck finds one value', () => {
  const body = textToBytes('{"a":{"b":[1]},"a2":2}');
  expect(jsonCodec.pluck(body, ['a', 'b'])).toEqual([1]);
  expect(jsonCodec.pluck(body, ['a', 'c'])).toBeUndefined();
});

describe('extended JSON', () => {
  const bytes = Uint8Array.from({ length: 16 }, (_, at) => at);
  it.each<[ExtendedPayload, string]>([
    [{ kind: 'int64', value: -5n }, '-5'],
    [{ kind: 'int64', value: 2n ** 53n }, '{"$numberLong":"9007199254740992"}'],
    [{ kind: 'decimal', digits: '12.50' }, '{"$numberDecimal":"12.50"}'],
    [{ kind: 'date', ms: 0 }, '{"$date":"1970-01-01T00:00:00.000Z"}'],
    [{ kind: 'date', ms: -1 }, '{"$date":{"$numberLong":"-1"}}'],
    [{ kind: 'date', ms: 253_402_300_800_000 }, '{"$date":{"$numberLong":"253402300800000"}}'],
    [{ kind: 'uuid', bytes }, '{"$uuid":"00010203-0405-0607-0809-0a0b0c0d0e0f"}'],
    [{ kind: 'objectId', bytes: bytes.slice(0, 12) }, '{"$oid":"000102030405060708090a0b"}'],
    [
      { kind: 'binary', bytes: bytes.slice(0, 2), subtype: 128 },
      '{"$binary":{"base64":"AAE=","subType":"80"}}',
    ],
    [{ kind: 'timestamp', high: 1, low: 2 }, '{"$timestamp":{"t":1,"i":2}}'],
    [
      { kind: 'regex', source: '^a', flags: 'i' },
      '{"$regularExpression":{"pattern":"^a","options":"i"}}',
    ],
    [{ kind: 'minKey' }, '{"$minKey":1}'],
    [{ kind: 'maxKey' }, '{"$maxKey":1}'],
  ])('%o', (payload, expected) => {
    expect(encode([new Extended(payload)])).toBe(`[${expected}]`);
  });
});
