// Goal: updates change documents as MongoDB does, kinds of numbers and order of names included. Method: tables, exact BSON.
import { Decimal128, Double, Int32, Long } from 'bson';
import { describe, expect, it } from 'vitest';
import { MongoError } from '../errors.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { documentFrom, shown, valueFrom } from '../test-kit.ts';
import { applyUpdate, parseUpdate, upsertSeed } from './update.ts';

const CONTEXT = { nowMs: 1000, isInsert: false };

const namedInOrder = (...names: string[]) => new Map(names.map((name) => [name, 1]));

type Case = readonly [string, object, object, object];

const CASES: readonly Case[] = [
  [
    '$set makes documents on the way, new names in order',
    { a: 1 },
    { $set: { 'c.y': 2, 'c.x': 1, b: 0 } },
    { a: 1, b: 0, c: { x: 1, y: 2 } },
  ],
  ['$set keeps the place of a name', { a: 1, b: 2 }, { $set: { a: 'x' } }, { a: 'x', b: 2 }],
  ['$set in an array, with padding', { a: [1] }, { $set: { 'a.3': 9 } }, { a: [1, null, null, 9] }],
  [
    '$unset',
    { a: 1, b: { c: 1, d: 2 }, e: [1, 2] },
    { $unset: { a: '', 'b.c': '', 'e.0': '', none: '' } },
    { b: { d: 2 }, e: [null, 2] },
  ],
  [
    '$mul leaves a zero of another sign as it is',
    { a: new Double(-0) },
    { $mul: { a: new Double(-0) } },
    { a: new Double(-0) },
  ],
  [
    '$mul of tiny decimals is zero',
    { a: Decimal128.fromString('1E-6000') },
    { $mul: { a: Decimal128.fromString('1E-6000') } },
    { a: Decimal128.fromString('0E-6176') },
  ],
  ['$inc int32', { a: new Int32(1) }, { $inc: { a: new Int32(2) } }, { a: new Int32(3) }],
  [
    '$inc beyond int32',
    { a: new Int32(2147483647) },
    { $inc: { a: new Int32(1) } },
    { a: Long.fromString('2147483648') },
  ],
  [
    '$inc int64',
    { a: Long.fromString('9007199254740993') },
    { $inc: { a: 1 } },
    { a: Long.fromString('9007199254740994') },
  ],
  ['$inc double', { a: new Int32(1) }, { $inc: { a: 0.5 } }, { a: new Double(1.5) }],
  [
    '$inc decimal',
    { a: Decimal128.fromString('1.10') },
    { $inc: { a: Decimal128.fromString('2.205') } },
    { a: Decimal128.fromString('3.305') },
  ],
  ['$inc of what is missing', {}, { $inc: { a: Long.fromNumber(5) } }, { a: Long.fromNumber(5) }],
  [
    '$mul',
    { a: new Int32(6), b: 2 },
    { $mul: { a: new Int32(7), b: 1.5 } },
    { a: new Int32(42), b: new Double(3) },
  ],
  [
    '$mul of what is missing is 0 of that kind',
    {},
    { $mul: { a: Long.fromNumber(5), b: 0.5 } },
    { a: Long.fromNumber(0), b: new Double(0) },
  ],
  [
    '$mul decimal',
    { a: Decimal128.fromString('1.5') },
    { $mul: { a: Decimal128.fromString('2.50') } },
    { a: Decimal128.fromString('3.750') },
  ],
  [
    '$min and $max compare types too',
    { a: 5, b: 5, c: 5 },
    { $min: { a: 3, b: 'x' }, $max: { c: 'x' } },
    { a: 3, b: 5, c: 'x' },
  ],
  ['$rename', { a: 1, b: { c: 2 } }, { $rename: { a: 'z', 'b.c': 'y' } }, { b: {}, z: 1, y: 2 }],
  [
    '$currentDate',
    {},
    { $currentDate: { a: true, b: { $type: 'date' } } },
    { a: new Date(1000), b: new Date(1000) },
  ],
  ['$setOnInsert is nothing in an update', { a: 1 }, { $setOnInsert: { b: 1 } }, { a: 1 }],
  [
    '$bit',
    { a: new Int32(13), b: new Int32(3) },
    { $bit: { a: { and: new Int32(10) }, b: { xor: new Int32(5) } } },
    { a: new Int32(8), b: new Int32(6) },
  ],
  ['$push', { a: [1] }, { $push: { a: 2, b: { x: 1 } } }, { a: [1, 2], b: [{ x: 1 }] }],
  [
    '$push with position, sort and slice',
    { a: [5, 1] },
    { $push: { a: { $each: [4, 2], $position: 0, $sort: 1, $slice: -3 } } },
    { a: [2, 4, 5] },
  ],
  [
    '$push sorted by a field',
    { a: [{ n: 2 }] },
    { $push: { a: { $each: [{ n: 1 }], $sort: { n: -1 } } } },
    { a: [{ n: 2 }, { n: 1 }] },
  ],
  ['$addToSet', { a: [1] }, { $addToSet: { a: { $each: [1, 2, 2] } } }, { a: [1, 2] }],
  ['$pull by value', { a: [1, 2, 1] }, { $pull: { a: 1 } }, { a: [2] }],
  ['$pull by operators', { a: [1, 5, 9] }, { $pull: { a: { $gte: 5 } } }, { a: [1] }],
  [
    '$pull of documents',
    { a: [{ x: 1, y: 1 }, { x: 2 }] },
    { $pull: { a: { x: 1 } } },
    { a: [{ x: 2 }] },
  ],
  ['$pullAll', { a: [1, 2, 3] }, { $pullAll: { a: [1, 3] } }, { a: [2] }],
  [
    '$pullAll keeps documents whose names are whole numbers in another order',
    { a: [namedInOrder('b', '1')] },
    { $pullAll: { a: [namedInOrder('1', 'b')] } },
    { a: [namedInOrder('b', '1')] },
  ],
  [
    '$addToSet adds documents whose names are whole numbers in another order',
    { a: [namedInOrder('b', '1')] },
    { $addToSet: { a: namedInOrder('1', 'b') } },
    { a: [namedInOrder('b', '1'), namedInOrder('1', 'b')] },
  ],
  ['$pop', { a: [1, 2, 3], b: [1, 2] }, { $pop: { a: 1, b: -1 } }, { a: [1, 2], b: [2] }],
  [
    '$[] is every element',
    { a: [{ n: 1 }, { n: 2 }] },
    { $inc: { 'a.$[].n': 10 } },
    { a: [{ n: 11 }, { n: 12 }] },
  ],
  ['a replacement keeps _id', { _id: 1, a: 1 }, { b: 2 }, { _id: 1, b: 2 }],
];

describe('updates', () => {
  it.each(CASES)('%s', (_, before, update, after) => {
    const parsed = parseUpdate(documentFrom(update));
    const document = documentFrom(before);
    const untouched = shown(document);
    expect(shown(applyUpdate(parsed, document, CONTEXT))).toBe(shown(documentFrom(after)));
    expect(shown(document)).toBe(untouched);
  });

  it('array filters choose elements', () => {
    const update = parseUpdate(documentFrom({ $set: { 'a.$[big].hit': true } }), [
      valueFrom({ 'big.n': { $gt: 1 } }),
    ]);
    const after = applyUpdate(update, documentFrom({ a: [{ n: 1 }, { n: 2 }] }), CONTEXT);
    expect(shown(after)).toBe(shown(documentFrom({ a: [{ n: 1 }, { n: 2, hit: true }] })));
  });

  it('an upsert begins with what its filter asks for', () => {
    const update = parseUpdate(documentFrom({ $setOnInsert: { made: true }, $inc: { n: 1 } }));
    const filter = parseFilter(documentFrom({ 'a.b': 1, c: { $gt: 5 }, _id: 7 }));
    const made = applyUpdate(update, upsertSeed(filter, update), { nowMs: 0, isInsert: true });
    expect(shown(made)).toBe(shown(documentFrom({ _id: 7, a: { b: 1 }, made: true, n: 1 })));
  });

  it.each<readonly [object, object, number, string]>([
    [
      {},
      { $foo: { a: 1 } },
      9,
      'Unknown modifier: $foo. Expected a valid update modifier or pipeline-style update specified as an array',
    ],
    [
      {},
      { $set: { a: 1 }, $inc: { a: 1 } },
      40,
      "Updating the path 'a' would create a conflict at 'a'",
    ],
    [{}, { $set: { 'a.b': 1, a: 1 } }, 40, "Updating the path 'a' would create a conflict at 'a'"],
    [
      { a: 'x' },
      { $inc: { a: 1 } },
      14,
      "Cannot apply $inc to a value of non-numeric type. {_id: EOO} has the field 'a' of non-numeric type string",
    ],
    [{ a: 1 }, { $inc: { a: 'x' } }, 14, 'Cannot increment with non-numeric argument: {a: "x"}'],
    [
      { a: Long.MAX_VALUE },
      { $inc: { a: 1 } },
      2,
      'Failed to apply $inc operations to current value ((NumberLong)9223372036854775807) for document {_id: EOO}',
    ],
    [{ a: 1 }, { $set: { 'a.b': 1 } }, 28, "Cannot create field 'b' in element {a: 1}"],
    [{ a: 1 }, { $pop: { a: 1 } }, 14, "Path 'a' contains an element of non-array type 'int'"],
    [
      { a: 1 },
      { $push: { a: 1 } },
      2,
      "The field 'a' must be an array but is of type int in document {_id: EOO}",
    ],
    [
      {},
      { a: 1, $set: { b: 1 } },
      52,
      "The dollar ($) prefixed field '$set' in '$set' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.",
    ],
    [{}, { $set: { '': 1 } }, 56, 'An empty update path is not valid.'],
    [
      {},
      { $set: { 'a.$': 1 } },
      2,
      'The positional operator did not find the match needed from the query.',
    ],
    [{ a: 1 }, { $set: { 'a.$[]': 1 } }, 2, 'Cannot apply array updates to non-array element a: 1'],
  ])('%j with %j is refused', (before, update, code, message) => {
    const apply = () =>
      applyUpdate(parseUpdate(documentFrom(update)), documentFrom(before), CONTEXT);
    expect(apply).toThrow(MongoError);
    expect(apply).toThrow(expect.objectContaining({ number: code, message }));
  });
});
