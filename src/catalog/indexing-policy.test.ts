// Goal: every policy of a client becomes the one normal form or a clear refusal. Method: a table of both.
import { expect, test } from 'vitest';
import type { Value } from '../value/index.ts';
import { DEFAULT_INDEXING_POLICY, normalizeIndexingPolicy } from './indexing-policy.ts';

const ETAG = { path: '/"_etag"/?' };
const ALL = { path: '/*' };

test.each<[string, Value, object]>([
  ['nothing', undefined, DEFAULT_INDEXING_POLICY],
  ['an empty policy', {}, DEFAULT_INDEXING_POLICY],
  ['lazy is consistent', { indexingMode: 'Lazy' }, DEFAULT_INDEXING_POLICY],
  [
    'kinds and precisions of the first generation',
    {
      includedPaths: [
        { path: '/', indexes: [{ kind: 'Range', dataType: 'String', precision: -1 }] },
      ],
    },
    DEFAULT_INDEXING_POLICY,
  ],
  [
    'exclusions beside the root',
    { includedPaths: [ALL], excludedPaths: [{ path: '/a/[]/b/?' }, { path: '/"c d"/*' }] },
    {
      ...DEFAULT_INDEXING_POLICY,
      excludedPaths: [{ path: '/a/[]/b/?' }, { path: '/"c d"/*' }, ETAG],
    },
  ],
  [
    'the root excluded',
    { includedPaths: [{ path: '/a/?' }], excludedPaths: [ALL] },
    { ...DEFAULT_INDEXING_POLICY, includedPaths: [{ path: '/a/?' }], excludedPaths: [ALL, ETAG] },
  ],
  [
    'composite order defaults to ascending',
    { compositeIndexes: [[{ path: '/a' }, { path: '/b', order: 'descending' }]] },
    {
      ...DEFAULT_INDEXING_POLICY,
      compositeIndexes: [
        [
          { path: '/a', order: 'ascending' },
          { path: '/b', order: 'descending' },
        ],
      ],
    },
  ],
  [
    'none',
    { indexingMode: 'none', automatic: false },
    { indexingMode: 'none', automatic: false, includedPaths: [], excludedPaths: [] },
  ],
])('%s', (_, sent, policy) => {
  expect(normalizeIndexingPolicy(sent)).toEqual(policy);
});

test.each<[Value, RegExp]>([
  ['text', /must be an object/],
  [{ indexingMode: 'sometimes' }, /indexing mode/],
  [{ includedPaths: 'x' }, /must be an array/],
  [{ includedPaths: [{}] }, /must have a path/],
  [{ includedPaths: [{ path: 'a' }] }, /could not be accepted/],
  [{ includedPaths: [{ path: '/a' }] }, /could not be accepted/],
  [{ includedPaths: [{ path: '/a/?' }] }, /mandatory indexing path/],
  [{ excludedPaths: [{ path: '/a/?' }] }, /mandatory indexing path/],
  [{ indexingMode: 'none', automatic: true }, /automatic/],
  [{ compositeIndexes: [[{ path: '/a' }]] }, /2 to 8 paths/],
  [
    { compositeIndexes: [[{ path: '/a' }, { path: '/b', order: 'up' }]] },
    /ascending or descending/,
  ],
])('%j is refused', (sent, message) => {
  expect(() => normalizeIndexingPolicy(sent)).toThrow(message);
});
