// Goal: the meaning of every clause and operator, and of undefined in each. Method: tables of queries and results over a
// handful of documents; then every client-generated text runs. Each query also runs as an executable query, with the same results.
import { describe, expect, it } from 'vitest';
import type { Value } from '../../../../value/index.ts';
import { readBaseline } from '../baselines-suite.ts';
import { type CompileOptions, compileQuery } from '../compile/compile.ts';
import { type Diagnostic, SqlError } from '../errors.ts';
import { parseQuery } from '../language/parser.ts';
import { type QueryParameter, runQuery } from './evaluate.ts';
import { executableQuery } from './executable.ts';
import { runExecutable } from './executable-suite.ts';

const documents: readonly Value[] = [
  { id: '1', n: 3, s: 'b', tags: ['x', 'y'], kids: [{ name: 'Ann', age: 5 }, { name: 'Bo' }] },
  { id: '2', n: 1, s: 'a', tags: ['y'], kids: [] },
  { id: '3', n: '2', s: 'c', tags: 'x', flag: true },
  { id: '4', n: null, flag: false, o: { a: 1, b: 2 } },
  { id: '5', flag: 'yes', o: { b: 2, a: 1 } },
];

function run(
  text: string,
  parameters: readonly QueryParameter[] = [],
  options: CompileOptions = {},
): readonly Value[] {
  const query = parseQuery(text);
  const results = runQuery(compileQuery(query, options), documents, parameters);
  const executable = executableQuery(query, { ...options, parameters, startMs: 0 });
  expect(runExecutable(executable, documents)).toEqual(results);
  return results;
}

describe('operators', () => {
  it.each<readonly [string, Value]>([
    ['1 = 1', true],
    ['1 = "1"', false],
    ['1 != "1"', true],
    ['null != 0', true],
    ['undefined = undefined', undefined],
    ['{"a": 1, "b": 2} = {"b": 2, "a": 1}', true],
    ['[1, [2]] = [1, [2]]', true],
    ['[1, 2] = [2, 1]', false],
    ['1 < 2', true],
    ['"a" < "b"', true],
    ['"\ud83d\ude00" > "\uffff"', true],
    ['false < true', true],
    ['null <= null', true],
    ['1 < "2"', undefined],
    ['[1] < [2]', undefined],
    ['null < 1', undefined],
    ['2 BETWEEN 1 AND 3', true],
    ['4 NOT BETWEEN 1 AND 3', true],
    ['"b" BETWEEN 1 AND 3', undefined],
    ['false AND undefined', false],
    ['undefined AND false', false],
    ['true AND undefined', undefined],
    ['true AND 1', undefined],
    ['true OR undefined', true],
    ['undefined OR true', true],
    ['false OR undefined', undefined],
    ['NOT true', false],
    ['NOT 1', undefined],
    ['1 ? "a" : "b"', 'b'],
    ['true ? "a" : "b"', 'a'],
    ['undefined ?? 1', 1],
    ['null ?? 1', null],
    ['1 + 2', 3],
    ['1 + "2"', undefined],
    ['7 % 4', 3],
    ['1 / 0', undefined],
    ['"a" || "b"', 'ab'],
    ['"a" || 1', undefined],
    ['6 & 3', 2],
    ['6 | 3', 7],
    ['6 ^ 3', 5],
    ['~ 5', -6],
    ['- "a"', undefined],
    ['2 IN (1, 2)', true],
    ['2 IN (1, "2")', false],
    ['2 NOT IN (1, "2")', true],
    ['undefined IN (1)', undefined],
    ['2 IN (1, undefined)', undefined],
    ['[1] IN ([1], 2)', true],
    ['"abc" LIKE "a%"', true],
    ['"abc" LIKE "%C"', false],
    ['"abc" LIKE "a_c"', true],
    ['"abc" LIKE "[a-c]bc"', true],
    ['"abc" LIKE "[^a-c]bc"', false],
    ['"a%c" LIKE "a!%c" ESCAPE "!"', true],
    ['"abc" LIKE "a!%c" ESCAPE "!"', false],
    ['"a[c" LIKE "a[c"', true],
    ['"xaybz" LIKE "%a%b%"', true],
    ['"abc" NOT LIKE "b%"', true],
    ['1 LIKE "1"', undefined],
    ['[1, undefined, 2]', [1, 2]],
    ['{"a": undefined, "b": 1}', { b: 1 }],
    ['[1, 2][1]', 2],
    ['[1, 2][2]', undefined],
    ['{"a": 1}["a"]', 1],
    ['{"a": 1}.toString', undefined],
    ['"abc".length', undefined],
    ['(SELECT VALUE 1)', 1],
    ['EXISTS(SELECT VALUE undefined)', false],
  ])('%s', (text, expected) => {
    expect(run(`SELECT VALUE ${text}`)[0]).toEqual(expected);
  });

  it('matches a hostile pattern in bounded time', () => {
    const text = 'a'.repeat(2000);
    expect(run(`SELECT VALUE "${text}" LIKE "${'%a'.repeat(200)}b_"`)).toEqual([false]);
  });
});

describe('clauses', () => {
  it.each<readonly [string, readonly Value[]]>([
    ['SELECT VALUE c.id FROM c', ['1', '2', '3', '4', '5']],
    ['SELECT c.id, c.none FROM c WHERE c.id = "1"', [{ id: '1' }]],
    ['SELECT c.none FROM c WHERE c.id = "1"', [{}]],
    ['SELECT VALUE c.flag FROM c', [true, false, 'yes']],
    ['SELECT VALUE c.id FROM c WHERE c.flag', ['3']],
    ['SELECT VALUE c.id FROM c WHERE NOT c.flag', ['4']],
    ['SELECT VALUE c.id FROM c WHERE c.n != null', ['1', '2', '3']],
    ['SELECT VALUE c.id FROM c WHERE c.n > 0', ['1', '2']],
    ['SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.n)', ['1', '2', '3', '4']],
    ['SELECT * FROM c WHERE c.id = "2"', [documents[1] as Value]],
    ['SELECT c.id, c["n"], 5, c.n + 1 FROM c WHERE c.id = "1"', [{ id: '1', n: 3, $1: 5, $2: 4 }]],
    ['SELECT c FROM c WHERE c.id = "2"', [{ c: documents[1] as Value }]],
    ['SELECT VALUE r.id FROM Families r WHERE r.id < "3"', ['1', '2']],
    [
      'SELECT VALUE o FROM c.o',
      [
        { a: 1, b: 2 },
        { a: 1, b: 2 },
      ],
    ],
    ['SELECT VALUE k.name FROM k IN c.kids', ['Ann', 'Bo']],
    ['SELECT VALUE x FROM c.tags[0] x', ['x', 'y']],
    [
      'SELECT c.id, t FROM c JOIN t IN c.tags',
      [
        { id: '1', t: 'x' },
        { id: '1', t: 'y' },
        { id: '2', t: 'y' },
      ],
    ],
    [
      'SELECT VALUE {"t": t, "k": k.name} FROM c JOIN t IN c.tags JOIN k IN c.kids WHERE t = "y"',
      [
        { t: 'y', k: 'Ann' },
        { t: 'y', k: 'Bo' },
      ],
    ],
    ['SELECT VALUE k FROM c JOIN (SELECT VALUE k.name FROM k IN c.kids) AS k', ['Ann', 'Bo']],
    ['SELECT VALUE e FROM c JOIN e IN (SELECT VALUE c.tags)', ['x', 'y', 'y']],
    ['SELECT DISTINCT VALUE c.o FROM c', [{ a: 1, b: 2 }]],
    ['SELECT TOP 2 VALUE c.flag FROM c', [true, false]],
    ['SELECT VALUE c.id FROM c OFFSET 1 LIMIT 2', ['2', '3']],
    ['SELECT VALUE c.id FROM c ORDER BY c.n', ['5', '4', '2', '1', '3']],
    ['SELECT VALUE c.id FROM c ORDER BY c.n DESC', ['3', '1', '2', '4', '5']],
    ['SELECT VALUE c.id FROM c ORDER BY c.flag DESC, c.id', ['5', '3', '4', '1', '2']],
    ['SELECT TOP 1 VALUE c.id FROM c ORDER BY c.id DESC', ['5']],
    // The first of two duplicate rows in the order counts.
    ['SELECT DISTINCT VALUE IS_DEFINED(c.s) FROM c ORDER BY c.id DESC', [false, true]],
    ['SELECT DISTINCT TOP 1 VALUE c.flag ?? "none" FROM c ORDER BY c.n DESC', [true]],
    ['SELECT DISTINCT VALUE c.id < "2" OR c.id > "4" FROM c ORDER BY c.id', [true, false]],
    ['SELECT DISTINCT VALUE c.o FROM c ORDER BY c.id', [{ a: 1, b: 2 }]],
    ['SELECT VALUE COUNT(1) FROM c', [5]],
    ['SELECT VALUE COUNT(c.n) FROM c WHERE false', [0]],
    ['SELECT VALUE AVG(c.n) FROM c WHERE false', []],
    ['SELECT COUNT(1) AS n, MAX(c.n) AS m FROM c WHERE false', [{ n: 0 }]],
    ['SELECT VALUE SUM(c.n) FROM c WHERE c.id < "3"', [4]],
    ['SELECT VALUE FLOOR(AVG(c.n)) FROM c WHERE c.id < "3"', [2]],
    [
      'SELECT VALUE {"item": MIN(c.n), "item2": {"min": MIN(c.n), "count": COUNT(c.n)}} FROM c WHERE c.id < "3"',
      [{ item: 1, item2: { min: 1, count: 2 } }],
    ],
    ['SELECT VALUE COUNTIF(c.n > 1) FROM c', [1]],
    [
      'SELECT c.flag, COUNT(1) AS n FROM c GROUP BY c.flag',
      [{ n: 2 }, { flag: false, n: 1 }, { flag: true, n: 1 }, { flag: 'yes', n: 1 }],
    ],
    [
      'SELECT UPPER(c.s) AS s, MAKELIST(c.id) AS ids FROM c WHERE c.s < "c" GROUP BY c.s',
      [
        { s: 'B', ids: ['1'] },
        { s: 'A', ids: ['2'] },
      ],
    ],
    ['SELECT VALUE c["o"]["a"] FROM c GROUP BY c.o.a', [1]],
    [
      'SELECT c.o, COUNT(1) AS n FROM c WHERE IS_DEFINED(c.o) GROUP BY c.o ORDER BY COUNT(1)',
      [{ o: { a: 1, b: 2 }, n: 2 }],
    ],
    ['SELECT VALUE (SELECT VALUE COUNT(1) FROM t IN c.tags) FROM c', [2, 1, 0, 0, 0]],
    ['SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = "x")', ['1']],
    [
      'SELECT VALUE ALL(SELECT VALUE t = "y" FROM t IN c.tags) FROM c WHERE c.id < "3"',
      [false, true],
    ],
    ['SELECT VALUE FIRST(SELECT VALUE t FROM t IN c.tags) FROM c WHERE c.id < "3"', ['x', 'y']],
    ['SELECT VALUE LAST(SELECT VALUE t FROM t IN c.tags) FROM c WHERE c.id < "3"', ['y', 'y']],
    ['SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.o FROM c) AS d', [1]],
    ['SELECT 5', [{ $1: 5 }]],
    ['SELECT VALUE c.id FROM c ORDER BY RANK FullTextScore(c.s, "a") OFFSET 0 LIMIT 1', ['2']],
    [
      'SELECT TOP 2 VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.s, "b"), VectorDistance([c.n, 1], [3, 1]))',
      ['1', '2'],
    ],
  ])('%s', (text, expected) => {
    expect(run(text)).toEqual(expected);
  });
});

describe('parameters and user defined functions', () => {
  it('takes parameters wherever values are allowed', () => {
    const text =
      'SELECT TOP @top VALUE c.id FROM c WHERE c.n IN (@a, @b) OR c.s LIKE @like OR ARRAY_CONTAINS(@list, c.id)';
    const parameters = [
      { name: '@top', value: 3 },
      { name: '@a', value: 3 },
      { name: '@b', value: null },
      { name: '@like', value: 'a%' },
      { name: '@list', value: ['5'] },
    ];
    expect(run(text, parameters)).toEqual(['1', '2', '4']);
  });

  it('treats a parameter without a value as undefined', () => {
    expect(run('SELECT VALUE IS_DEFINED(@p)', [{ name: '@p' }])).toEqual([false]);
  });

  it('calls user defined functions with undefined arguments, too', () => {
    const findUdf = (name: string) =>
      name === 'kind' ? (value: Value) => typeof value : undefined;
    expect(run('SELECT VALUE udf.kind(c.n) FROM c', [], { findUdf })).toEqual([
      'number',
      'number',
      'string',
      'object',
      'undefined',
    ]);
  });
});

describe('errors', () => {
  const diagnosticsOf = (text: string, parameters: readonly QueryParameter[] = []) => {
    try {
      run(text, parameters);
    } catch (error) {
      if (error instanceof SqlError) return error.diagnostics;
      throw error;
    }
    return [];
  };
  it.each<readonly [string, Diagnostic['code'], number, number]>([
    ['SELECT VALUE d.id FROM c', 'SC2001', 13, 14],
    ['SELECT * FROM c JOIN t IN c.tags', 'SC2040', 7, 8],
    ['SELECT * FROM c GROUP BY c.id', 'SC2041', 7, 8],
    ['SELECT *', 'SC1001', 7, 8],
    ['SELECT VALUE c[c.p] FROM c', 'SC2990', 13, 19],
    ['SELECT VALUE [1, 2, 3][c.n] FROM c', 'SC2990', 13, 27],
    ['SELECT VALUE ARRAY_CONTAINS_ANY(c.a) FROM c', 'SC2050', 13, 36],
    ["SELECT VALUE c.a FROM c WHERE (FullTextScore(c.a, 'x') > 1)", 'SC2240', 31, 54],
    ["SELECT VALUE RRF(FullTextScore(c.a, 'x')) FROM c", 'SC2240', 17, 40],
    ['SELECT VALUE RRF(1, 2) FROM c', 'SC2005', 13, 16],
    ["SELECT c.a FROM c ORDER BY RANK RRF(FullTextScore(c.a, 'x'))", 'SC2221', 18, 60],
    ['SELECT c.a FROM c ORDER BY RANK LOWER(c.a)', 'SC2221', 18, 42],
    ["SELECT t FROM c JOIN t IN c.l ORDER BY RANK FullTextScore(c.a, 'x')", 'SC2224', 14, 29],
    ["SELECT t FROM t IN c.l ORDER BY RANK FullTextScore(t.a, 'x')", 'SC2223', 14, 22],
    [
      "SELECT r FROM (SELECT * FROM c) AS r ORDER BY RANK FullTextScore(r.a, 'x')",
      'SC2225',
      14,
      31,
    ],
    [
      "SELECT VALUE (SELECT VALUE c ORDER BY RANK FullTextScore(c.a, 'x')) FROM c",
      'SC2228',
      29,
      66,
    ],
    [
      'SELECT VALUE VectorDistance(c.v, [1], true, {"searchListSizeMultiplier": -100}) FROM c',
      'SC2213',
      44,
      78,
    ],
    ['SELECT VALUE MAX(MIN(r)) From r', 'SC2101', 13, 24],
    ['SELECT c.a, COUNT(1) FROM c', 'SC2102', 7, 10],
    ['SELECT * FROM c WHERE COUNT(1) > 1', 'SC2103', 22, 30],
    ['SELECT c.a FROM c GROUP BY c.a ORDER BY c.b', 'SC2103', 40, 43],
    ['SELECT * FROM (SELECT VALUE c FROM c ORDER BY c.a DESC) r', 'SC2202', 37, 54],
    ['SELECT VALUE COUNT(1) FROM (SELECT TOP 3 VALUE c FROM c) r', 'SC2203', 35, 40],
    [
      'SELECT VALUE ARRAY(SELECT VALUE t FROM t IN c.tags OFFSET 1 LIMIT 2) FROM c',
      'SC2204',
      51,
      67,
    ],
    ['SELECT * FROM c WHERE EXISTS(SELECT TOP 1 t FROM t IN c.tags)', 'SC2203', 36, 41],
    ['SELECT VALUE udf.f(1)', 'SC2006', 13, 21],
    ['SELECT VALUE COUNT(1, 2) FROM c', 'SC2050', 13, 24],
    ['SELECT VALUE (SELECT VALUE 1 FROM d)', 'SC2001', 34, 35],
  ])('%s', (text, code, start, end) => {
    expect(diagnosticsOf(text)[0]).toMatchObject({ code, span: { start, end } });
  });

  it("reports 'SELECT *' without FROM and over several inputs differently", () => {
    expect(diagnosticsOf('SELECT *')[0]?.message).toBe(
      "Syntax error, 'SELECT *' is not valid if FROM clause is omitted.",
    );
  });

  it('names the bounds of searchListSizeMultiplier and takes them', () => {
    const distance = (size: number) =>
      `SELECT VALUE VectorDistance(c.v, [1], true, {"searchListSizeMultiplier": ${size}}) FROM c`;
    expect(diagnosticsOf(distance(101))[0]?.message).toBe(
      "The 'searchListSizeMultiplier' value 101 specified in the VectorDistance function is outside the supported range. The value must be between 1 and 100.",
    );
    expect(diagnosticsOf(distance(1))).toEqual([]);
    expect(diagnosticsOf(distance(100))).toEqual([]);
  });

  it.each([
    'LOWER(c.a)',
    '1',
    'c.a + 1',
    'c.a, ARRAY_LENGTH(c.b)',
    'DOCUMENTID(c)',
    'n',
    'o.n',
    'o',
    'e.k',
  ])('refuses ORDER BY %s, which is no path', (order) => {
    const text = `SELECT VALUE c FROM c
      JOIN (SELECT VALUE COUNT(1) FROM t IN c.tags) AS n
      JOIN (SELECT c.a AS a, ARRAY_LENGTH(c.tags) AS n) AS o
      JOIN e IN (SELECT VALUE ObjectToArray(c.b)) ORDER BY ${order}`;
    expect(diagnosticsOf(text)).toEqual([
      {
        code: 2206,
        message:
          'Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.',
      },
    ]);
  });

  it.each(['c', 'c.a', 'c["a"].b[0]', 't', 't.name', 'o.a', 'o.a.b', 'd', 'd.x'])(
    'takes ORDER BY %s, which is a path whatever the aliases',
    (order) => {
      const text = `SELECT VALUE c FROM c JOIN t IN c.tags
        JOIN (SELECT c.a AS a, ARRAY_LENGTH(c.tags) AS n) AS o
        JOIN (SELECT DISTINCT VALUE u FROM u IN c.tags) AS d ORDER BY ${order}`;
      expect(diagnosticsOf(text)).toEqual([]);
    },
  );

  const TWO = "FullTextScore(c.a, 'x'), FullTextScore(c.b, 'y')";
  it.each(['[1]', '[1, 2, 3]', '[1, c.w]', '[1, "2"]', '[1, @w]', '@w', '5'])(
    'refuses RRF with the weights %s',
    (weights) => {
      const text = `SELECT c.a FROM c ORDER BY RANK RRF(${TWO}, ${weights})`;
      expect(diagnosticsOf(text, [{ name: '@w', value: 1 }])).toMatchObject([
        { code: 'SC2229', span: { start: 18, end: text.length } },
      ]);
    },
  );

  it('takes RRF with one number for each score', () => {
    expect(diagnosticsOf(`SELECT c.a FROM c ORDER BY RANK RRF(${TWO}, [2, -1.5])`)).toEqual([]);
  });

  it('reports a parameter that is not given', () => {
    expect(diagnosticsOf('SELECT VALUE c.a + @p FROM c WHERE c.b = @p')).toEqual([
      {
        code: 'SC2001',
        message: "Identifier '@p' could not be resolved.",
        span: { start: 19, end: 21 },
      },
    ]);
  });

  it('refuses a scalar subquery of two rows', () => {
    expect(diagnosticsOf('SELECT VALUE (SELECT VALUE t FROM t IN c.tags) FROM c')).toHaveLength(1);
  });
});

/** Texts of the corpus by the codes of the service's refusals; one that it never saw is refused as well. */
const REFUSED = {
  '2206': 29,
  'SC2005 SC2240': 2,
  SC2050: 2,
  SC2202: 14,
  'SC2202 SC2203': 18,
  'SC2202 SC2203 SC2204': 10,
  'SC2202 SC2204': 9,
  SC2203: 38,
  'SC2203 SC2204': 10,
  'SC2203 SC2225': 1,
  SC2204: 60,
  'SC2204 SC2225': 1,
  SC2213: 1,
  SC2221: 1,
  'SC2223 SC2224': 2,
  SC2228: 1,
  SC2229: 1,
  SC2240: 2,
  SC2990: 2,
};

describe('client-generated texts', () => {
  const texts = readBaseline<string>('linq-sql-corpus.json');
  it.runIf(texts.length > 0)(`runs all ${texts.length} but those that the service refuses`, () => {
    const refused: Record<string, number> = {};
    const misses = texts.flatMap((text) => {
      try {
        run(text, [], { findUdf: () => () => undefined });
        return [];
      } catch (error) {
        if (!(error instanceof SqlError)) return [{ text, error: String(error) }];
        const codes = [...new Set(error.diagnostics.map(({ code }) => code))].sort().join(' ');
        refused[codes] = (refused[codes] ?? 0) + 1;
        return [];
      }
    });
    expect(misses).toEqual([]);
    expect(refused).toEqual(REFUSED);
  });
});
