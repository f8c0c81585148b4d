// Goal: projections and sorts are MongoDB's. Method: tables.
import { describe, expect, it } from 'vitest';
import type { BsonDocument } from '../../../value/index.ts';
import { documentFrom, plain } from '../test-kit.ts';
import { parseProjection } from './projection-parser.ts';
import { compareSortKeys, parseSort, sortKeyOf } from './sort.ts';

const DOCUMENT = { _id: 1, a: 1, b: { c: 2, d: 3 }, list: [{ x: 1, y: 2 }, { x: 3 }, 5] };

describe('projections', () => {
  it.each<readonly [object, object]>([
    [{ a: 1 }, { _id: 1, a: 1 }],
    [{ a: true, _id: 0 }, { a: 1 }],
    [{ _id: 1 }, { _id: 1 }],
    [{ _id: 0 }, { a: 1, b: { c: 2, d: 3 }, list: [{ x: 1, y: 2 }, { x: 3 }, 5] }],
    [{ 'b.d': 1 }, { _id: 1, b: { d: 3 } }],
    [
      { 'b.c': 0, list: 0 },
      { _id: 1, a: 1, b: { d: 3 } },
    ],
    [{ 'list.x': 1, _id: 0 }, { list: [{ x: 1 }, { x: 3 }] }],
    [{ 'list.x': 0, _id: 0, a: 0, b: 0 }, { list: [{ y: 2 }, {}, 5] }],
    [
      { list: { $slice: 1 }, a: 0, b: 0 },
      { _id: 1, list: [{ x: 1, y: 2 }] },
    ],
    [
      { list: { $slice: [-2, 1] }, a: 1 },
      { _id: 1, a: 1, list: [{ x: 3 }] },
    ],
    [{ list: { $elemMatch: { x: { $gt: 1 } } } }, { _id: 1, list: [{ x: 3 }] }],
    [{ none: 1 }, { _id: 1 }],
  ])('%j', (projection, expected) => {
    const document = documentFrom(DOCUMENT);
    const project = parseProjection(documentFrom(projection));
    expect(plain(project?.(document) ?? document)).toEqual(expected);
  });

  it.each<readonly [object, number, string]>([
    [{ a: 1, b: 0 }, 31254, 'Cannot do exclusion on field b in inclusion projection'],
    [{ a: 0, b: 1 }, 31253, 'Cannot do inclusion on field b in exclusion projection'],
    [{ a: 1, 'a.b': 1 }, 31249, 'Path collision at a.b remaining portion b'],
    [{ 'a.b': 1, a: 1 }, 31250, 'Path collision at a'],
    [{ '': 1 }, 40352, 'FieldPath cannot be constructed with empty string'],
  ])('%j is refused', (projection, code, message) => {
    expect(() => parseProjection(documentFrom(projection))).toThrow(
      expect.objectContaining({ number: code, message }),
    );
  });
});

describe('sorts', () => {
  const ids = (sort: object, documents: readonly object[]): readonly number[] => {
    const parts = parseSort(documentFrom(sort));
    return documents
      .map((document) => documentFrom(document))
      .sort((a: BsonDocument, b: BsonDocument) =>
        compareSortKeys(sortKeyOf(a, parts), sortKeyOf(b, parts), parts),
      )
      .map((document) => document.get('_id') as number);
  };

  it('arrays sort by their least element, and descending by their greatest', () => {
    const documents = [
      { _id: 1, a: [1, 9] },
      { _id: 2, a: 5 },
      { _id: 3, a: [] },
      { _id: 4 },
      { _id: 5, a: null },
    ];
    expect(ids({ a: 1 }, documents)).toEqual([3, 4, 5, 1, 2]);
    expect(ids({ a: -1 }, documents)).toEqual([1, 2, 4, 5, 3]);
  });

  it('paths go through arrays, and several parts decide in turn', () => {
    const documents = [
      { _id: 1, a: [{ b: 3 }, { b: 1 }], c: 1 },
      { _id: 2, a: { b: 2 }, c: 1 },
      { _id: 3, a: { b: 1 }, c: 0 },
    ];
    expect(ids({ 'a.b': 1, c: -1 }, documents)).toEqual([1, 3, 2]);
    expect(ids({ c: -1, 'a.b': -1 }, documents)).toEqual([1, 2, 3]);
  });

  it('directions are 1 and -1', () => {
    expect(() => parseSort(documentFrom({ a: 2 }))).toThrow(
      '$sort key ordering must be 1 (for ascending) or -1 (for descending)',
    );
  });
});
