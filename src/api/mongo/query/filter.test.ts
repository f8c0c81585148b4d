// Goal: filters match what MongoDB matches, arrays and types included. Method: tables of filter, matching and other documents.
import { BSONSymbol, Decimal128, Double, Long, MaxKey, MinKey, ObjectId } from 'bson';
import { describe, expect, it } from 'vitest';
import { MongoError } from '../errors.ts';
import { documentFrom } from '../test-kit.ts';
import { equalities, equalityOn } from './filter.ts';
import { parseFilter } from './filter-parser.ts';
import { compileFilter } from './filter-test.ts';

const oid = new ObjectId('5f3a00112233445566778899');

const namedInOrder = (...names: string[]) => new Map(names.map((name) => [name, 1]));

/** Libraries print it without its sign, and other servers store it. */
const NEGATIVE_NAN = new Decimal128(Buffer.from([...new Array(15).fill(0), 0xfc]));

type Case = readonly [string, object, readonly object[], readonly object[]];

const CASES: readonly Case[] = [
  [
    'equality',
    { a: 1 },
    [
      { a: 1 },
      { a: Long.fromNumber(1) },
      { a: new Double(1) },
      { a: Decimal128.fromString('1.0') },
      { a: [2, 1] },
    ],
    [{ a: 2 }, { a: '1' }, {}, { a: [[1]] }],
  ],
  [
    'null and missing',
    { a: null },
    [{ a: null }, {}, { b: 1 }, { a: [null] }],
    [{ a: 0 }, { a: [] }, { a: false }],
  ],
  [
    'null below an array',
    { 'a.b': null },
    [{}, { a: 1 }, { a: {} }, { a: [{ b: 1 }, {}] }],
    [{ a: [] }, { a: [1] }, { a: { b: 1 } }],
  ],
  [
    'above minKey is everything else, what is no number or not there as well',
    { a: { $gt: new MinKey() } },
    [{ a: Number.NaN }, { a: Decimal128.fromString('NaN') }, {}, { a: null }, { a: [] }, { a: 1 }],
    [{ a: new MinKey() }],
  ],
  [
    'below maxKey is everything else',
    { a: { $lt: new MaxKey() } },
    [{ a: Number.NaN }, {}, { a: new MinKey() }, { a: 'x' }, { a: [] }],
    [{ a: new MaxKey() }],
  ],
  [
    'bounds of numbers leave out what is no number, of either sign and kind',
    { a: { $lt: 5 } },
    [{ a: 4 }],
    [{ a: Number.NaN }, { a: Decimal128.fromString('NaN') }, { a: NEGATIVE_NAN }],
  ],
  [
    'what is no number is within its own bounds',
    { a: { $gte: NEGATIVE_NAN } },
    [{ a: Number.NaN }, { a: Decimal128.fromString('NaN') }, { a: NEGATIVE_NAN }],
    [{ a: 4 }, {}],
  ],
  [
    'a whole array',
    { a: [1, 2] },
    [{ a: [1, 2] }, { a: [[1, 2], 3] }],
    [{ a: [2, 1] }, { a: [1, 2, 3] }, { a: 1 }],
  ],
  [
    'a document, in the order of its names',
    { a: { x: 1, y: 2 } },
    [{ a: { x: 1, y: 2 } }, { a: [{ x: 1, y: 2 }] }],
    [{ a: { y: 2, x: 1 } }, { a: { x: 1 } }],
  ],
  [
    'one of some documents, in the order of their names',
    { a: { $in: [namedInOrder('b', '1')] } },
    [{ a: namedInOrder('b', '1') }],
    [{ a: namedInOrder('1', 'b') }],
  ],
  [
    'a path through documents of an array',
    { 'a.b': 2 },
    [{ a: [{ b: 1 }, { b: 2 }] }, { a: { b: 2 } }, { a: { b: [3, 2] } }],
    [{ a: [[{ b: 2 }]] }, { a: 2 }],
  ],
  [
    'a number names an element',
    { 'a.1': 5 },
    [{ a: [4, 5] }, { a: { 1: 5 } }, { a: [{ 1: 5 }] }],
    [{ a: [5, 4] }, { a: [4, [5]] }],
  ],
  ['a number, then a name', { 'a.0.b': 1 }, [{ a: [{ b: 1 }] }], [{ a: [{ b: 2 }, { b: 1 }] }]],
  [
    'ranges stay within their type',
    { a: { $gt: 5 } },
    [{ a: 6 }, { a: Long.MAX_VALUE }, { a: [1, 9] }, { a: Decimal128.fromString('5.1') }],
    [{ a: 5 }, { a: '9' }, { a: null }, {}, { a: new Date() }, { a: new Double(Number.NaN) }],
  ],
  [
    'a range of texts',
    { a: { $gte: 'b', $lt: 'd' } },
    [{ a: 'b' }, { a: 'cz' }],
    [{ a: 'd' }, { a: 'a' }, { a: 3 }],
  ],
  [
    'both bounds by different elements',
    { a: { $gt: 5, $lt: 3 } },
    [{ a: [1, 9] }],
    [{ a: [4] }, { a: 4 }],
  ],
  ['$gte null', { a: { $gte: null } }, [{ a: null }, {}], [{ a: 1 }]],
  ['NaN equals NaN', { a: Number.NaN }, [{ a: Number.NaN }], [{ a: 0 }]],
  ['objectIds', { a: { $lte: oid } }, [{ a: oid }], [{ a: 'x' }]],
  ['$ne', { a: { $ne: 1 } }, [{ a: 2 }, {}, { a: [2] }], [{ a: 1 }, { a: [1, 2] }]],
  [
    '$in',
    { a: { $in: [1, 'x', null, /^y/] } },
    [{ a: Long.fromNumber(1) }, { a: 'x' }, {}, { a: 'yes' }, { a: [9, 'x'] }],
    [{ a: 2 }, { a: 'no' }],
  ],
  ['$nin', { a: { $nin: [1, 2] } }, [{ a: 3 }, {}], [{ a: 1 }, { a: [3, 2] }]],
  ['$and', { $and: [{ a: 1 }, { b: 2 }] }, [{ a: 1, b: 2 }], [{ a: 1 }]],
  ['$or', { $or: [{ a: 1 }, { b: 2 }] }, [{ a: 1 }, { b: 2 }], [{ c: 1 }]],
  ['$nor', { $nor: [{ a: 1 }, { b: 2 }] }, [{ c: 1 }], [{ a: 1 }, { b: 2 }]],
  ['$not', { a: { $not: { $gt: 5 } } }, [{ a: 5 }, {}, { a: 'x' }], [{ a: 6 }]],
  ['$not of a pattern', { a: { $not: /^x/ } }, [{ a: 'y' }, {}], [{ a: 'xy' }]],
  [
    '$exists',
    { 'a.b': { $exists: true } },
    [{ a: { b: null } }, { a: [{ b: 1 }] }],
    [{}, { a: {} }, { a: [] }],
  ],
  ['$exists: false', { a: { $exists: false } }, [{}], [{ a: null }]],
  ['$type by name', { a: { $type: 'string' } }, [{ a: 'x' }, { a: [1, 'x'] }], [{ a: 1 }]],
  [
    '$type by number',
    { a: { $type: [16, 18] } },
    [{ a: 1 }, { a: Long.fromNumber(1) }],
    [{ a: new Double(1) }],
  ],
  ['$type array', { a: { $type: 'array' } }, [{ a: [] }, { a: [1] }], [{ a: 1 }]],
  [
    '$type number',
    { a: { $type: 'number' } },
    [{ a: 1 }, { a: Decimal128.fromString('1') }],
    [{ a: '1' }],
  ],
  [
    '$elemMatch of documents',
    { a: { $elemMatch: { x: 1, y: { $gt: 1 } } } },
    [{ a: [{ x: 1, y: 2 }] }],
    [
      {
        a: [
          { x: 1, y: 1 },
          { x: 2, y: 2 },
        ],
      },
      { a: { x: 1, y: 2 } },
    ],
  ],
  [
    '$elemMatch of values',
    { a: { $elemMatch: { $gt: 5, $lt: 8 } } },
    [{ a: [1, 6] }],
    [{ a: [1, 9] }, { a: 6 }],
  ],
  ['$all', { a: { $all: [1, 2] } }, [{ a: [2, 3, 1] }], [{ a: [1] }, { a: 1 }]],
  ['$all of nothing', { a: { $all: [] } }, [], [{ a: [] }, {}]],
  ['$size', { a: { $size: 2 } }, [{ a: [1, 2] }], [{ a: [1] }, { a: 2 }, {}]],
  [
    '$regex with options',
    { a: { $regex: 'B c', $options: 'ix' } },
    [{ a: 'abcd' }, { a: ['x', 'BC'] }],
    [{ a: 'acb' }, { a: 1 }],
  ],
  [
    '$mod',
    { a: { $mod: [4, 1] } },
    [{ a: 5 }, { a: 5.9 }, { a: Long.fromNumber(9) }],
    [{ a: 4 }, { a: '5' }, { a: -3 }],
  ],
  ['$bitsAllSet', { a: { $bitsAllSet: [0, 2] } }, [{ a: 5 }, { a: 7 }], [{ a: 4 }, { a: 'x' }]],
  ['$bitsAnyClear', { a: { $bitsAnyClear: 5 } }, [{ a: 1 }], [{ a: 7 }]],
  [
    'one part of a DBRef within $elemMatch',
    { a: { $elemMatch: { $id: 5 } } },
    [{ a: [{ $ref: 'x', $id: 5 }] }],
    [{ a: [{ $ref: 'x', $id: 6 }] }, { a: { $id: 5 } }],
  ],
  ['$comment', { a: 1, $comment: 'why' }, [{ a: 1 }], [{ a: 2 }]],
];

describe('filters', () => {
  it.each(CASES)('%s: %j', (_, filter, matching, others) => {
    const test = compileFilter(parseFilter(documentFrom(filter)));
    expect(matching.map((document) => test(documentFrom(document)))).toEqual(
      matching.map(() => true),
    );
    expect(others.map((document) => test(documentFrom(document)))).toEqual(others.map(() => false));
  });

  it.each<readonly [object, number, string]>([
    [{ a: { $foo: 1 } }, 2, 'unknown operator: $foo'],
    [
      { $foo: 1 },
      2,
      "unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.",
    ],
    [{ $and: [] }, 2, '$and argument must be a non-empty array'],
    [{ $or: 5 }, 2, '$or argument must be an array'],
    [{ a: { $in: 5 } }, 2, '$in needs an array'],
    [{ a: { $not: 5 } }, 2, '$not needs a regex or a document'],
    [{ a: { $mod: [0, 1] } }, 2, 'divisor cannot be 0'],
    [{ a: { $mod: [1] } }, 2, 'malformed mod, not enough elements'],
    [
      { a: { $size: -1 } },
      2,
      'Failed to parse $size. Expected a non-negative number in: $size: -1',
    ],
    [{ a: { $type: 'no' } }, 2, 'Unknown type name alias: no'],
    [{ a: { $regex: 'a', $options: 'q' } }, 51108, 'invalid flag in regex options: q'],
    [{ a: { $elemMatch: 5 } }, 2, '$elemMatch needs an Object'],
    [{ $where: 1 }, 2, '$where got bad type'],
    [
      { $jsonSchema: { type: 'integer' } },
      9,
      "$jsonSchema type 'integer' is not currently supported.",
    ],
    [{ a: { $geoWithin: {} } }, 2, '$geoWithin not supported with provided geometry: {}'],
    [{ $text: {} }, 4, 'Missing expected field "$search"'],
  ])('%j is refused', (filter, code, message) => {
    const parse = () => compileFilter(parseFilter(documentFrom(filter)));
    expect(parse).toThrow(MongoError);
    expect(parse).toThrow(expect.objectContaining({ number: code, message }));
  });

  it('a nesting beyond the bound is refused', () => {
    let filter: object = { a: 1 };
    for (let depth = 0; depth < 90; depth++) filter = { $and: [filter] };
    expect(() => parseFilter(documentFrom(filter))).not.toThrow();
    for (let depth = 0; depth < 9; depth++) filter = { a: { $elemMatch: filter } };
    expect(() => parseFilter(documentFrom({ $or: [{ $or: [{ $or: [filter] }] }] }))).toThrow(
      'nested too deeply',
    );
  });

  const KINDS = [
    oid,
    'text',
    new BSONSymbol('symbol'),
    Long.fromString('9007199254740993'),
    new Double(0.5),
    new Double(Number.NaN),
    Decimal128.fromString('12.5'),
    new Date(7),
    true,
    { x: 1 },
    [1, 2],
    new MinKey(),
  ];
  const many = [...Array.from({ length: 20 }, (_, at) => at), ...KINDS];

  it('long lists of $in and $all find what each of their values finds, of every kind', () => {
    const all = compileFilter(parseFilter(documentFrom({ a: { $all: many } })));
    const any = compileFilter(parseFilter(documentFrom({ a: { $in: many } })));
    expect(all(documentFrom({ a: [...many].reverse() }))).toBe(true);
    expect(all(documentFrom({ a: [...many, 'more'] }))).toBe(true);
    for (const [at, value] of many.entries()) {
      expect(all(documentFrom({ a: many.filter((_, other) => other !== at) }))).toBe(false);
      expect(any(documentFrom({ a: value })), String(value)).toBe(true);
      expect(any(documentFrom({ a: ['other', value] })), String(value)).toBe(true);
    }
    expect(any(documentFrom({ a: 'symbol' }))).toBe(true);
    for (const decimal of ['1E+1', '0.125E+2', '3.0'])
      expect(any(documentFrom({ a: Decimal128.fromString(decimal) })), decimal).toBe(true);
    expect(any(documentFrom({ a: new BSONSymbol('text') }))).toBe(true);
    for (const other of ['other', 99, new Double(0.25), { x: 2 }, ['x'], null, false])
      expect(any(documentFrom({ a: other })), String(other)).toBe(false);
    expect(any(documentFrom({}))).toBe(false);
    expect(all(documentFrom({ a: 1 }))).toBe(false);
  });

  it('names what it asks for by equality', () => {
    const filter = parseFilter(
      documentFrom({ $and: [{ a: 1 }, { 'b.c': { $eq: 'x' } }], d: { $gt: 5 }, _id: { $in: [7] } }),
    );
    expect(equalityOn(filter, '_id')).toBe(7);
    expect(equalityOn(filter, 'd')).toBeUndefined();
    expect([...equalities(filter)]).toEqual([
      ['a', 1],
      ['b.c', 'x'],
      ['_id', 7],
    ]);
  });
});
