// Goal: a filter becomes the narrowest safe condition. Method: a table of filters and
// conditions printed as text; random filters over random documents by seed, each match looked up among the item's terms.
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../../../base/index.ts';
import type { Condition, ValueRange } from '../../../../query/index.ts';
import {
  decodeTuple,
  isExactTuple,
  KEY_TAGS,
  printPath,
  type Value,
} from '../../../../value/index.ts';
import { compileQuery } from '../compile/compile.ts';
import { parseQuery } from '../language/parser.ts';
import { Generator } from '../random-expressions-suite.ts';
import { type QueryParameter, runQuery } from '../run/evaluate.ts';
import { type ConditionOptions, conditionOf } from './conditions.ts';
import { isMet } from './conditions-suite.ts';

const KINDS = new Map(Object.entries(KEY_TAGS.cosmos).map(([kind, tag]) => [tag, kind]));

/** `=1`, `number`, `1…` from 1, `…1` up to and with 1, `…<1` below 1, `>1…` above 1, `"ab*"` texts that begin so. */
function printRange({ start, end, isPoint }: ValueRange): string {
  if (isPoint) return `=${JSON.stringify(decodeTuple(start)[0])}`;
  const from = KINDS.get(start[0] as number) ?? '?';
  if (start.length === 1 && end.length === 1) {
    const to = KINDS.get((end[0] as number) - 1) ?? '?';
    return from === to ? from : `${from}…${to}`;
  }
  const isTextStart = end.at(-1) === 0xff && end.length === start.length + 1;
  if (isTextStart && from === 'text' && start.at(-1) !== 0)
    return `"${Buffer.from(start.subarray(1)).toString()}*"`;
  const bound = (bytes: Uint8Array) => {
    const isBehind = bytes.at(-1) === 0xff;
    const whole = isBehind ? bytes.subarray(0, -1) : bytes;
    const text = isExact(whole)
      ? JSON.stringify(decodeTuple(whole)[0])
      : `"${Buffer.from(whole.subarray(1)).toString()}*"`;
    return { text, isBehind };
  };
  const low = start.length === 1 ? undefined : bound(start);
  const high = end.length === 1 ? undefined : bound(end);
  return `${low ? (low.isBehind ? '>' : '') + low.text : ''}…${high ? (high.isBehind ? '' : '<') + high.text : ''}`;
}

function isExact(bytes: Uint8Array): boolean {
  try {
    return isExactTuple(bytes);
  } catch {
    return false;
  }
}

function print(condition: Condition): string {
  switch (condition.kind) {
    case 'anything':
    case 'nothing':
    case 'declared':
      return condition.kind;
    case 'all':
      return `(${condition.of.map(print).join(' & ')})`;
    case 'any':
      return `(${condition.of.map(print).join(' | ')})`;
    case 'text':
      return `${printPath(condition.path)} ~${condition.needs}(${condition.phrases.join()})`;
    case 'term': {
      const ranges = condition.ranges.map(printRange).join(' or ');
      return `${printPath(condition.path)} ${ranges}${condition.test ? ' ?' : ''}`;
    }
  }
}

function conditionText(sql: string, options: ConditionOptions = {}): string {
  return print(conditionOf(parseQuery(sql), options));
}

const ofFilter = (filter: string) => conditionText(`SELECT * FROM c WHERE ${filter}`);

describe('filters', () => {
  it.each<readonly [string, string]>([
    ['c.a = 1', '/a =1'],
    ['1 = c.a', '/a =1'],
    ['c.a = 1 + 1', '/a =2'],
    ['c.a["b c"].d = "x"', '/a/"b c"/d ="x"'],
    ['c["a"] = null', '/a =null'],
    ['c.a[0] = 1', '/a/[] =1'],
    ['c.a[1].b = 1', '/a/[]/b =1'],
    ['c[c.b] = 1', 'anything'],
    ['c.a = c.b', 'anything'],
    ['c.a != 1', 'anything'],
    ['c.a = undefined', 'nothing'],
    ['c.a != undefined', 'nothing'],
    ['c.a = []', '/a array'],
    ['c.a = {}', '/a object'],
    ['c.a = ["x", 1]', '(/a/[] ="x" & /a/[] =1)'],
    ['c.a = {"x": 1, "y": [2]}', '/a/x =1'],
    ['c = {"id": "x"}', '/id ="x"'],
    ['c = 1', 'anything'],
    ['c.a', '/a =true'],
    ['NOT c.a', '/a =false'],
    ['c.a = true', '/a =true'],
    ['c.a < 1', '/a …<1'],
    ['c.a <= 1', '/a …1'],
    ['c.a > 1', '/a >1…'],
    ['c.a >= 1', '/a 1…'],
    ['1 < c.a', '/a >1…'],
    ['c.a > "x"', '/a >"x"…'],
    ['c.a > false', '/a true'],
    ['c.a < false', 'nothing'],
    ['c.a <= null', '/a …null'],
    ['c.a < null', 'nothing'],
    ['c.a > [1]', 'nothing'],
    ['c.a BETWEEN 1 AND 3', '/a 1…3'],
    ['c.a BETWEEN 3 AND 1', 'nothing'],
    ['c.a BETWEEN 1 AND "x"', 'nothing'],
    ['c.a NOT BETWEEN 1 AND 3', '/a …<1 or >3…'],
    ['c.a IN (3, 1, "x", 1)', '/a =1 or =3 or ="x"'],
    ['c.a IN (1, undefined)', '/a =1'],
    ['c.a IN (undefined)', 'nothing'],
    ['c.a IN (1, [2])', '/a =1 or array'],
    ['c.a IN (1, c.b)', 'anything'],
    ['1 IN (c.a, c.b)', '(/a =1 | /b =1)'],
    ['c.a NOT IN (1)', 'anything'],
    ['NOT (c.a NOT IN (1))', '/a =1'],
    ['c.a = 1 AND c.b = 2', '(/a =1 & /b =2)'],
    ['c.a = 1 AND c.b != 2', '/a =1'],
    ['c.a > 1 AND c.a < 5', '/a >1…<5'],
    ['c.a > 1 AND c.a = 5', '/a =5'],
    ['c.a = 1 AND c.a = 2', 'nothing'],
    ['c.a > 1 AND c.a < "x"', 'nothing'],
    ['c.a[0] = 1 AND c.a[1] = 2', '(/a/[] =1 & /a/[] =2)'],
    ['c.a[0] > 1 AND c.a[0] < 5', '/a/[] >1…<5'],
    ['c.a = 1 OR c.a = 2', '/a =1 or =2'],
    ['c.a < 2 OR c.a < 3', '/a …<3'],
    ['c.a = 1 OR c.b = 2', '(/a =1 | /b =2)'],
    ['c.a = 1 OR c.b != 2', 'anything'],
    ['(c.a = 1 OR c.a = 2) AND c.a > 1', '/a =2'],
    ['(c.a = 1 OR c.b = 2) AND c.d = 3', '(/d =3 & (/a =1 | /b =2))'],
    ['NOT (c.a = 1)', 'anything'],
    ['NOT (c.a != 1)', '/a =1'],
    ['NOT (c.a > 1)', '/a …1'],
    ['NOT (c.a > 1 OR c.b)', '(/a …1 & /b =false)'],
    ['NOT (c.a > 1 AND c.b)', '(/a …1 | /b =false)'],
    ['NOT NOT (c.a = 1)', '/a =1'],
    ['c.a ?? c.b', '(/a =true | /b =true)'],
    ['(c.a ?? 0) = 1', '/a =1'],
    ['(c.a ?? 0) = 0', 'anything'],
    ['c.a = 1 ? c.b : c.d', '(/d =true | (/a =1 & /b =true))'],
    ['(c.a ? c.b : 2) = 1', '/b =1'],
    ['c.a + 1', 'nothing'],
    ['[c.a]', 'nothing'],
    ['true', 'anything'],
    ['false', 'nothing'],
    ['undefined', 'nothing'],
    ['1', 'nothing'],
    ['1 = 1 AND c.a = 1', '/a =1'],
    ['false OR c.a = 1', '/a =1'],
    ['udf.f(c.a)', 'anything'],
  ])('%s', (filter, expected) => {
    expect(ofFilter(filter)).toBe(expected);
  });
});

describe('texts', () => {
  it.each<readonly [string, string]>([
    ['STARTSWITH(c.a, "ab")', '/a "ab*"'],
    ['STARTSWITH(c.a, "")', '/a "*"'],
    ['STARTSWITH(c.a, "ab", false)', '/a "ab*"'],
    ['STARTSWITH(c.a, "ab", true)', '/a text ?'],
    ['STARTSWITH(c.a, c.b)', '/a text'],
    ['STARTSWITH(c.a, "x\ud83d")', '/a "x*"'],
    ['NOT STARTSWITH(c.a, "ab")', '/a text ?'],
    ['STRINGEQUALS(c.a, "ab")', '/a ="ab"'],
    ['STRINGEQUALS(c.a, "ab", true)', '/a text ?'],
    ['CONTAINS(c.a, "b")', '/a text ?'],
    ['CONTAINS(c.a, "b", true)', '/a text ?'],
    ['ENDSWITH(c.a, "b")', '/a text ?'],
    ['REGEXMATCH(c.a, "^a")', '/a text ?'],
    ['LOWER(c.a) = "x"', '/a text ?'],
    ['CONTAINS(LOWER(c.a), "x")', '/a text ?'],
    ['LENGTH(c.a) > 3', '/a text ?'],
    ['UPPER(c.a) = c.b', '/a text'],
    ['UPPER(c.a) IN ("X", "Y")', '/a text ?'],
    ['(c.a || "x") = "ax"', '/a text ?'],
    ['c.a LIKE "abc"', '/a ="abc"'],
    ['c.a LIKE "ab%"', '/a "ab*"'],
    ['c.a LIKE "%"', '/a "*"'],
    ['c.a LIKE "ab%c"', '/a "ab*" ?'],
    ['c.a LIKE "%b"', '/a "*" ?'],
    ['c.a LIKE "a_"', '/a "a*" ?'],
    ['c.a LIKE "a!%b%" ESCAPE "!"', '/a "a%b*"'],
    ['c.a LIKE 1', 'nothing'],
    ['c.a LIKE c.b', '/a text'],
    ['c.a NOT LIKE "ab%"', '/a text ?'],
    ['c.a > "ab" AND STARTSWITH(c.a, "abc")', '/a "abc*"'],
    ['CONTAINS(c.a, "x") AND c.a > "b"', '/a >"b"… ?'],
    ['ABS(c.a) = 1', '/a number ?'],
    ['c.a % 2 = 0', '/a number ?'],
    ['c.a + c.b > 0', '/a number'],
    ['-c.a > 0', '/a number ?'],
    ['c.a + RAND() > 0', '/a number'],
    ['c.a > AGO("day", 1)', 'anything'],
    ['LOWER(c.a) > AGO("day", 1)', '/a text'],
  ])('%s', (filter, expected) => {
    expect(ofFilter(filter)).toBe(expected);
  });

  it('tests the result of the function for the value', () => {
    const condition = conditionOf(
      parseQuery('SELECT * FROM c WHERE LOWER(c.a) LIKE @p AND NOT CONTAINS(c.a, "Z")'),
      { parameters: [{ name: '@p', value: '%x%' }] },
    );
    const test = condition.kind === 'term' ? condition.test : undefined;
    expect(['aXb', 'ab', 'xZ', 'x'].map((value) => test?.(value))).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});

describe('types', () => {
  it.each<readonly [string, string]>([
    ['IS_DEFINED(c.a)', '/a minKey…maxKey'],
    ['NOT IS_DEFINED(c.a)', 'anything'],
    ['IS_DEFINED(c)', 'anything'],
    ['IS_NULL(c.a)', '/a null'],
    ['IS_BOOL(c.a)', '/a false or true'],
    ['IS_NUMBER(c.a)', '/a number'],
    ['IS_STRING(c.a)', '/a text'],
    ['IS_ARRAY(c.a)', '/a array'],
    ['IS_OBJECT(c.a)', '/a object'],
    ['IS_PRIMITIVE(c.a)', '/a null or false or true or number or text'],
    ['IS_INTEGER(c.a)', '/a number ?'],
    ['IS_DATETIME(c.a)', '/a text ?'],
    ['NOT IS_NUMBER(c.a)', 'anything'],
    ['IS_NUMBER(c.a) = true', 'anything'],
    ['ARRAY_LENGTH(c.a) > 1', '/a array'],
    ['ARRAY_CONTAINS(c.a, "x")', '/a/[] ="x"'],
    ['ARRAY_CONTAINS(c.a, {"x": 1, "y": "z"}, true)', '(/a/[]/x =1 & /a/[]/y ="z")'],
    ['ARRAY_CONTAINS(c.a, {})', '/a/[] object'],
    ['ARRAY_CONTAINS(c.a, [1])', '/a/[]/[] =1'],
    ['ARRAY_CONTAINS(c.a, c.b)', '/a array'],
    ['ARRAY_CONTAINS(c.a, undefined)', 'nothing'],
    ['NOT ARRAY_CONTAINS(c.a, 1)', '/a array'],
    ['ARRAY_CONTAINS([1, "x"], c.a)', '/a =1 or ="x"'],
    ['ARRAY_CONTAINS(1, c.a)', 'nothing'],
    ['ARRAY_CONTAINS(c.a, 1) AND ARRAY_CONTAINS(c.a, 2)', '(/a/[] =1 & /a/[] =2)'],
    ['ARRAY_CONTAINS_ANY(c.a, 1, 2)', '/a/[] =1 or =2'],
    ['ARRAY_CONTAINS_ANY(c.a, 1, c.b)', '/a array'],
    ['ARRAY_CONTAINS_ALL(c.a, 1, 2)', '(/a/[] =1 & /a/[] =2)'],
    ['ARRAY_CONTAINS_ALL(c.a, 1, c.b)', '/a/[] =1'],
  ])('%s', (filter, expected) => {
    expect(ofFilter(filter)).toBe(expected);
  });
});

describe('sources and subqueries', () => {
  it.each<readonly [string, string]>([
    ['SELECT * FROM c', 'anything'],
    ['SELECT 5', 'nothing'],
    ['SELECT VALUE COUNT(1) FROM c WHERE c.a = 1', '/a =1'],
    ['SELECT * FROM c.a.b', '/a/b minKey…maxKey'],
    ['SELECT * FROM c.a.b WHERE b = 1', '/a/b =1'],
    ['SELECT * FROM c.a b WHERE b.x = 1', '/a/x =1'],
    ['SELECT * FROM x IN c.a', '/a array'],
    ['SELECT * FROM x IN c.a WHERE x.b = 1', '/a/[]/b =1'],
    ['SELECT c FROM c JOIN t IN c.tags', '/tags array'],
    ['SELECT c FROM c JOIN t IN c.tags WHERE t = "x"', '/tags/[] ="x"'],
    ['SELECT c FROM c JOIN t IN c.tags WHERE t > 1 AND t < 3', '/tags/[] >1…<3'],
    [
      'SELECT c FROM c JOIN t IN c.a JOIN u IN c.a WHERE t > 1 AND u < 3',
      '(/a/[] >1… & /a/[] …<3)',
    ],
    ['SELECT c FROM c JOIN t IN c.a JOIN u IN t.b WHERE u.d = 1', '/a/[]/b/[]/d =1'],
    ['SELECT c FROM c JOIN t IN c.a WHERE c.b = 1', '(/b =1 & /a array)'],
    ['SELECT c FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.a WHERE t.x = 1)', '/a/[]/x =1'],
    ['SELECT c FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.a)', '/a array'],
    ['SELECT c FROM c WHERE NOT EXISTS(SELECT VALUE t FROM t IN c.a)', 'anything'],
    ['SELECT c FROM c WHERE EXISTS(SELECT VALUE COUNT(1) FROM t IN c.a)', 'anything'],
    ['SELECT c FROM c WHERE EXISTS(SELECT t.x, COUNT(1) FROM t IN c.a GROUP BY t.x)', '/a array'],
    ['SELECT c FROM c WHERE ARRAY(SELECT VALUE t FROM t IN c.a)', 'nothing'],
    ['SELECT c FROM c WHERE (SELECT VALUE t FROM t IN c.a WHERE t.k = 1).x = 1', 'anything'],
    [
      'SELECT c FROM c WHERE (SELECT VALUE t.x FROM t IN c.a WHERE t.k = 1) = 2',
      '(/a/[]/k =1 & /a/[]/x =2)',
    ],
    ['SELECT c FROM c WHERE (SELECT VALUE COUNT(1) FROM t IN c.a) > 2', 'anything'],
    [
      'SELECT c FROM c JOIN (SELECT VALUE EXISTS(SELECT VALUE t FROM t IN c.a WHERE t = 1)) AS v WHERE v',
      '/a/[] =1',
    ],
    [
      'SELECT c FROM c JOIN (SELECT VALUE t FROM t IN c.a WHERE t.k = 1) AS u WHERE u.x = 2',
      '(/a/[]/x =2 & /a/[]/k =1)',
    ],
    ['SELECT c FROM c JOIN u IN (SELECT VALUE c.a) WHERE u.x = 1', '/a/[]/x =1'],
    ['SELECT c FROM c JOIN (SELECT VALUE COUNT(1) FROM t IN c.a) AS n WHERE n > 1', 'anything'],
    ['SELECT VALUE r FROM (SELECT TOP 2 VALUE c.a FROM c WHERE c.b = 1) AS r WHERE r = 5', '/b =1'],
    ['SELECT VALUE r FROM (SELECT VALUE c FROM c) AS r WHERE false', 'nothing'],
    ['SELECT VALUE r FROM (SELECT VALUE 1) AS r', 'nothing'],
  ])('%s', (sql, expected) => {
    expect(conditionText(sql)).toBe(expected);
  });
});

describe('constants', () => {
  const text = (filter: string, parameters: readonly QueryParameter[], startMs?: number) =>
    conditionText(`SELECT * FROM c WHERE ${filter}`, { parameters, startMs });
  it('takes parameters', () => {
    expect(text('c.a = @p', [{ name: '@p', value: 'x' }])).toBe('/a ="x"');
    expect(text('c.a = @p', [{ name: '@p' }])).toBe('nothing');
    expect(text('c[@p] = 1', [{ name: '@p', value: 'x' }])).toBe('/x =1');
    expect(text('ARRAY_CONTAINS(@p, c.a)', [{ name: '@p', value: [2, 1] }])).toBe('/a =1 or =2');
    expect(text('c.a = @p', [])).toBe('anything');
  });

  it('takes the start of the query', () => {
    expect(text('c.a > GetCurrentTimestampStatic() - 5', [], 100)).toBe('/a >95…');
  });

  it('gives up on aliases of aliases of aliases', () => {
    const joins = Array.from(
      { length: 9 },
      (_, at) => `JOIN (SELECT VALUE ${Array(20).fill(`v${at}`).join(' ?? ')}) AS v${at + 1}`,
    );
    const sql = `SELECT c FROM c JOIN (SELECT VALUE c.a) AS v0 ${joins.join(' ')} WHERE v9`;
    expect(conditionText(sql)).toBe('anything');
  });

  it('is quick with long lists', () => {
    const values = Array.from({ length: 10_000 }, (_, at) => 10_000 - at);
    const condition = conditionOf(parseQuery(`SELECT * FROM c WHERE c.a IN (${values})`));
    expect(condition.kind === 'term' && condition.ranges.length).toBe(10_000);
  });
});

function missed(
  sql: string,
  documents: readonly Value[],
  parameters: readonly QueryParameter[] = [],
): { readonly matches: readonly Value[]; readonly strays: readonly Value[]; met: number } {
  const query = parseQuery(sql);
  const compiled = compileQuery(query);
  const condition = conditionOf(query, { parameters });
  const matches = documents.filter((each) => runQuery(compiled, [each], parameters).length > 0);
  const met = documents.filter((each) => isMet(condition, each));
  return { matches, strays: matches.filter((each) => !met.includes(each)), met: met.length };
}

describe('random expressions over random documents', () => {
  it.each([1, 2])('never miss a match, seed %i', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 150; round++) {
      const generator = new Generator(random);
      const { literal, parameter } = generator.expression(3);
      const documents = Array.from({ length: 20 }, () => generator.document());
      for (const filter of [literal, parameter]) {
        const sql = `SELECT * FROM c WHERE ${filter}`;
        const { strays } = missed(sql, documents, generator.parameters);
        expect(strays, `seed ${seed}, round ${round}: ${sql}`).toEqual([]);
      }
    }
  });
});

const LONG = 'x'.repeat(600);
const SCALARS: readonly Value[] = [
  ...[null, true, false, 0, 1, -1, 2.5, '', 'a', 'ab', 'Ab', 'b', 'a\u0000', '\ud83d\ude00'],
  ...[LONG, `${LONG}a`, `${LONG}b`, '2020-01-01T00:00:00Z'],
];
const TEXTS = ['', 'a', 'ab', 'b', '\ud83d', LONG, `${LONG}a`, 'A', '2', 'x'];

/** A value of arrays and objects, some levels deep, without undefined parts. */
function randomValue(random: Random, depth: number): Value {
  const pick = random.below(depth > 0 ? 4 : 2);
  if (pick < 2) return SCALARS[random.below(SCALARS.length)];
  if (pick === 2)
    return Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1));
  return randomObject(random, depth - 1);
}

/** Mostly a value in a, a list in b and an object in c, so that filters find something. */
function randomObject(random: Random, depth: number): Value {
  const names = ['a', 'b', 'c'].filter(() => random.below(6) > 0);
  const entries = names.map((name) => {
    const isUsual = depth > 0 && random.below(4) > 0;
    if (name === 'b' && isUsual)
      return [name, Array.from({ length: 1 + random.below(3) }, () => randomValue(random, depth))];
    if (name === 'c' && isUsual) return [name, randomObject(random, depth - 1)];
    return [name, randomValue(random, name === 'a' ? 0 : depth)];
  });
  return Object.fromEntries(entries);
}

/** Filters of every form that is understood, over `c` and the element alias `t`. */
class Filters {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.below(items.length)] as T;
  }

  constant(): string {
    if (this.#random.below(12) === 0) return 'undefined';
    return JSON.stringify(randomValue(this.#random, this.#random.below(4) === 0 ? 2 : 0));
  }

  text(): string {
    return JSON.stringify(this.#pick(TEXTS));
  }

  path(roots: readonly string[]): string {
    const steps = this.#pick([
      '.a',
      '.a',
      '["a"]',
      '.b',
      '.c',
      '.b[0]',
      '.b[1].a',
      '',
      '.c.a',
      '.a.b',
    ]);
    return `${this.#pick(roots)}${steps}`;
  }

  list(roots: readonly string[]): string {
    return `${this.#pick(roots)}${this.#pick(['.b', '.b', '.b', '.b', '.c.b', '.a', ''])}`;
  }

  filter(roots: readonly string[], depth: number): string {
    const inner = () => this.filter(roots, depth - 1);
    const path = () => this.path(roots);
    const not = this.#pick(['', '', 'NOT ']);
    if (depth > 0)
      switch (this.#random.below(7)) {
        case 0:
        case 1:
          return `(${inner()} AND ${inner()})`;
        case 2:
          return `(${inner()} OR ${inner()})`;
        case 3:
          return `(NOT ${inner()})`;
        case 4:
          return `(${inner()} ? ${inner()} : ${inner()})`;
        case 5:
          return `(${not}${this.subquery(roots, depth)})`;
      }
    switch (this.#random.below(12)) {
      case 0:
        return path();
      case 1:
      case 2:
        return `(${path()} ${this.#pick(['<', '<=', '>', '>=', '!=', '='])} ${this.constant()})`;
      case 3:
        return `(${this.constant()} ${this.#pick(['<', '>=', '='])} (${path()} ?? ${path()}))`;
      case 4:
        return `(${path()} ${not}IN (${this.constant()}, ${this.constant()}, ${this.constant()}))`;
      case 5:
        return `(${path()} ${not}BETWEEN ${this.constant()} AND ${this.constant()})`;
      case 6: {
        const pattern = this.#pick(['a%', '%b', 'a_', 'ab', '%', '[a-b]%', `${LONG}%`, '\ud83d%']);
        return `(${path()} ${not}LIKE ${JSON.stringify(pattern)})`;
      }
      case 7: {
        const name = this.#pick(['STARTSWITH', 'CONTAINS', 'ENDSWITH', 'STRINGEQUALS']);
        return `${name}(${path()}, ${this.text()}${this.#pick(['', ', true', ', false'])})`;
      }
      case 8: {
        const name = this.#pick(['DEFINED', 'NULL', 'BOOL', 'NUMBER', 'STRING', 'ARRAY', 'OBJECT']);
        return `IS_${name}(${path()})`;
      }
      case 9:
        return this.#random.below(2) === 0
          ? `ARRAY_CONTAINS([${this.constant()}, ${this.constant()}], ${path()})`
          : `ARRAY_CONTAINS(${path()}, ${this.constant()}${this.#pick(['', ', true'])})`;
      case 10: {
        const name = this.#pick(['ARRAY_CONTAINS_ANY', 'ARRAY_CONTAINS_ALL']);
        return `${name}(${path()}, ${this.constant()}, ${this.constant()})`;
      }
      default:
        return this.#pick([
          `(LOWER(${path()}) = ${this.text()})`,
          `(ABS(${path()}) > ${this.constant()})`,
          `(ARRAY_LENGTH(${path()}) > 0)`,
          `(NOT REGEXMATCH(${path()}, "^a"))`,
          `IS_PRIMITIVE(${path()})`,
          `IS_INTEGER(${path()})`,
          `IS_DATETIME(${path()})`,
        ]);
    }
  }

  subquery(roots: readonly string[], depth: number): string {
    const alias = `t${depth}`;
    const where = this.filter([...roots, alias], depth - 1);
    const list = this.list(roots);
    return this.#pick([
      `EXISTS(SELECT VALUE 1 FROM ${alias} IN ${list} WHERE ${where})`,
      `EXISTS(SELECT VALUE 1 FROM ${list} AS ${alias} WHERE ${where})`,
      `FIRST(SELECT VALUE ${alias}.a FROM ${alias} IN ${list} WHERE ${where})`,
      `(FIRST(SELECT VALUE ${alias} FROM ${alias} IN ${list} WHERE ${where}) > ${this.constant()})`,
      `ALL(SELECT VALUE ${alias} = 1 FROM ${alias} IN ${list})`,
      `((SELECT VALUE COUNT(1) FROM ${alias} IN ${list} WHERE ${where}) >= 1)`,
    ]);
  }

  query(): string {
    const where = (...roots: readonly string[]) => `WHERE ${this.filter(roots, 2)}`;
    const list = this.list(['c']);
    switch (this.#random.below(6)) {
      case 0:
        return `SELECT VALUE 1 FROM c JOIN t IN ${list} ${where('c', 't')}`;
      case 1:
        return `SELECT VALUE 1 FROM t IN c.b ${where('t')}`;
      case 2:
        return `SELECT VALUE 1 FROM c.c AS t ${where('t')}`;
      case 3:
        return `SELECT VALUE 1 FROM c JOIN (SELECT VALUE u FROM u IN ${list} ${where('c', 'u')}) AS t ${where('c', 't')}`;
      case 4:
        return `SELECT VALUE 1 FROM c JOIN t IN (SELECT VALUE u.a FROM u IN ${list}) ${where('c', 't')}`;
      default:
        return `SELECT VALUE 1 FROM c ${where('c')}`;
    }
  }
}

describe('random filters over random documents', () => {
  it.each([1, 2, 3, 4])('never miss a match, seed %i', (seed) => {
    const random = seededRandom(seed);
    const filters = new Filters(random);
    let narrowed = 0;
    let matched = 0;
    for (let round = 0; round < 100; round++) {
      const documents = Array.from({ length: 40 }, () => randomObject(random, 3));
      const sql = filters.query();
      const { strays, matches, met } = missed(sql, documents);
      expect(strays, `seed ${seed}, round ${round}: ${sql}`).toEqual([]);
      if (met < documents.length) narrowed++;
      if (matches.length > 0) matched++;
    }
    expect(narrowed, 'many filters must narrow').toBeGreaterThan(50);
    expect(matched, 'many filters must match something').toBeGreaterThan(12);
  });

  it.each([1, 2, 3])('leave nothing else for plain filters, seed %i', (seed) => {
    const random = seededRandom(seed);
    const pick = (items: readonly string[]) => items[random.below(items.length)] as string;
    for (let round = 0; round < 200; round++) {
      const constant = () => JSON.stringify(SCALARS[random.below(14)]);
      const documents = Array.from({ length: 20 }, () => randomObject(random, 1)).filter(
        (each) => !JSON.stringify(each).includes('xxx'),
      );
      const filter = pick([
        `c.a = ${constant()}`,
        `c.a ${pick(['<', '<=', '>', '>='])} ${constant()}`,
        `c.a BETWEEN ${constant()} AND ${constant()}`,
        `c.a IN (${constant()}, ${constant()})`,
        `c.a > ${constant()} AND c.a < ${constant()}`,
        `c.a = ${constant()} AND c.b >= ${constant()}`,
        `c.a = ${constant()} OR c.b = ${constant()}`,
        `NOT (c.a > ${constant()})`,
        `CONTAINS(c.a, "a", true)`,
        `STARTSWITH(c.a, "a")`,
        `c.a LIKE "_b%"`,
        `IS_NUMBER(c.a)`,
        `ARRAY_CONTAINS(c.a, ${constant()})`,
      ]);
      const sql = `SELECT * FROM c WHERE ${filter}`;
      const { matches, strays, met } = missed(sql, documents);
      const message = `seed ${seed}, round ${round}: ${sql}`;
      expect([strays.length, met], message).toEqual([0, matches.length]);
    }
  });
});
