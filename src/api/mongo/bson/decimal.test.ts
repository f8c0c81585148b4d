// Goal: decimals of 34 digits keep MongoDB's digits and exponents. Method: tables.
import { expect, it } from 'vitest';
import {
  addDecimals,
  decimalOfDouble,
  divideDecimals,
  exactDecimalOfDouble,
  remainderOfDecimals,
  rootOfDecimal,
  roundDecimal,
  wholeDecimal,
} from './decimal.ts';
import { decimalFunction } from './decimal-functions.ts';

it.each([
  [divideDecimals('1', '4'), '0.25'],
  [divideDecimals('10.0000000000000', '2'), '5.0000000000000'],
  [divideDecimals('1', '3'), '0.3333333333333333333333333333333333'],
  [divideDecimals('1E+6144', '0.1'), 'Infinity'],
  [remainderOfDecimals('5.5', '2'), '1.5'],
  [remainderOfDecimals('-7', '3'), '-1'],
  [rootOfDecimal('2'), '1.414213562373095048801688724209698'],
  [rootOfDecimal('4.00'), '2.0'],
  [roundDecimal('2.5', 0, 'even'), '2'],
  [roundDecimal('-2.5', 0, 'down'), '-3'],
  [roundDecimal('1234', -2, 'even'), '1.2E+3'],
  [decimalOfDouble(0.1), '0.100000000000000'],
  [exactDecimalOfDouble(0.5), '0.5'],
  [exactDecimalOfDouble(3.14), '3.140000000000000124344978758017533'],
  [addDecimals('-0', '0'), '0'],
  [addDecimals('-NaN', 'NaN'), '-NaN'],
  [addDecimals('Infinity', '-NaN'), '-NaN'],
  [wholeDecimal('-2.5', 'up'), '-2'],
  [wholeDecimal('Infinity', 'up'), 'NaN'],
  [decimalFunction('exp', '0'), '1'],
  [decimalFunction('sin', '1'), '0.8414709848078965066525023216302990'],
])('%s', (found, expected) => {
  expect(found).toBe(expected);
});
