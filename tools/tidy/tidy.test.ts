// Goal: each check refuses what it must and nothing else. Method: small files as text.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { unusedExports } from './exports.ts';
import { importComplaints, layerOf } from './layers.ts';
import { markdownComplaints } from './markdown.ts';
import { wordComplaints } from './words.ts';

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

test.each([
  ['src/a.ts', '/** Defined once. */\nconst told = 1;', []],
  ['src/a.ts', '/** The client is told. */', ['src/a.ts: "told": say who sends or reports what']],
  ['src/a.ts', '/** Of the item. */', ['src/a.ts: "/** Of": begin with the subject']],
  ['docs/a.md', 'Measured by turns.', ['docs/a.md: "by turns": say "alternating"']],
  [
    'src/a.test.ts',
    "test.only('x')",
    ['src/a.test.ts: "test.only": a test runs or does not exist'],
  ],
])('words of %s: %s', (path, text, complaints) => {
  expect(wordComplaints(path, text)).toEqual(complaints);
});

test('an export that only its barrel mentions is unused', () => {
  const files = [
    { path: 'src/a/x.ts', text: 'export const used = 1;\nexport const unused = used;' },
    { path: 'src/a/index.ts', text: "export { used, unused } from './x.ts';" },
    { path: 'src/b/y.ts', text: "import { used } from '../a/index.ts';" },
  ];
  expect(unusedExports(files)).toEqual(['src/a/x.ts: nobody else uses unused: do not export it']);
});

test('long lines and links that lead nowhere are reported, code is not', () => {
  const text = `[here](README.md) [gone](gone.md) \`[code](x)\`\n${'a'.repeat(121)}`;
  const root = fileURLToPath(new URL('../..', import.meta.url));
  expect(markdownComplaints(root, 'page.md', text)).toEqual([
    'page.md:2: 121 characters (limit 120)',
    'page.md: the link to gone.md leads nowhere',
  ]);
});
