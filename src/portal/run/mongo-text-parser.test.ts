// Goal: texts of the shell become commands, and nothing in them is evaluated. Method: a table of texts.
import { BSONRegExp, Decimal128, Int32, Long, ObjectId } from 'bson';
import { expect, test } from 'vitest';
import { mongoCommandOf } from './mongo-command.ts';
import { parseMongoText } from './mongo-text-parser.ts';

const ID = '5f1a2b3c4d5e6f7a8b9c0d1e';

test.each([
  ['{a: 1, "b": [true, null]}', { a: new Int32(1), b: [true, null] }],
  ['{$gt: -5e3}', { $gt: { value: -5000 } }],
  [`{_id: ObjectId("${ID}")}`, { _id: new ObjectId(ID) }],
  ['{at: ISODate("2020-01-02")}', { at: new Date('2020-01-02') }],
  ['{n: NumberLong("9007199254740993")}', { n: Long.fromString('9007199254740993') }],
  ['{n: 9007199254740993}', { n: Long.fromString('9007199254740993') }],
  ['{d: NumberDecimal("1.10")}', { d: Decimal128.fromString('1.10') }],
  ['{r: /a\\/b/i}', { r: new BSONRegExp('a\\/b', 'i') }],
  ["{s: 'it\\'s \\u00e9', // comment\n t: `x`}", { s: "it's é", t: 'x' }],
])('the filter %s', (text, filter) => {
  const { collection, calls } = parseMongoText(`db.orders.find(${text})`);
  expect(collection).toBe('orders');
  expect(calls[0]?.arguments[0]).toMatchObject(filter);
});

test('chained calls are options of the command', () => {
  const { command, isRead } = mongoCommandOf(
    'db["a b"].find({}, {x: 1}).sort({x: -1}).limit(3);',
    50,
  );
  expect(isRead).toBe(true);
  expect(JSON.parse(JSON.stringify(command))).toEqual({
    find: 'a b',
    filter: {},
    projection: { x: 1 },
    batchSize: 50,
    sort: { x: -1 },
    limit: 3,
  });
});

test.each([
  ['db.a.aggregate([{$out: "b"}])', false],
  ['db.a.aggregate([{$match: {}}])', true],
  ['db.a.deleteMany({})', false],
  ['db.runCommand({ping: 1})', true],
  ['db.runCommand({dropDatabase: 1})', false],
  ['db.getCollectionNames()', true],
])('%s reads only: %s', (text, isRead) => {
  expect(mongoCommandOf(text, 10).isRead).toBe(isRead);
});

test.each([
  'process.exit()',
  'db.a.find({a: process.exit()})',
  'db.a.find({a: (() => 1)()})',
  'db.a.find({a: constructor})',
  'db.a.find({a: __proto__("x")})',
  'db.a.find({a: 1}',
  'db.a.find({a: ObjectId("no")})',
  'db.a.mapReduce({})',
  'db.a.find({}).forEach({})',
  'db.a',
  '',
])('%s is refused, with the place of the error', (text) => {
  expect(() => mongoCommandOf(text, 10)).toThrowError();
});

test('a property called __proto__ is a property', () => {
  const { calls } = parseMongoText('db.a.find({"__proto__": {x: 1}})');
  expect(Object.keys(calls[0]?.arguments[0] as object)).toEqual(['__proto__']);
});
