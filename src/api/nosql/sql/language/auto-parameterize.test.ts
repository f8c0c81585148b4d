// Goal: a lifted query is the same query. Method: a table of texts; each lifted text is run beside the original.
import { describe, expect, it } from 'vitest';
import { SqlError } from '../errors.ts';
import { compileQuery, parseQuery, runQuery } from '../index.ts';
import { autoParameterize } from './auto-parameterize.ts';

const ITEMS = [
  { id: 'a', n: 5, t: "it's", nested: { x: -2 } },
  { id: 'b', n: 5.5, t: '= 5', nested: { x: 0 } },
  { id: 'c', n: -3, t: 'say "x"' },
  { id: 'd', n: 1e21, t: '', list: [1, 5, 'a'] },
  { id: 'e', t: null },
];

const LIFTED: readonly (readonly [text: string, lifted: string, values: readonly unknown[]])[] = [
  ['SELECT * FROM c WHERE c.id = "a"', 'SELECT * FROM c WHERE c.id = @_0', ['a']],
  ["SELECT * FROM c WHERE c.id ='b'", 'SELECT * FROM c WHERE c.id =@_0', ['b']],
  ['SELECT * FROM c WHERE c.n>=5', 'SELECT * FROM c WHERE c.n>=@_0', [5]],
  ['SELECT * FROM c WHERE c.n = -3', 'SELECT * FROM c WHERE c.n = @_0', [-3]],
  ['SELECT * FROM c WHERE c.n <> 5.5', 'SELECT * FROM c WHERE c.n <> @_0', [5.5]],
  ['SELECT * FROM c WHERE c.t = "it\'s"', 'SELECT * FROM c WHERE c.t = @_0', ["it's"]],
  ['SELECT * FROM c WHERE c.t = "say \\"x\\""', 'SELECT * FROM c WHERE c.t = @_0', ['say "x"']],
  ['SELECT * FROM c WHERE c.n = - 3 -- low', 'SELECT * FROM c WHERE c.n = @_0 -- low', [-3]],
  ['SELECT * FROM c WHERE c.t = ""', 'SELECT * FROM c WHERE c.t = @_0', ['']],
  [
    'SELECT * FROM c WHERE c["id"] > "a" AND c.n < 6 AND c.t != "x"',
    'SELECT * FROM c WHERE c["id"] > @_0 AND c.n < @_1 AND c.t != @_2',
    ['a', 6, 'x'],
  ],
  // What stands in a text is no comparison.
  [
    'SELECT "c.id = 1" AS t FROM c WHERE CONTAINS(c.t, "= 5") AND c.n = 5.5',
    'SELECT "c.id = 1" AS t FROM c WHERE CONTAINS(c.t, "= 5") AND c.n = @_0',
    [5.5],
  ],
  ['SELECT c.n = 5 FROM c', 'SELECT c.n = @_0 FROM c', [5]],
  [
    'SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.list WHERE t = 5)',
    'SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.list WHERE t = @_0)',
    [5],
  ],
  ['SELECT * FROM c WHERE c.n = 2 + 3', 'SELECT * FROM c WHERE c.n = @_0 + 3', [2]],
  [
    'SELECT * FROM c WHERE c.n = 5 ORDER BY c.id',
    'SELECT * FROM c WHERE c.n = @_0 ORDER BY c.id',
    [5],
  ],
];

const KEPT: readonly string[] = [
  'SELECT * FROM c',
  'SELECT * FROM c WHERE c.id = @id',
  'SELECT TOP 5 * FROM c WHERE c.n IN (5, 6) ORDER BY c.id OFFSET 1 LIMIT 2',
  'SELECT * FROM c WHERE c.t LIKE "a!%" ESCAPE "!"',
  'SELECT * FROM c -- where c.n = 5',
  'SELECT c.n = 5, COUNT(1) FROM c GROUP BY c.n = 5',
  'SELECT * FROM c WHERE c.n = 0x10',
  'SELECT * FROM c WHERE c.n = 1e3',
  'SELECT * FROM c WHERE c.n = 5.',
  'SELECT * FROM c WHERE c.n = true',
];

describe('literals', () => {
  it.each(LIFTED)('are lifted: %s', (text, lifted, values) => {
    const found = autoParameterize(text);
    expect(found?.text).toBe(lifted);
    expect(found?.parameters.map(({ value }) => value)).toEqual(values);
    const plain = runQuery(compileQuery(parseQuery(text)), ITEMS);
    const same = runQuery(compileQuery(parseQuery(lifted)), ITEMS, found?.parameters);
    expect(same).toEqual(plain);
  });

  it.each(KEPT)('stay: %s', (text) => {
    expect(autoParameterize(text)).toBeUndefined();
  });

  it('are not looked for in a text with a bad token', () => {
    expect(() => autoParameterize('SELECT * FROM c WHERE c.n = 5a')).toThrow(SqlError);
  });
});
