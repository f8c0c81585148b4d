// Goal: no query makes more than its budget allows, and no value is too deep for what walks through it. Method: the queries
// that once ended the process or blocked all requests, as executable queries, as plans and as constants.
import { describe, expect, test } from 'vitest';
import {
  DomainError,
  EvaluationBudget,
  EvaluationTooLong,
  FIXED_EVALUATION,
} from '../../../base/index.ts';
import type { Value } from '../../../value/index.ts';
import { compileQuery } from './compile/compile.ts';
import { constantFinder } from './compile/constants.ts';
import { parseExpression, parseQuery } from './language/parser.ts';
import { queryPlan } from './plan/query-plan.ts';
import { executableQuery } from './run/executable.ts';
import { itemOf, rowValue } from './run/executable-suite.ts';
import { keptSize } from './run/value-size.ts';

/** The clock plays no part here: what is refused is refused by its size. */
const LIMITS = {
  ...FIXED_EVALUATION,
  ms: Number.POSITIVE_INFINITY,
  totalMs: Number.POSITIVE_INFINITY,
  stepsAtOnce: Number.POSITIVE_INFINITY,
};

const LARGE = `REPLACE(REPLICATE('a',10000),'a',CONCAT(REPLICATE('b',10000),REPLICATE('b',4000)))`;

function rowsOf(text: string, document: Value = {}): Value[] {
  const { shape } = executableQuery(parseQuery(text), { startMs: 0, limits: LIMITS });
  if (shape.kind === 'streaming') return shape.rowsOf(itemOf(document)).map(rowValue);
  const fold = shape.start();
  fold.add(itemOf(document));
  return [...fold.finish()];
}

describe('a text of 140 MB', () => {
  test.each([
    `SELECT VALUE LENGTH(REVERSE(${LARGE})) FROM c`,
    `SELECT VALUE ${LARGE} FROM c`,
    `SELECT VALUE 1 FROM c WHERE LENGTH(${LARGE}) > 1`,
    `SELECT VALUE COUNT(1) FROM c WHERE LENGTH(${LARGE}) > 1`,
    `SELECT VALUE MAX(${LARGE}) FROM c`,
  ])('%s is refused with the first row', (text) => {
    expect(() => rowsOf(text)).toThrow(DomainError);
    expect(() => rowsOf(text)).toThrow('size of the values');
  });

  test('is not computed for a plan, nor as a constant', () => {
    const text = `SELECT VALUE LENGTH(REVERSE(${LARGE})) FROM c WHERE c.pk = ${LARGE}`;
    const partitionKey = { paths: ['/pk'], kind: 'Hash', version: 2 } as const;
    const { queryInfo, queryRanges } = queryPlan(text, partitionKey);
    expect(queryInfo?.hasSelectValue).toBe(true);
    expect(queryRanges).toMatchObject([{ min: '', max: 'FF' }]);
    expect(constantFinder([])(parseExpression(LARGE))).toBeUndefined();
    expect(compileQuery(parseQuery(`SELECT ${LARGE}`)).slotCount).toBe(1);
  });

  test('a small constant is still one', () => {
    expect(constantFinder([])(parseExpression("LENGTH(REPLICATE('a', 100))"))).toEqual({
      value: 100,
    });
  });
});

const LIST = Array.from({ length: 10_000 }, (_, at) => at);
const TEXT = 'word '.repeat(100_000);

/** An expression nested in itself a number of times. */
function doubled(times: number, of: string, make: (part: string) => string): string {
  let joins = '';
  for (let at = 0; at < times; at++)
    joins += ` JOIN (SELECT VALUE ${make(at === 0 ? of : `z${at}`)}) AS z${at + 1}`;
  return `SELECT VALUE z${times} FROM c${joins}`;
}

test.each([
  ['ARRAY_CONCAT', doubled(10, 'c.list', (z) => `ARRAY_CONCAT(${z}, ${z})`)],
  ['SetUnion', doubled(10, 'c.list', (z) => `SetUnion(${z}, ARRAY_CONCAT(${z}, ${z}))`)],
  ['CONCAT', doubled(10, 'c.text', (z) => `CONCAT(${z}, ${z})`)],
  ['||', doubled(10, 'c.text', (z) => `${z} || ${z}`)],
  ['StringSplit', 'SELECT VALUE StringSplit(CONCAT(c.text, c.text), "w") FROM c'],
  ['StringJoin', 'SELECT VALUE StringJoin(StringSplit(c.text, " "), c.text) FROM c'],
  ['REPLACE', 'SELECT VALUE REPLACE(c.text, "w", c.text) FROM c'],
  ['UPPER', 'SELECT VALUE UPPER(REPLACE(c.text, "w", REPLICATE("w", 200))) FROM c'],
  ['ToString', `${doubled(10, '[c.list]', (z) => `[${z}, ${z}]`).replace('z10', 'ToString(z10)')}`],
  ['HASH', `${doubled(10, '[c.list]', (z) => `[${z}, ${z}]`).replace('z10', 'HASH(z10)')}`],
  [
    'DISTINCT',
    `${doubled(10, '[c.list]', (z) => `[${z}, ${z}]`).replace('VALUE', 'DISTINCT VALUE')}`,
  ],
  [
    'an array',
    'SELECT VALUE ARRAY(SELECT VALUE {a: a, b: b} FROM a IN c.list JOIN b IN c.list) FROM c',
  ],
])('%s is refused where it would be too large', (_, text) => {
  expect(() => rowsOf(text, { list: LIST, text: TEXT })).toThrow('size of the values');
});

test.each([
  [
    'REVERSE',
    'SELECT VALUE REVERSE(c.t) FROM c',
    { t: `a${'\u{1f600}'.repeat(3000)}\ud800z` },
    `z\ud800${'\u{1f600}'.repeat(3000)}a`,
  ],
  [
    'ARRAY_CONTAINS',
    'SELECT VALUE ARRAY_CONTAINS(c.l, "9999") FROM c',
    { l: LIST.map(String) },
    true,
  ],
  [
    'FullTextContains',
    'SELECT VALUE FullTextContains(c.t, "word word") FROM c',
    { t: TEXT.slice(0, 1000) },
    true,
  ],
])('%s gives what it gave', (_, text, document, expected) => {
  expect(rowsOf(text, document)).toEqual([expected]);
});

describe('a value 10,000 deep', () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  const object = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  test.each([
    'SELECT VALUE StringToArray(c.t) = StringToArray(c.t) FROM c',
    'SELECT VALUE StringToObject(c.o) != StringToObject(c.o) FROM c',
    'SELECT DISTINCT VALUE StringToArray(c.t) FROM c',
    'SELECT StringToArray(c.t) AS k, COUNT(1) FROM c GROUP BY StringToArray(c.t)',
    'SELECT VALUE ToString(StringToArray(c.t)) FROM c',
    `SELECT VALUE StringToArray('${deep}') = [] FROM c`,
  ])('%s is refused', (text) => {
    expect(() => rowsOf(text, { t: deep, o: object })).toThrow('nested too deeply');
  });
});

test('a value that a row refers to many times counts each time', () => {
  const part = 'x'.repeat(1000);
  expect(keptSize([part, part, part])).toBeGreaterThan(6000);
});

test('rows that can be computed in a thread ask to be moved', () => {
  const moverOf = () => ({ isDue: false, begin: () => expect.unreachable('nothing is run') });
  const executable = executableQuery(parseQuery(`SELECT VALUE LENGTH(${LARGE}) FROM c`), {
    startMs: 0,
    moverOf,
  });
  expect(executable.mover).toBeDefined();
  expect(
    () => executable.shape.kind === 'streaming' && executable.shape.rowsOf(itemOf({})),
  ).toThrow(EvaluationTooLong);
});

test('a pattern that backtracks without end is not started in the main thread', () => {
  const query = compileQuery(parseQuery("SELECT VALUE REGEXMATCH(c.t, '^(A+)+$', 'i') FROM c"));
  const budget = new EvaluationBudget({ ...FIXED_EVALUATION, regexTimeoutMs: 0 });
  const row: Value[] = new Array(query.slotCount).fill({ t: `${'a'.repeat(60)}b` });
  expect(() => budget.run(() => query.block.project(row))).toThrow('exceeded the time');
});
