// Goal: the layer check refuses what it must and nothing else. Method: small files as text.
import { expect, test } from 'vitest';
import { importComplaints, layerOf } from './tidy.ts';

test.each([
  ['value/tuple.ts', "import { assert } from '../base/index.ts';", []],
  ['value/tuple.ts', "import { a } from './order.ts';", []],
  [
    'base/bytes.ts',
    "import { a } from '../value/index.ts';",
    ['src/base/bytes.ts: base must not import value'],
  ],
  [
    'api/nosql/server.ts',
    "import { a } from '../table/index.ts';",
    ['src/api/nosql/server.ts: api/nosql must not import api/table'],
  ],
  [
    'partition/record.ts',
    "import { a } from '../value/tuple.ts';",
    ['src/partition/record.ts: import value through its index.ts, not ../value/tuple.ts'],
  ],
  ['server/compose.ts', "import { a } from '../engine/sqlite/index.ts';", []],
])('%s: %s', (path, text, complaints) => {
  expect(importComplaints(path, text)).toEqual(complaints);
});

test('an API folder is a layer of its own', () => {
  expect(layerOf('api/nosql/sql/parser.ts')).toBe('api/nosql');
  expect(layerOf('value/tuple.ts')).toBe('value');
});
