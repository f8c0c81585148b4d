// Goal: the order of keys is the order of values, keys decode without loss, and the format never changes. Method:
// golden vectors; seeded random values of all kinds, compared and decoded.
import { describe, expect, it } from 'vitest';
import {
  type Bytes,
  compareBytes,
  KEY_TEXT_BYTES_MAX,
  type Random,
  seededRandom,
  toHex,
} from '../../base/index.ts';
import { type Collation, compareValues } from '../order.ts';
import {
  Extended,
  type ExtendedPayload,
  equalValues,
  isList,
  isMap,
  type Value,
} from '../value.ts';
import { KeyReader } from './key-reader.ts';
import { decodeTuple, encodeTuple, isExactTuple } from './tuple.ts';

const extended = (payload: ExtendedPayload) => new Extended(payload);
const bytes = (...list: number[]) => Uint8Array.from(list);
const twelve = bytes(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);

describe('golden vectors', () => {
  // These keys are on disk. A change here is a new format version, not a fix.
  const vectors: readonly (readonly [string, Value, Collation, string])[] = [
    ['minKey', extended({ kind: 'minKey' }), 'cosmos', '10'],
    ['undefined', undefined, 'cosmos', '12'],
    ['null', null, 'cosmos', '14'],
    ['false', false, 'cosmos', '16'],
    ['true', true, 'cosmos', '18'],
    ['NaN', Number.NaN, 'cosmos', '1A000000000000000000'],
    ['-Infinity', Number.NEGATIVE_INFINITY, 'cosmos', '1A000FFFFFFFFFFFFF00'],
    ['-1', -1, 'cosmos', '1A400FFFFFFFFFFFFF00'],
    ['-0', -0, 'cosmos', '1A800000000000000000'],
    ['0', 0, 'cosmos', '1A800000000000000000'],
    ['1', 1, 'cosmos', '1ABFF000000000000000'],
    ['2^53', 2 ** 53, 'cosmos', '1AC34000000000000000'],
    [
      '2^53+1',
      extended({ kind: 'int64', value: 9007199254740993n }),
      'cosmos',
      '1AC34000000000000001000100',
    ],
    [
      '-2^53-1',
      extended({ kind: 'int64', value: -9007199254740993n }),
      'cosmos',
      '1A3CBFFFFFFFFFFFFE01000100',
    ],
    [
      '0.1 decimal',
      extended({ kind: 'decimal', digits: '0.1' }),
      'cosmos',
      '1ABFB999999999999901800000000B00',
    ],
    [
      '-0.1 decimal',
      extended({ kind: 'decimal', digits: '-0.1' }),
      'cosmos',
      '1A4046666666666665017FFFFFFFF4FF',
    ],
    [
      '2^53+1.5 decimal',
      extended({ kind: 'decimal', digits: '9007199254740993.5' }),
      'cosmos',
      '1AC34000000000000001000101800000105B08145D374B0A5E3300',
    ],
    ['empty text', '', 'cosmos', '1C00'],
    ['text', 'a\0é', 'cosmos', '1C6100FFC3A900'],
    ['lone surrogate', '\ud800', 'cosmos', '1CEDA08000'],
    ['array', [1, 'a'], 'cosmos', '1E2010945388E2DE98F5651051478912AA'],
    ['object', { b: 2, a: 1 }, 'cosmos', '2043258CFF783FE7036D8A43033F830ADF'],
    [
      'binary',
      extended({ kind: 'binary', subtype: 5, bytes: bytes(0, 255) }),
      'cosmos',
      '2200FFFF0005',
    ],
    [
      'objectId',
      extended({ kind: 'objectId', bytes: twelve }),
      'cosmos',
      '240102030405060708090A0B0C',
    ],
    ['date', extended({ kind: 'date', ms: 1 }), 'cosmos', '26BFF0000000000000'],
    ['timestamp', extended({ kind: 'timestamp', high: 1, low: 2 }), 'cosmos', '280000000100000002'],
    ['regex', extended({ kind: 'regex', source: 'a', flags: 'i' }), 'cosmos', '2A61006900'],
    ['maxKey', extended({ kind: 'maxKey' }), 'cosmos', '2C'],
    ['minKey', extended({ kind: 'minKey' }), 'bson', '40'],
    ['null', null, 'bson', '42'],
    ['undefined', undefined, 'bson', '42'],
    ['1', 1, 'bson', '44BFF000000000000000'],
    ['text', 'a', 'bson', '466100'],
    ['object', { b: 2, a: 1 }, 'bson', '483FB75453225C732A76B7899EA2096DDA'],
    ['array', [1, 'a'], 'bson', '4A2010945388E2DE98F5651051478912AA'],
    [
      'binary',
      extended({ kind: 'binary', subtype: 5, bytes: bytes(0, 255) }),
      'bson',
      '4C000000020500FF',
    ],
    [
      'objectId',
      extended({ kind: 'objectId', bytes: twelve }),
      'bson',
      '4E0102030405060708090A0B0C',
    ],
    ['false', false, 'bson', '50'],
    ['true', true, 'bson', '52'],
    ['date', extended({ kind: 'date', ms: 1 }), 'bson', '54BFF0000000000000'],
    ['timestamp', extended({ kind: 'timestamp', high: 1, low: 2 }), 'bson', '560000000100000002'],
    ['regex', extended({ kind: 'regex', source: 'a', flags: 'i' }), 'bson', '5861006900'],
    ['maxKey', extended({ kind: 'maxKey' }), 'bson', '5A'],
  ];
  it.each(vectors)('%s: %j in %s', (_, value, collation, expected) => {
    expect(toHex(encodeTuple([value], collation))).toBe(expected);
  });

  it('a long text is truncated and keeps the digest of the whole', () => {
    const text = 'a'.repeat(KEY_TEXT_BYTES_MAX + 1);
    expect(toHex(encodeTuple([text]))).toBe(
      `1C${'61'.repeat(512)}FF02425C0F5B0DABF3D2B9115F3F7723A0`,
    );
  });
});

describe.each(['cosmos', 'bson'] as const)('%s', (collation) => {
  it.each([11, 12, 13])('byte order is value order, seed %d', (seed) => {
    const random = seededRandom(seed);
    const values = Array.from({ length: 400 }, () => randomValue(random));
    const keys = values.map((value) => encodeTuple([value], collation));
    for (const [i, a] of values.entries())
      for (const [j, b] of values.entries()) {
        if (collation === 'bson' && isNested(a) && isNested(b) && isList(a) === isList(b)) continue;
        const order = Math.sign(compareBytes(keys[i] as Bytes, keys[j] as Bytes));
        if (order !== Math.sign(compareValues(a, b, collation)))
          expect.fail(`seed ${seed}: ${show(a)} against ${show(b)}: bytes say ${order}`);
      }
  });

  it.each([21, 22])('keys are equal exactly for equal values, seed %d', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 2000; round++) {
      const a = randomValue(random);
      const b = randomValue(random);
      const isSame = compareBytes(encodeTuple([a], collation), encodeTuple([b], collation)) === 0;
      expect(isSame, `seed ${seed} round ${round}: ${show(a)} ${show(b)}`).toBe(
        compareValues(a, b, collation) === 0,
      );
    }
  });

  it.each([31, 32])('tuples decode, seed %d', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 1000; round++) {
      const values = Array.from({ length: random.below(4) }, () => randomScalar(random));
      const decoded = decodeTuple(encodeTuple(values, collation));
      const isEqual =
        decoded.length === values.length &&
        decoded.every((value, at) => compareValues(value, values[at], collation) === 0);
      expect(isEqual, `seed ${seed} round ${round}: ${values.map(show)}`).toBe(true);
    }
  });

  it.each([41, 42])('tuples sort part by part, seed %d', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 2000; round++) {
      const a = [randomScalar(random), randomScalar(random)];
      const b = [random.below(2) === 0 ? a[0] : randomScalar(random), randomScalar(random)];
      const expected = compareValues(a[0], b[0], collation) || compareValues(a[1], b[1], collation);
      const order = compareBytes(encodeTuple(a, collation), encodeTuple(b, collation));
      expect(Math.sign(order), `seed ${seed} round ${round}: ${a.map(show)} | ${b.map(show)}`).toBe(
        Math.sign(expected),
      );
    }
  });
});

it('equality of values is equality of cosmos keys, seed 51', () => {
  const random = seededRandom(51);
  for (let round = 0; round < 3000; round++) {
    const a = randomValue(random);
    const b = randomValue(random);
    expect(equalValues(a, b), `${show(a)} ${show(b)}`).toBe(compareValues(a, b) === 0);
  }
});

describe('long parts', () => {
  const long = 'x'.repeat(KEY_TEXT_BYTES_MAX);

  it('are bounded, unique, and not exact', () => {
    const key = encodeTuple([`${long}a`]);
    expect(key.length).toBe(1 + KEY_TEXT_BYTES_MAX + 1 + 16);
    expect(compareBytes(key, encodeTuple([`${long}b`]))).not.toBe(0);
    expect(isExactTuple(key)).toBe(false);
    expect(isExactTuple(encodeTuple([long]))).toBe(true);
    expect(() => decodeTuple(key)).toThrow('digest');
    expect(decodeTuple(encodeTuple([long, 1]))).toEqual([long, 1]);
  });

  it('sort exactly against every text that is not truncated', () => {
    const prefix = long.slice(1);
    const ascending = [
      prefix,
      `${prefix}\0`,
      `${prefix}\0a`,
      `${prefix}a`,
      long,
      `${long}a`,
      `${prefix}é`,
    ];
    const keys = ascending.map((text) => encodeTuple([text]));
    for (let at = 1; at < keys.length; at++)
      expect(compareBytes(keys[at - 1] as Bytes, keys[at] as Bytes), `${at}`).toBeLessThan(0);
  });

  it('leave the reader at the next part', () => {
    const binary = extended({ kind: 'binary', subtype: 0, bytes: new Uint8Array(1000) });
    const digits = extended({ kind: 'decimal', digits: `-0.${'123'.repeat(100)}` });
    for (const part of [`${long}\0\0`, [1], { a: 1 }, binary, digits])
      for (const collation of ['cosmos', 'bson'] as const) {
        const reader = new KeyReader(encodeTuple([part, 'next'], collation));
        reader.value();
        expect(reader.isExact).toBe(false);
        expect(reader.value()).toBe('next');
        expect(reader.isAtEnd).toBe(true);
      }
  });

  it('of digits: truncated decimals sort behind their prefix', () => {
    const keys = ['', '1', '2'].map((tail) =>
      encodeTuple([extended({ kind: 'decimal', digits: `0.${'12'.repeat(64)}${tail}` })]),
    );
    expect(compareBytes(keys[0] as Bytes, keys[1] as Bytes)).toBeLessThan(0);
    expect(compareBytes(keys[1] as Bytes, keys[2] as Bytes)).not.toBe(0);
  });
});

function isNested(value: Value): boolean {
  return isList(value) || isMap(value);
}

function randomValue(random: Random): Value {
  switch (random.below(12)) {
    case 0:
      return Array.from({ length: random.below(3) }, () => randomScalar(random));
    case 1:
      return Object.fromEntries(
        Array.from({ length: random.below(3) }, () => [randomText(random), randomScalar(random)]),
      );
    default:
      return randomScalar(random);
  }
}

function randomScalar(random: Random): Value {
  switch (random.below(10)) {
    case 0:
      return [undefined, null, false, true][random.below(4)];
    case 1:
      return [Number.NaN, -0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5e-324][
        random.below(6)
      ];
    case 2:
      return (random.below(2000) - 1000) / 2 ** random.below(12);
    case 3:
      return (random.below(2) === 0 ? -1 : 1) * (2 ** 53 + random.below(16) - 8);
    case 4: {
      const magnitude = 2n ** BigInt(53 + random.below(11)) + BigInt(random.below(33)) - 16n;
      return extended({
        kind: 'int64',
        value: BigInt.asIntN(64, random.below(2) === 0 ? magnitude : -magnitude),
      });
    }
    case 5:
      return extended({ kind: 'decimal', digits: randomDecimal(random) });
    case 6:
      return randomExtended(random);
    default:
      return randomText(random);
  }
}

function randomDecimal(random: Random): string {
  const sign = random.below(2) === 0 ? '-' : '';
  switch (random.below(4)) {
    case 0:
      return `${sign}${random.below(100)}.${random.below(10)}`;
    case 1:
      return `${sign}${2n ** 53n + BigInt(random.below(9)) - 4n}.${random.below(3)}`;
    case 2:
      return `${sign}${random.below(1000)}E${random.below(900) - 450}`;
    default:
      return `${sign}0.${random.below(1e9)}${random.below(1e9)}${random.below(1e9)}${random.below(1e9)}`;
  }
}

function randomExtended(random: Random): Extended {
  const few = (length: number) =>
    Uint8Array.from({ length }, () => [0, 1, 255][random.below(3)] as number);
  const payloads: readonly ExtendedPayload[] = [
    { kind: 'date', ms: random.below(5) - 2 },
    { kind: 'uuid', bytes: few(16) },
    { kind: 'objectId', bytes: few(12) },
    { kind: 'binary', bytes: few(random.below(4)), subtype: random.below(3) },
    { kind: 'timestamp', high: random.below(3), low: 2 ** 32 - 1 - random.below(3) },
    { kind: 'regex', source: randomText(random), flags: ['', 'i'][random.below(2)] as string },
    { kind: 'minKey' },
    { kind: 'maxKey' },
  ];
  return extended(payloads[random.below(payloads.length)] as ExtendedPayload);
}

function randomText(random: Random): string {
  const letters = [
    '\0',
    '\u0001',
    'a',
    'b',
    '\x7f',
    'é',
    '\ud800',
    '\udc00',
    '\ue000',
    '\uffff',
    '😀',
    '\u{10ffff}',
  ];
  return Array.from({ length: random.below(4) }, () => letters[random.below(letters.length)]).join(
    '',
  );
}

function show(value: Value): string {
  return value instanceof Extended
    ? `${value.payload.kind}:${JSON.stringify(value)}`
    : `${typeof value}:${Object.is(value, -0) ? '-0' : JSON.stringify(value)}`;
}
