// Goal: expressions give MongoDB's values, types and codes. Method: tables of expressions over one document.
import { Decimal128, Double, Int32, Long, ObjectId } from 'bson';
import { describe, expect, it } from 'vitest';
import { MongoError } from '../../errors.ts';
import { documentFrom, shown, valueFrom } from '../../test-kit.ts';
import { compileExpression } from './compile.ts';
import { expressionContext } from './scope.ts';

const DOCUMENT = documentFrom({
  a: 3,
  big: Long.fromString('9007199254740993'),
  d: 2.5,
  m: Decimal128.fromString('1.10'),
  s: 'añb',
  list: [3, 1, 2],
  docs: [{ x: 1 }, { y: 2 }, 5, { x: 3 }],
  merged: [{ x: 1 }, { y: 2 }],
  when: new Date('2024-02-29T12:30:45.678Z'),
  id: new ObjectId('5f3a00112233445566778899'),
  none: null,
});

const context = expressionContext(0, new Map([['factor', 7]]));

function evaluate(expression: unknown): string {
  const value = compileExpression(valueFrom(expression), context)(DOCUMENT);
  return value === undefined ? 'missing' : shown(new Map([['v', value]]));
}

function codeOf(expression: unknown): number {
  try {
    compileExpression(valueFrom(expression), context)(DOCUMENT);
  } catch (error) {
    if (error instanceof MongoError) return error.number;
    throw error;
  }
  return 0;
}

describe('values', () => {
  it.each<readonly [unknown, unknown]>([
    [{ $add: ['$a', 1] }, new Int32(4)],
    [{ $add: [2147483647, 1] }, Long.fromNumber(2147483648)],
    [{ $add: [Long.MAX_VALUE, 1] }, new Double(2 ** 63)],
    [{ $add: ['$m', 1.5] }, Decimal128.fromString('2.60000000000000')],
    [{ $add: ['$when', 1] }, new Date('2024-02-29T12:30:45.679Z')],
    [{ $subtract: ['$when', '$when'] }, Long.fromNumber(0)],
    [{ $divide: [1, 4] }, new Double(0.25)],
    [
      { $divide: [Decimal128.fromString('1'), 3] },
      Decimal128.fromString('0.3333333333333333333333333333333333'),
    ],
    [{ $mod: [-7, 3] }, new Int32(-1)],
    [{ $round: [2.5] }, new Double(2)],
    [{ $round: [1234.5678, 2] }, new Double(1234.57)],
    [{ $pow: [2, 62] }, Long.fromString('4611686018427387904')],
    [{ $sqrt: Decimal128.fromString('4') }, Decimal128.fromString('2')],
    [{ $cmp: ['$missing', null] }, new Int32(-1)],
    [{ $eq: ['$big', '$big'] }, true],
    [{ $ifNull: ['$none', '$missing', 'x'] }, 'x'],
    ['$docs.x', [new Int32(1), new Int32(3)]],
    ['$$factor', new Int32(7)],
    [{ $let: { vars: { a: 1 }, in: { $add: ['$$a', '$a'] } } }, new Int32(4)],
    [
      { $map: { input: '$list', in: { $multiply: ['$$this', 2] } } },
      [6, 2, 4].map((n) => new Int32(n)),
    ],
    [{ $filter: { input: '$list', as: 'n', cond: { $gt: ['$$n', 1] }, limit: 1 } }, [new Int32(3)]],
    [
      { $reduce: { input: '$list', initialValue: 0, in: { $add: ['$$value', '$$this'] } } },
      new Int32(6),
    ],
    [{ $sortArray: { input: '$list', sortBy: -1 } }, [3, 2, 1].map((n) => new Int32(n))],
    [{ $setUnion: ['$list', [2, 9]] }, [1, 2, 3, 9].map((n) => new Int32(n))],
    [{ $strLenBytes: '$s' }, new Int32(4)],
    [{ $strLenCP: '$s' }, new Int32(3)],
    [{ $substrCP: ['$s', 1, 1] }, 'ñ'],
    [
      { $regexFind: { input: '$s', regex: '(b)$' } },
      { match: 'b', idx: new Int32(2), captures: ['b'] },
    ],
    [{ $toString: 1e16 }, '1e+16'],
    [{ $toDecimal: 2.5 }, Decimal128.fromString('2.50000000000000')],
    [{ $convert: { input: 'x', to: 'int', onError: 'bad' } }, 'bad'],
    [
      { $dateToString: { date: '$when', format: '%Y-%m-%d %H', timezone: 'America/New_York' } },
      '2024-02-29 07',
    ],
    [{ $dateTrunc: { date: '$when', unit: 'month' } }, new Date('2024-02-01T00:00:00Z')],
    [
      { $dateAdd: { startDate: '$when', unit: 'year', amount: 1 } },
      new Date('2025-02-28T12:30:45.678Z'),
    ],
    [
      {
        $dateDiff: { startDate: new Date('2023-12-31T23:00:00Z'), endDate: '$when', unit: 'month' },
      },
      Long.fromNumber(2),
    ],
    [{ $isoWeek: '$when' }, new Int32(9)],
    [
      { $dateFromString: { dateString: '2024-03-10T02:30:00', timezone: '+01:00' } },
      new Date('2024-03-10T01:30:00Z'),
    ],
    [{ $arrayToObject: [[['k', 1]]] }, { k: new Int32(1) }],
    [{ $avg: [1, 2, '$d'] }, new Double(5.5 / 3)],
    [{ $maxN: { input: '$list', n: 2 } }, [3, 2].map((n) => new Int32(n))],
    [{ $or: [{ $divide: ['$a', 0] }, true] }, true],
    [{ $mergeObjects: ['$merged'] }, { x: new Int32(1), y: new Int32(2) }],
    [{ $ceil: Decimal128.fromString('1E+3') }, Decimal128.fromString('1000')],
    [{ $ceil: Decimal128.fromString('1E+6144') }, Decimal128.fromString('NaN')],
    [{ $trunc: [0.29, 2] }, new Double(0.28)],
    [{ $ln: Decimal128.fromString('NaN') }, new Double(Number.NaN)],
    [
      { $log: [Decimal128.fromString('64'), 2] },
      Decimal128.fromString('5.999999999999999999999999999999999'),
    ],
    [{ $pow: [new Double(1), new Double(Number.POSITIVE_INFINITY)] }, new Double(1)],
    [{ $toLower: new Double(-0) }, '-0'],
    [{ $toUpper: new Double(5e-324) }, '4.94066E-324'],
    [{ $indexOfCP: ['', ''] }, new Int32(0)],
    [
      { $sortArray: { input: [{ $literal: { a: [3, 1] } }, { a: [2] }], sortBy: { a: 1 } } },
      [{ a: [new Int32(2)] }, { a: [new Int32(3), new Int32(1)] }],
    ],
    [{ $toDate: ' 2024-06-15\t12:30:45Z\0' }, new Date('2024-06-15T12:30:45Z')],
    [
      { $dateFromString: { dateString: 'WED jan 31 12:05:28 +03:30 1996' } },
      new Date('1996-01-31T08:35:28Z'),
    ],
  ])('%j', (expression, expected) => {
    expect(evaluate(expression)).toBe(shown(documentFrom({ v: expected })));
  });

  it('a missing field is missing, not null', () => {
    expect(evaluate('$missing.field')).toBe('missing');
    expect(evaluate({ kept: '$a', left: '$missing' })).toBe(
      shown(documentFrom({ v: { kept: 3 } })),
    );
  });
});

describe('codes', () => {
  it.each<readonly [unknown, number]>([
    [{ $add: ['$s', 1] }, 14],
    [{ $add: ['$when', '$when'] }, 16612],
    [{ $divide: [1, 0] }, 2],
    [{ $mod: [1, 0] }, 16610],
    [{ $nosuch: 1 }, 168],
    [{ $abs: [1, 2] }, 16020],
    [{ $add: 1, $subtract: 2 }, 15983],
    ['$', 16872],
    ['$a..b', 15998],
    ['$$nosuch', 17276],
    [{ $toInt: 'x' }, 241],
    [{ $toInt: [1, 2] }, 50723],
    [{ $year: 'x' }, 16006],
    [{ $year: { date: '$when', timezone: 'Nowhere/City' } }, 40485],
    [{ $regexMatch: { input: 'x', regex: '(' } }, 51111],
    [{ $arrayElemAt: [1, 1] }, 28689],
    [{ $setIsSubset: [1, []] }, 17046],
    [{ $mergeObjects: [1] }, 40400],
    [{ $range: [0, 5, 0] }, 34449],
    [{ $let: { vars: { BAD: 1 }, in: 1 } }, 9],
    [{ $let: { vars: [1], in: 1 } }, 9],
    [{ $ifNull: ['$a', { $divide: [1, 0] }] }, 2],
    [{ $sigmoid: [1] }, 14],
    [
      {
        $dateAdd: {
          startDate: '$when',
          unit: 'day',
          amount: Decimal128.fromString('3.000000000000000000000000000000001'),
        },
      },
      5166405,
    ],
    [{ $setField: { field: { $concat: ['a', 'b'] }, input: {}, value: 1 } }, 4161106],
    [{ $convert: { input: 1, to: { type: null } } }, 9],
    [{ $toDouble: '1e-400' }, 241],
    [{ $substrBytes: ['a', 0, new Double(Number.NaN)] }, 31109],
    [{ $regexMatch: { input: 1, regex: /a/i, options: 'i' } }, 51107],
  ])('%j is refused with %d', (expression, code) => {
    expect(codeOf(expression)).toBe(code);
  });
});

describe('an expression that would keep others waiting is refused', () => {
  const numbers = { $range: [0, { $multiply: ['$a', 1000] }] };
  const nested = {
    input: numbers,
    cond: { $gt: [{ $size: { $filter: { input: numbers, cond: true } } }, 0] },
  };
  const long = { input: { $range: [0, { $multiply: ['$a', 1e6] }] }, initialValue: '' };
  it.each<readonly [string, unknown, string]>([
    ['of time', { $filter: nested }, 'The query exceeded the time'],
    [
      'of size',
      { $reduce: { ...long, in: { $concat: ['$$value', 'x'.repeat(100)] } } },
      'The query exceeded the',
    ],
  ])('%s', (_, expression, message) => {
    expect(() => evaluate(expression)).toThrow(message);
  });
});
