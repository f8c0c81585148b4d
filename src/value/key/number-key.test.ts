// Goal: all kinds of numbers have one exact order. Method: seeded random pairs where doubles get coarse, compared as
// fractions of BigInt.
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../base/index.ts';
import { Extended } from '../value.ts';
import { compareNumbers, locateNumber, type NumberValue, toDouble } from './number-key.ts';

const decimal = (digits: string) => new Extended({ kind: 'decimal', digits });
const int64 = (value: bigint) => new Extended({ kind: 'int64', value });

it.each([
  [5, 5, true],
  [-0, 0, true],
  [int64(5n), 5, true],
  [int64(9007199254740993n), 9007199254740992, false],
  [int64(-9007199254740993n), -9007199254740994, false],
  [int64(2n ** 63n - 1n), 2 ** 63 - 1024, false],
  [decimal('0'), 0, true],
  [decimal('-0.000'), 0, true],
  [decimal('12.50E+3'), 12500, true],
  [decimal('0.1'), 0.09999999999999999, false],
  [decimal('1E400'), Number.MAX_VALUE, false],
  [decimal('-1E400'), Number.NEGATIVE_INFINITY, false],
  [decimal('1E-400'), 0, false],
  [decimal('-1E-400'), -Number.MIN_VALUE, false],
  [decimal('Infinity'), Number.POSITIVE_INFINITY, true],
  [decimal('NaN'), Number.NaN, true],
] as const)('the floor of %j is %d (itself: %s)', (value, floor, isItself) => {
  const location = locateNumber(value);
  expect(Object.is(location.floor, floor === 0 ? 0 : floor)).toBe(true);
  expect(location.exact === undefined).toBe(isItself);
});

describe('compareNumbers', () => {
  it.each([1, 2, 3])('agrees with exact fractions, seed %d', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 2000; round++) {
      const a = randomNumber(random);
      const b = round % 2 === 0 ? randomNumber(random) : nearby(a, random);
      const [numeratorA, denominatorA] = fraction(a);
      const [numeratorB, denominatorB] = fraction(b);
      const left = numeratorA * denominatorB;
      const right = numeratorB * denominatorA;
      const expected = left < right ? -1 : left > right ? 1 : 0;
      expect(
        Math.sign(compareNumbers(a, b)),
        `seed ${seed} round ${round}: ${JSON.stringify([a, b])}`,
      ).toBe(expected);
    }
  });
});

function randomNumber(random: Random): NumberValue {
  const sign = random.below(2) === 0 ? -1 : 1;
  switch (random.below(4)) {
    case 0:
      return sign * (2 ** 53 + random.below(64) - 32);
    case 1: {
      const magnitude = 2n ** BigInt(52 + random.below(11)) + BigInt(random.below(2049)) - 1024n;
      return int64(BigInt.asIntN(64, BigInt(sign) * magnitude));
    }
    case 2:
      return sign * random.below(1000) * 2 ** (random.below(100) - 50);
    default:
      return decimal(
        `${sign < 0 ? '-' : ''}${random.below(1e9)}.${random.below(1e9)}E${random.below(30) - 10}`,
      );
  }
}

/** Another number of another kind at or very near the same value. */
function nearby(value: NumberValue, random: Random): NumberValue {
  const double = toDouble(value);
  const whole = BigInt(Math.trunc(Math.max(-(2 ** 62), Math.min(2 ** 62, double))));
  switch (random.below(3)) {
    case 0:
      return double;
    case 1:
      return int64(whole + BigInt(random.below(5) - 2));
    default:
      return decimal(`${whole}.${random.below(4)}`);
  }
}

function fraction(value: NumberValue): readonly [bigint, bigint] {
  if (value instanceof Extended) {
    const { payload } = value;
    if (payload.kind === 'int64') return [payload.value, 1n];
    const text = payload.kind === 'decimal' ? payload.digits : '';
    const [, sign, whole, part = '', exponent = '0'] =
      /^(-?)(\d+)(?:\.(\d+))?(?:E(-?\d+))?$/.exec(text) ?? [];
    const digits = BigInt(`${whole}${part}`) * (sign === '-' ? -1n : 1n);
    const scale = Number(exponent) - part.length;
    return scale >= 0 ? [digits * 10n ** BigInt(scale), 1n] : [digits, 10n ** BigInt(-scale)];
  }
  let denominator = 1n;
  let numerator = value;
  while (!Number.isInteger(numerator)) {
    numerator *= 2;
    denominator *= 2n;
  }
  return [BigInt(numerator), denominator];
}
