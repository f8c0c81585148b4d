// Goal: a unique index compares the values that MongoDB's keys have. Method: tables of documents that are two values of an
// index, and of documents that are one; the golden keys of a document.
import { Code, Decimal128, Long } from 'bson';
import { describe, expect, test } from 'vitest';
import { BSON_UNDEFINED, encodeTuple, type Value, writeBson } from '../../../value/index.ts';
import { documentFrom } from '../test-kit.ts';
import { uniqueValuesOf } from './unique-values.ts';

type Case = readonly [string, object, object, object, object?];

const keysOf = (key: object, document: object, options: object = {}): readonly string[] => {
  const values = uniqueValuesOf({ key: documentFrom(key), spec: documentFrom(options) });
  return (values?.(writeBson(documentFrom(document))) ?? []).map((each) =>
    Buffer.from(encodeTuple(each)).toString('hex'),
  );
};

const collide = ([, key, a, b, options]: Case): boolean => {
  const others = new Set(keysOf(key, b, options));
  return keysOf(key, a, options).some((each) => others.has(each));
};

const inOrder = (...names: string[]) => new Map(names.map((name) => [name, 1]));
const danish = { collation: { locale: 'da', strength: 1, caseFirst: 'off' } };
const folded = { collation: { locale: 'en', strength: 2 } };

const TWO: readonly Case[] = [
  ['documents with names in another order', { a: 1 }, { a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }],
  ['the same in arrays', { a: 1 }, { a: [{ x: 1, y: 2 }] }, { a: [{ y: 2, x: 1 }] }],
  ['names that are whole numbers', { a: 1 }, { a: inOrder('b', '1') }, { a: inOrder('1', 'b') }],
  ['first elements', { 'a.0': 1 }, { a: [1] }, { a: [2] }],
  ['first elements, whatever follows', { 'a.0': 1 }, { a: [1, 5] }, { a: [2, 1] }],
  ['fields of first elements', { 'a.0.b': 1 }, { a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 2 }] }],
  ['an empty array and no value', { a: 1 }, { a: [] }, {}],
  ['arrays that a number names', { 'a.0': 1 }, { a: [[1, 2]] }, { a: [[1, 3]] }],
  ['an empty array and one with it', { a: 1 }, { a: [] }, { a: [[]] }],
  ['the same beside others', { a: 1 }, { a: [] }, { a: [1, []] }],
  ['an array in an array and its elements', { a: 1 }, { a: [[1, 2]] }, { a: [1] }],
  ['code and its document', { a: 1 }, { a: new Code('x') }, { a: { $code: 'x' } }],
  [
    'pairs of two elements',
    { 'a.b': 1, 'a.c': 1 },
    {
      a: [
        { b: 1, c: 1 },
        { b: 2, c: 2 },
      ],
    },
    { a: [{ b: 1, c: 2 }] },
  ],
  ['documents that a partial index lacks', { b: 1 }, { b: 1 }, { b: 1, a: 1 }, only({ a: 1 })],
  [
    'elements that a sparse index lacks',
    { 'a.b': 1 },
    { a: [{ b: 1 }, {}] },
    { a: [{}] },
    sparse(),
  ],
  ['a joiner that parts a letter', { a: 1 }, { a: 'aa' }, { a: 'a\u200da' }, danish],
  ['a line and its end', { a: 1 }, { a: 'a\u200d' }, { a: 'a\n' }, folded],
  ['texts that a collation tells apart', { a: 1 }, { a: { x: 'e' } }, { a: { x: 'é' } }, folded],
];

const ONE: readonly Case[] = [
  ['kinds of numbers', { a: 1 }, { a: Long.fromNumber(1) }, { a: Decimal128.fromString('1.0') }],
  ['the same in documents', { a: 1 }, { a: { x: 1 } }, { a: { x: Long.fromNumber(1) } }],
  ['null and no value', { a: 1 }, { a: null }, {}],
  ['an element and a value', { a: 1 }, { a: [1, 2] }, { a: 2 }],
  ['elements without the field', { 'a.b': 1 }, { a: [{ b: 1 }, {}] }, { a: [{ b: 2 }, {}] }],
  ['elements that are no documents', { 'a.b': 1 }, { a: [{ b: 1 }, 5] }, { a: [{ b: null }] }],
  ['first elements', { 'a.0': 1 }, { a: [1, 2] }, { a: [1, 3] }],
  ['arrays that a number names', { 'a.0': 1 }, { a: [[1, 2], 5] }, { a: [[1, 2]] }],
  ['a field with a number', { 'a.0': 1 }, { a: { 0: 5 } }, { a: [5] }],
  ['elements of a field with a number', { 'a.0': 1 }, { a: [{ 0: 5 }] }, { a: { 0: 5 } }],
  ['pairs of one element', { 'a.b': 1, 'a.c': 1 }, { a: [{ b: 1, c: 2 }] }, { a: { b: 1, c: 2 } }],
  ['an array beside a value', { a: 1, b: 1 }, { a: [1, 2], b: 3 }, { a: 2, b: 3 }],
  ['empty arrays', { a: 1 }, { a: [] }, { a: [] }],
  ['an empty array that exists', { b: 1 }, { a: [], b: 1 }, { a: [], b: 1 }, exists('a')],
  ['a place that exists', { b: 1 }, { a: [1], b: 1 }, { a: [2], b: 1 }, exists('a.0')],
  ['what is null or missing', { b: 1 }, { b: 1 }, { a: null, b: 1 }, only({ a: null })],
  ['one of two fields of a sparse index', { a: 1, b: 1 }, { a: 1 }, { a: 1, b: null }, sparse()],
  ['texts with joiners', { a: 1 }, { a: 'co\u200dop' }, { a: 'Coop' }, folded],
  ['texts with soft hyphens', { a: 1 }, { a: 'co\u00adop' }, { a: 'Coop' }, folded],
  ['texts with control characters', { a: 1 }, { a: 'co\u0001op' }, { a: 'Coop' }, folded],
  ['joiners in other scripts', { a: 1 }, { a: '東\u200d京' }, { a: '東京' }, folded],
  [
    'documents of a filter that compares as the index does',
    { b: 1 },
    { a: 'Active', b: 1 },
    { a: 'active', b: 1 },
    { ...folded, ...only({ a: 'ACTIVE' }) },
  ],
  ['texts of a collation', { a: 1 }, { a: { x: 'e' } }, { a: { x: 'E' } }, folded],
];

function only(filter: object): object {
  return { partialFilterExpression: filter };
}

function exists(field: string): object {
  return only({ [field]: { $exists: true } });
}

function sparse(): object {
  return { sparse: true };
}

describe('a unique index', () => {
  test.each(TWO.map((each) => [each[0], each] as const))('has two values of %s', (_, each) =>
    expect(collide(each)).toBe(false),
  );
  test.each(ONE.map((each) => [each[0], each] as const))('has one value of %s', (_, each) =>
    expect(collide(each)).toBe(true),
  );
});

test('keys are on disk: a change here is a new format, not a fix', () => {
  const values = uniqueValuesOf({ key: documentFrom({ a: 1, b: 1 }), spec: documentFrom({}) });
  const made = (a: unknown): Value =>
    values?.(
      writeBson(new Map([...documentFrom(a === undefined ? {} : { a }), ['b', 7]])),
    ) as unknown as Value;
  expect(made('x')).toEqual([['x', 7]]);
  expect(made(undefined)).toEqual([[null, 7]]);
  expect(made([1, null])).toEqual([
    [1, 7],
    [null, 7],
  ]);
  expect(made([])).toEqual([[{ '': null }, 7]]);
  expect(made([[1]])).toEqual([[[1], 7]]);
  expect(made({ y: 1, x: { z: [true] } })).toEqual([
    [
      {
        '': [
          ['y', 1],
          ['x', { '': [['z', [true]]] }],
        ],
      },
      7,
    ],
  ]);
  const old = writeBson(new Map([['a', BSON_UNDEFINED]]));
  expect(values?.(old)).toEqual([[{ '': null }, null]]);
});
