// Goal: an index is used for limits on elements of arrays only where it has entries of elements. Method: the same limit on
// indexes of each kind.
import { expect, test } from 'vitest';
import { encodeTuple, type Value } from '../../../value/index.ts';
import { type DeclaredIndex, DeclaredIndexes } from './declared-indexes.ts';

const LAST = Uint8Array.of(0xff);

function equal(value: Value) {
  const start = encodeTuple([value]);
  return { start, end: Buffer.concat([start, LAST]), isPoint: true };
}

const rangesOf = (kind: Partial<DeclaredIndex>, isOfElements: boolean): number | undefined =>
  new DeclaredIndexes([
    { id: 1, parts: [{ path: '/a', isDescending: false }], ...kind },
  ]).rangesWithin([{ path: ['a'], ranges: [equal(5)], isOfElements }], () => true)?.partCount;

test('an element is not looked for in an index that has no entries of elements', () => {
  expect(rangesOf({}, true)).toBeUndefined();
  expect(rangesOf({}, false)).toBe(1);
  expect(rangesOf({ isMultikey: true }, true)).toBe(1);
  expect(rangesOf({ isMultikey: true, collation: 'bson' }, true)).toBe(1);
});

test('an array within an array is looked for among arrays of an index in the bson collation', () => {
  const limits = [{ path: ['a'], ranges: [{ ...ARRAYS, isPoint: false }], isOfElements: true }];
  const index = { id: 1, parts: [{ path: '/a', isDescending: false }], isMultikey: true };
  const indexes = new DeclaredIndexes([{ ...index, collation: 'bson' }]);
  const found = indexes.rangesWithin(limits, () => true);
  expect(found?.ranges.map(({ start }) => start.at(-1))).toEqual([0x4a]);
  const [whole] = limits;
  const ofValues = [{ path: ['a'], ranges: whole?.ranges ?? [] }];
  expect(indexes.rangesWithin(ofValues, () => true)).toBeUndefined();
});

test('a hidden index has its entries, and serves no limits', () => {
  const index = { parts: [{ path: '/a', isDescending: false }] };
  const indexes = new DeclaredIndexes([
    { ...index, id: 1, isHidden: true },
    { ...index, id: 2 },
  ]);
  const limits = [{ path: ['a'], ranges: [equal(5)] }];
  expect(indexes.entryPrefixesOf({ a: 5 }, new Uint8Array())).toHaveLength(2);
  expect(indexes.rangesWithin(limits, () => true)?.id).toBe(2);
  expect(indexes.entriesWithin(1, [equal(5)])).toHaveLength(1);
  expect(indexes.rangesWithin(limits, (id) => id === 1)).toBeUndefined();
});

/** All arrays of the cosmos collation. */
const ARRAYS = { start: Uint8Array.of(0x1e), end: Uint8Array.of(0x1f) };
