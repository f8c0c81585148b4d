// Goal: update events describe arrays as MongoDB does. Method: versions before and after, by how the update was written.
import { expect, test } from 'vitest';
import { documentFrom, plain } from '../test-kit.ts';
import { describeUpdate } from './diff.ts';

const LIST = [1, 2, 3, 4, 5];

test.each([
  // Operators: what becomes shorter is sent whole, as the documented example of $pull.
  ['$pop', false, LIST, [1, 2, 3, 4], { a: [1, 2, 3, 4] }, []],
  ['$pull', false, LIST, [1, 3, 4, 5], { a: [1, 3, 4, 5] }, []],
  ['$push', false, LIST, [...LIST, 6], { 'a.5': 6 }, []],
  ['$push to nothing', false, [], [1], { a: [1] }, []],
  ['$set of an element', false, LIST, [1, 9, 3, 4, 5], { 'a.1': 9 }, []],
  ['$slice in a pipeline', true, LIST, [1, 2, 3, 4], {}, [{ field: 'a', newSize: 4 }]],
  ['$set in a pipeline', true, LIST, [1, 9, 3, 4, 5], { 'a.1': 9 }, []],
] as const)('%s', (_, isPipeline, before, after, updatedFields, truncatedArrays) => {
  const description = describeUpdate(documentFrom({ a: before }), documentFrom({ a: after }), {
    isExpanded: false,
    isPipeline,
  });
  expect(plain(description)).toEqual({ updatedFields, removedFields: [], truncatedArrays });
});
