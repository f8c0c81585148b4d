// Goal: BSON bytes, model and order are MongoDB's. Method: golden vectors, the stock library as the peer, random documents.
import {
  Binary,
  BSON,
  BSONRegExp,
  Code,
  Decimal128,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} from 'bson';
import { describe, expect, it } from 'vitest';
import { DomainError, fromHex, seededRandom, toHex } from '../../base/index.ts';
import { Extended, type Value } from '../value.ts';
import { type Bson, BsonCode, type BsonDocument, BsonSymbol, Double } from './bson.ts';
import { bsonCodec } from './bson-codec.ts';
import { compareBson } from './bson-order.ts';
import { fieldReader, pluckBson } from './bson-pluck.ts';
import { readBson } from './bson-reader.ts';
import { valueOfDocument } from './bson-value.ts';
import { writeBson } from './bson-writer.ts';
import { bsonOfExtendedJson } from './extended-json.ts';

const oid = '5f3a00112233445566778899';

describe('golden vectors', () => {
  const vectors: readonly (readonly [string, BsonDocument, string])[] = [
    ['empty', new Map(), '0500000000'],
    ['int32', new Map([['a', 1]]), '0C0000001061000100000000'],
    ['int64', new Map([['a', 1n]]), '10000000126100010000000000000000'],
    ['double', new Map([['a', new Double(1)]]), '10000000016100000000000000F03F00'],
    ['text', new Map([['a', 'é']]), '0F00000002610003000000C3A90000'],
    [
      'names that are numbers keep their place',
      new Map<string, Bson>([
        ['2', null],
        ['1', true],
      ]),
      '0C0000000A32000831000100',
    ],
    ['array', new Map([['a', [1, null]]]), '170000000461000F000000103000010000000A31000000'],
    ['symbol', new Map([['a', new BsonSymbol('x')]]), '0E0000000E610002000000780000'],
    [
      'objectId',
      new Map([['a', new Extended({ kind: 'objectId', bytes: new Uint8Array(fromHex(oid)) })]]),
      `14000000076100${oid}00`,
    ],
    [
      'decimal',
      new Map([['a', new Extended({ kind: 'decimal', digits: '1.50' })]]),
      '1800000013610096000000000000000000000000003C3000',
    ],
  ];
  it.each(vectors)('%s', (_, document, hex) => {
    expect(toHex(writeBson(document)).toUpperCase()).toBe(hex.toUpperCase());
    expect(readBson(fromHex(hex))).toEqual(document);
  });
});

it('reads what the stock library writes, to the shared values', () => {
  const bytes = BSON.serialize({
    id: new ObjectId(oid),
    when: new Date(5),
    long: Long.fromString('9007199254740993'),
    binary: new Binary(Buffer.from([1, 2]), 5),
    time: new Timestamp({ t: 7, i: 8 }),
    regex: new BSONRegExp('^a', 'i'),
    min: new MinKey(),
    max: new MaxKey(),
    code: new Code('f()', { x: 1 }),
    decimal: Decimal128.fromString('1E+3'),
    nested: { list: [1, 2.5, 'x', { deep: null }] },
    __proto__: undefined,
  });
  const extended = (payload: Extended['payload']): Extended => new Extended(payload);
  expect(bsonCodec.decode(bytes)).toEqual({
    id: extended({ kind: 'objectId', bytes: new Uint8Array(fromHex(oid)) }),
    when: extended({ kind: 'date', ms: 5 }),
    long: extended({ kind: 'int64', value: 9007199254740993n }),
    binary: extended({ kind: 'binary', bytes: Uint8Array.of(1, 2), subtype: 5 }),
    time: extended({ kind: 'timestamp', high: 7, low: 8 }),
    regex: extended({ kind: 'regex', source: '^a', flags: 'i' }),
    min: extended({ kind: 'minKey' }),
    max: extended({ kind: 'maxKey' }),
    code: { $code: 'f()', $scope: { x: 1 } },
    decimal: extended({ kind: 'decimal', digits: '1E+3' }),
    nested: { list: [1, 2.5, 'x', { deep: null }] },
  });
  expect(toHex(writeBson(readBson(bytes)))).toBe(toHex(bytes));
  expect(pluckBson(bytes, ['nested', 'list'])).toEqual([
    1,
    new Double(2.5),
    'x',
    new Map([['deep', null]]),
  ]);
  expect(pluckBson(bytes, ['decimal'])).toEqual(extended({ kind: 'decimal', digits: '1E+3' }));
  expect(pluckBson(bytes, ['nested', 'none'])).toBeUndefined();
  expect(pluckBson(bytes, ['regex', 'source'])).toBeUndefined();
  const whole = readBson(bytes);
  for (const name of whole.keys())
    expect(fieldReader([name, 'none'])(bytes)).toEqual(new Map([[name, whole.get(name)]]));
  expect([...fieldReader(['nested', 'id', 'nest'])(bytes).keys()]).toEqual(['id', 'nested']);
  expect(fieldReader([])(bytes)).toEqual(new Map());
});

describe('bad bytes are syntax errors', () => {
  it.each([
    ['no bytes', ''],
    ['a length beyond the end', 'FF00000000'],
    ['a negative length', 'FBFFFFFF00'],
    ['bytes behind the end', '050000000000'],
    ['an unknown type', '0800000044610000'],
    ['a text longer than the document', '0E00000002610009000000780000'],
    ['a text without an end', '0E00000002610002000000787800'],
    ['a boolean of 2', '090000000861000200'],
    ['a binary of negative length', '0E000000056100FFFFFFFF000000'],
  ])('%s', (_, hex) => {
    expect(() => readBson(fromHex(hex))).toThrow(SyntaxError);
  });

  it.each([1, 2, 3])('and nothing else, seed %d', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 3000; round++) {
      const bytes = Buffer.from(writeBson(randomDocument(random)));
      bytes[random.below(bytes.length)] = random.below(256);
      try {
        writeBson(readBson(bytes));
      } catch (error) {
        expect(error, `seed ${seed} round ${round}: ${toHex(bytes)}`).toBeInstanceOf(SyntaxError);
      }
    }
  });

  it('a nesting of 200 is read, one of 202 is not', () => {
    const nested = (depth: number): BsonDocument =>
      depth === 0 ? new Map() : new Map([['a', nested(depth - 1)]]);
    expect(readBson(writeBson(nested(200))).size).toBe(1);
    expect(() => readBson(writeBson(nested(202)))).toThrow('nested too deeply');
  });
});

it.each([11, 12])('documents round trip, seed %d', (seed) => {
  const random = seededRandom(seed);
  for (let round = 0; round < 1000; round++) {
    const document = randomDocument(random);
    expect(readBson(writeBson(document)), `seed ${seed} round ${round}`).toEqual(document);
    const value = valueOfDocument(document);
    expect(valueOfDocument(readBson(bsonCodec.encode(value)))).toEqual(value);
  }
});

it('values of all types are in the order of MongoDB', () => {
  const ascending: readonly (Bson | undefined)[] = [
    new Extended({ kind: 'minKey' }),
    undefined,
    null,
    new Double(Number.NaN),
    new Double(Number.NEGATIVE_INFINITY),
    -5n,
    new Extended({ kind: 'decimal', digits: '-0.5' }),
    0,
    new Double(0.5),
    9007199254740992n,
    9007199254740993n,
    new Extended({ kind: 'decimal', digits: '9007199254740993.5' }),
    new Double(Number.POSITIVE_INFINITY),
    '',
    'a',
    new BsonSymbol('b'),
    'c',
    '\uffff',
    '😀',
    new Map(),
    new Map([['b', 1]]),
    new Map<string, Bson>([
      ['b', 1],
      ['a', 0],
    ]),
    new Map([['a', 'x']]),
    [],
    [1],
    [1, 2],
    [2],
    new Extended({ kind: 'binary', bytes: Uint8Array.of(9), subtype: 0 }),
    new Extended({ kind: 'binary', bytes: Uint8Array.of(1), subtype: 5 }),
    new Extended({ kind: 'binary', bytes: Uint8Array.of(0, 0), subtype: 0 }),
    new Extended({ kind: 'objectId', bytes: new Uint8Array(fromHex(oid)) }),
    false,
    true,
    new Extended({ kind: 'date', ms: -1 }),
    new Extended({ kind: 'date', ms: 1 }),
    new Extended({ kind: 'timestamp', high: 1, low: 2 }),
    new Extended({ kind: 'timestamp', high: 2 ** 31, low: 0 }),
    new Extended({ kind: 'regex', source: 'a', flags: '' }),
    new BsonCode('a'),
    new BsonCode('a', new Map()),
    new Extended({ kind: 'maxKey' }),
  ];
  for (const [i, a] of ascending.entries())
    for (const [j, b] of ascending.entries())
      expect(Math.sign(compareBson(a, b)), `${i} against ${j}`).toBe(Math.sign(i - j));
});

it('numbers of all kinds are equal by value', () => {
  const ones = [1, 1n, new Double(1), new Extended({ kind: 'decimal', digits: '1.00' })];
  for (const a of ones) for (const b of ones) expect(compareBson(a, b)).toBe(0);
  expect(compareBson(new Double(-0), 0)).toBe(0);
});

describe('extended JSON', () => {
  it.each<readonly [string, Value, Bson]>([
    ['$oid', { $oid: oid }, new Extended({ kind: 'objectId', bytes: Buffer.from(oid, 'hex') })],
    ['$date', { $date: '1970-01-01T00:00:00.005Z' }, new Extended({ kind: 'date', ms: 5 })],
    ['$date before 1970', { $date: { $numberLong: '-5' } }, new Extended({ kind: 'date', ms: -5 })],
    ['$numberLong', { $numberLong: '5' }, 5n],
    ['$numberInt', { $numberInt: '5' }, 5],
    ['$numberDouble', { $numberDouble: '5' }, new Double(5)],
    ['$numberDecimal', { $numberDecimal: '5.0' }, new Extended({ kind: 'decimal', digits: '5.0' })],
    [
      '$timestamp',
      { $timestamp: { t: 1, i: 2 } },
      new Extended({ kind: 'timestamp', high: 1, low: 2 }),
    ],
    [
      '$regularExpression',
      { $regularExpression: { pattern: 'a', options: 'i' } },
      new Extended({ kind: 'regex', source: 'a', flags: 'i' }),
    ],
    ['$minKey', { $minKey: 1 }, new Extended({ kind: 'minKey' })],
    ['a whole number', 5, 5],
    ['a large whole number', 3_000_000_000, 3_000_000_000n],
    ['a fraction', 1.5, new Double(1.5)],
    ['minus zero', -0, new Double(-0)],
    ['no such form', { $oid: 'x' }, new Map([['$oid', 'x']])],
    [
      'two names',
      { $oid: oid, a: 1 },
      new Map<string, Bson>([
        ['$oid', oid],
        ['a', 1],
      ]),
    ],
  ])('%s', (_, json, expected) => {
    expect(bsonOfExtendedJson(json)).toEqual(expected);
  });

  it('refuses a name that BSON cannot have', () => {
    expect(() => bsonOfExtendedJson({ 'a\0': 1 })).toThrow(DomainError);
  });
});

function randomDocument(random: ReturnType<typeof seededRandom>, depth = 0): BsonDocument {
  const document = new Map<string, Bson>();
  for (let count = random.below(4); count > 0; count--)
    document.set(['a', 'b', '0', '10', 'é'][random.below(5)] as string, randomBson(random, depth));
  return document;
}

function randomBson(random: ReturnType<typeof seededRandom>, depth: number): Bson {
  switch (random.below(depth > 3 ? 9 : 11)) {
    case 0:
      return null;
    case 1:
      return random.below(2) === 0;
    case 2:
      return random.below(1000) - 500;
    case 3:
      return BigInt(random.below(1000)) * 2n ** 40n;
    case 4:
      return new Double(random.below(1000) / 8);
    case 5:
      return ['', 'text', 'é😀'][random.below(3)] as string;
    case 6:
      return new Extended({ kind: 'date', ms: random.below(1000) - 500 });
    case 7:
      return new Extended({ kind: 'binary', bytes: Uint8Array.of(random.below(256)), subtype: 0 });
    case 8:
      return new Extended({ kind: 'regex', source: 'a', flags: 'i' });
    case 9:
      return Array.from({ length: random.below(3) }, () => randomBson(random, depth + 1));
    default:
      return randomDocument(random, depth + 1);
  }
}

it('a decimal NaN keeps its sign in bytes', () => {
  const bytes = writeBson(new Map([['v', new Extended({ kind: 'decimal', digits: '-NaN' })]]));
  expect(bytes.at(-2)).toBe(0xfc);
  expect(readBson(bytes).get('v')).toEqual(new Extended({ kind: 'decimal', digits: '-NaN' }));
});
