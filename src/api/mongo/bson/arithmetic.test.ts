// Goal: numbers of four kinds add and multiply as in MongoDB. Method: tables; doubles as the peer of decimals.
import { Decimal128, Double, Long, ObjectId } from 'bson';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import { valueFrom } from '../test-kit.ts';
import { addDecimals, decimalOfDouble, multiplyDecimals } from './decimal.ts';
import { printBson } from './print.ts';

describe('decimals', () => {
  it.each([
    ['1.10', '2.205', '3.305'],
    ['-1', '1', '0'],
    ['1E+10', '1', '10000000001'],
    ['9999999999999999999999999999999999', '1', '1.000000000000000000000000000000000E+34'],
    ['1', '1E-40', '1'],
    ['Infinity', '-Infinity', 'NaN'],
    ['NaN', '1', 'NaN'],
    ['0.1', '0.2', '0.3'],
  ])('%s + %s = %s', (a, b, sum) => {
    expect(Number(addDecimals(a, b))).toBe(Number(sum));
    expect(Decimal128.fromString(addDecimals(a, b)).toString()).toBe(
      Decimal128.fromString(addDecimals(b, a)).toString(),
    );
  });

  it.each([
    ['1.5', '2.50', '3.750'],
    ['-0.1', '0.1', '-0.01'],
    ['1E+20', '1E+20', '1E+40'],
    ['2', 'Infinity', 'Infinity'],
  ])('%s * %s = %s', (a, b, product) => {
    expect(multiplyDecimals(a, b)).toBe(product);
  });

  it('results are decimals and near those of doubles, seed 7', () => {
    const random = seededRandom(7);
    for (let round = 0; round < 2000; round++) {
      const a = decimalOfDouble((random.below(2_000_000) - 1_000_000) / 10 ** random.below(12));
      const b = decimalOfDouble((random.below(2_000_000) - 1_000_000) / 10 ** random.below(12));
      const sum = Number(Decimal128.fromString(addDecimals(a, b)).toString());
      const product = Number(Decimal128.fromString(multiplyDecimals(a, b)).toString());
      expect(sum, `${a} + ${b}`).toBeCloseTo(Number(a) + Number(b), 8);
      expect(Math.abs(product - Number(a) * Number(b)), `${a} * ${b}`).toBeLessThanOrEqual(
        Math.abs(product) * 1e-12,
      );
    }
  });
});

it.each<readonly [unknown, string]>([
  [{ a: 1, b: 'x"y' }, '{ a: 1, b: "x\\"y" }'],
  [[1, null, true], '[ 1, null, true ]'],
  [new Double(1), '1.0'],
  [1.5, '1.5'],
  [Long.fromString('9007199254740993'), '9007199254740993'],
  [new ObjectId('5f3a00112233445566778899'), "ObjectId('5f3a00112233445566778899')"],
  [new Date(5), 'new Date(5)'],
  [Decimal128.fromString('1.50'), '1.50'],
  [/a/i, '/a/i'],
  [{}, '{}'],
])('%j is printed as %s', (value, text) => {
  expect(printBson(valueFrom(value))).toBe(text);
});
