// Goal: spatial, vector and full text indexes are checked and returned in normal form. Method: tables of both.
import { expect, test } from 'vitest';
import type { Value } from '../value/index.ts';
import { normalizeIndexingPolicy } from './indexing-policy.ts';

test('a policy with one index of each kind', () => {
  const policy = normalizeIndexingPolicy({
    spatialIndexes: [{ path: '/l/*' }],
    vectorIndexes: [{ path: '/v', type: 'diskANN', quantizationByteSize: 2 }],
    fullTextIndexes: [{ path: '/text' }],
  });
  expect(policy.spatialIndexes).toEqual([
    { path: '/l/*', types: ['Point', 'LineString', 'Polygon', 'MultiPolygon'] },
  ]);
  expect(policy.vectorIndexes).toEqual([{ path: '/v', type: 'diskANN', quantizationByteSize: 2 }]);
  expect(policy.fullTextIndexes).toEqual([{ path: '/text' }]);
});

test.each<[Value, RegExp]>([
  [{ spatialIndexes: {} }, /must be an array/],
  [{ spatialIndexes: ['/l'] }, /must be an object/],
  [{ spatialIndexes: [{}] }, /path of a property/],
  [{ spatialIndexes: [{ path: '/l/?', types: ['Circle'] }] }, /must be among/],
  [{ spatialIndexes: [{ path: '/l/?', boundingBox: { xmin: 1 } }] }, /xmin < xmax/],
  [{ vectorIndexes: [{ path: '/v/?', type: 'flat' }] }, /path of a property/],
  [{ vectorIndexes: [{ path: '/v', type: 'round' }] }, /must be one of/],
  [
    { vectorIndexes: [{ path: '/v', type: 'flat', quantizationByteSize: 0 }] },
    /QuantizationByteSize value :: 0 is out of range/,
  ],
  [{ fullTextIndexes: [{ path: '/a/*' }] }, /path of a property/],
])('%j is refused', (sent, message) => {
  expect(() => normalizeIndexingPolicy(sent)).toThrow(message);
});
