// Goal: computed properties have the value of their definition wherever an item is named. Method: tables of queries.
import { describe, expect, it } from 'vitest';
import type { Value } from '../../../../value/index.ts';
import { parseQuery } from '../language/parser.ts';
import { runQuery } from '../run/evaluate.ts';
import type { ComputedDefinition } from './compilation.ts';
import { compileQuery } from './compile.ts';
import { computerOf, parseComputed } from './computed.ts';

const DEFINITIONS: Readonly<Record<string, string>> = {
  cp_lower: 'SELECT VALUE LOWER(c.name) FROM c',
  cp_sum: 'SELECT VALUE r.a + r.b FROM root r',
  cp_list: 'SELECT VALUE [c.a, c.b] FROM c',
  cp_both: 'SELECT VALUE {"x": c.a, "again": c.cp_sum} FROM c',
  name_too: 'SELECT VALUE "computed" FROM c',
};

const ITEMS: readonly Value[] = [
  { id: '1', name: 'Ada', a: 1, b: 2, name_too: 'kept' },
  { id: '2', name: 'BOB', a: 3, b: 4 },
  { id: '3', a: 'no number' },
];

const computed = new Map<string, ComputedDefinition>(
  Object.entries(DEFINITIONS).map(([name, query]) => [name, parseComputed(name, query)]),
);

const CASES: readonly (readonly [query: string, rows: readonly unknown[]])[] = [
  ['SELECT VALUE c.cp_lower FROM c', ['ada', 'bob']],
  ['SELECT VALUE c["cp_lower"] FROM c', ['ada', 'bob']],
  ['SELECT c.id, c.cp_sum FROM c', [{ id: '1', cp_sum: 3 }, { id: '2', cp_sum: 7 }, { id: '3' }]],
  ['SELECT VALUE x.id FROM root x WHERE x.cp_sum > 5', ['2']],
  ['SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.cp_lower)', ['1', '2']],
  ['SELECT * FROM c WHERE c.cp_lower = "bob"', [{ id: '2', name: 'BOB', a: 3, b: 4 }]],
  ['SELECT VALUE c.id FROM c ORDER BY c.cp_sum DESC', ['2', '1', '3']],
  ['SELECT VALUE e FROM c JOIN e IN c.cp_list WHERE c.id = "1"', [1, 2]],
  ['SELECT VALUE e FROM e IN c.cp_list', [1, 2, 3, 4, 'no number']],
  ['SELECT VALUE x FROM c.cp_sum x', [3, 7]],
  // A stored property of the same name is shadowed, except where the whole item is selected.
  ['SELECT VALUE c.name_too FROM c', ['computed', 'computed', 'computed']],
  ['SELECT VALUE c FROM c WHERE c.id = "1"', [ITEMS[0]]],
  // Computed properties do not nest: a definition does not see the others.
  ['SELECT VALUE c.cp_both FROM c WHERE c.id = "1"', [{ x: 1 }]],
  ['SELECT VALUE (SELECT VALUE c.cp_sum) FROM c', [3, 7]],
  ['SELECT VALUE n.cp_sum FROM c JOIN n IN (SELECT VALUE [c])', []],
  [
    'SELECT c.cp_lower AS k, COUNT(1) AS n FROM c WHERE IS_DEFINED(c.cp_lower) GROUP BY c.cp_lower',
    [
      { k: 'ada', n: 1 },
      { k: 'bob', n: 1 },
    ],
  ],
  ['SELECT VALUE SUM(c.cp_sum) FROM c', [10]],
];

describe('queries', () => {
  it.each(CASES)('%s', (text, rows) => {
    const query = compileQuery(parseQuery(text), { computed });
    expect([...runQuery(query, ITEMS)]).toEqual(rows);
  });
});

describe('definitions', () => {
  it('give the value for an item', () => {
    const lower = computerOf(parseComputed('cp', DEFINITIONS.cp_lower as string));
    expect(ITEMS.map(lower)).toEqual(['ada', 'bob', undefined]);
  });

  it('give none where a pattern takes too long', () => {
    const match = computerOf(
      parseComputed('cp', "SELECT VALUE REGEXMATCH(c.t, '(?=a)(a+)+$') FROM c"),
    );
    expect(match({ t: `${'a'.repeat(40)}b` })).toBe(undefined);
  });

  it.each([
    'no query',
    'SELECT c.a FROM c',
    'SELECT * FROM c',
    'SELECT VALUE 1',
    'SELECT VALUE c.a FROM c WHERE true',
    'SELECT TOP 1 VALUE c.a FROM c',
    'SELECT DISTINCT VALUE c.a FROM c',
    'SELECT VALUE c.a FROM c ORDER BY c.a',
    'SELECT VALUE c.a FROM c GROUP BY c.a',
    'SELECT VALUE c.a FROM c OFFSET 0 LIMIT 1',
    'SELECT VALUE e FROM c JOIN e IN c.list',
    'SELECT VALUE x FROM c.a x',
    'SELECT VALUE e FROM e IN c.list',
    'SELECT VALUE COUNT(1) FROM c',
    'SELECT VALUE EXISTS(SELECT VALUE 1) FROM c',
    'SELECT VALUE (SELECT VALUE 1) FROM c',
    'SELECT VALUE GetCurrentDateTime() FROM c',
    'SELECT VALUE c.a + RAND() FROM c',
    'SELECT VALUE ST_DISTANCE(c.a, c.b) FROM c',
    'SELECT VALUE udf.f(c.a) FROM c',
    'SELECT VALUE @p FROM c',
    'SELECT VALUE d.a FROM c',
    'SELECT VALUE NOSUCH(c.a) FROM c',
  ])('refuses %s', (query) => {
    expect(() => parseComputed('cp', query)).toThrow(/computed property 'cp'/);
  });
});
