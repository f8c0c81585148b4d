// Goal: asynchronous functions give the same rows as synchronous ones. Method: both, side by side.
import { expect, test } from 'vitest';
import type { Value } from '../../../../value/index.ts';
import { compileQuery, executableQuery, parseQuery, runQuery } from '../index.ts';
import { itemOf, rowValue } from './executable-suite.ts';
import { type CallResult, UserFunctionCalls } from './user-functions.ts';

const FUNCTIONS: Readonly<Record<string, (...args: Value[]) => Value>> = {
  twice: (x) => (x as number) * 2,
  isOdd: (x) => (x as number) % 2 === 1,
  kind: (x) => (x === undefined ? 'none' : typeof x),
  nothing: () => undefined,
  fail: () => {
    throw new TypeError('bad');
  },
};

const DOCUMENTS: readonly Value[] = [1, 2, 3, 4, 5].map((n) => ({ id: `${n}`, n, list: [n, -n] }));

const ITEMS = DOCUMENTS.map(itemOf);

interface AsyncRun {
  readonly rows: readonly Value[];
  /** The count of calls in each batch. */
  readonly batches: readonly number[];
}

async function runAsync(text: string): Promise<AsyncRun> {
  const batches: number[] = [];
  const calls = new UserFunctionCalls(async (texts) => {
    batches.push(texts.length);
    return texts.map((call): CallResult => {
      const [name, missing, ...args] = JSON.parse(call);
      const given = args.map((arg: Value, at: number) => (missing & (1 << at) ? undefined : arg));
      try {
        const value = FUNCTIONS[name]?.(...given);
        return value === undefined ? { kind: 'undefined' } : { kind: 'value', value };
      } catch (error) {
        return { kind: 'error', message: String(error) };
      }
    });
  });
  const findUdf = (name: string) => (FUNCTIONS[name] ? calls.functionOf(name) : undefined);
  const { shape } = executableQuery(parseQuery(text), { startMs: 0, findUdf, calls });
  if (shape.kind === 'streaming') {
    const rows = (await shape.rowsOfMany?.(ITEMS, false)) ?? [];
    return { rows: rows.flat().map(rowValue), batches };
  }
  const fold = shape.start();
  await fold.async?.addMany(ITEMS);
  const rows = (await fold.async?.finish()) ?? [];
  return { rows: rows.map(rowValue), batches };
}

test.each([
  ['SELECT', 'SELECT VALUE udf.twice(c.n) FROM c', 1],
  ['WHERE', 'SELECT VALUE c.n FROM c WHERE udf.isOdd(c.n)', 1],
  ['both', 'SELECT VALUE udf.twice(c.n) FROM c WHERE udf.isOdd(c.n)', 2],
  ['within one another', 'SELECT VALUE udf.twice(udf.twice(udf.twice(c.n))) FROM c', 3],
  ['undefined in', 'SELECT VALUE udf.kind(c.absent) FROM c', 1],
  ['undefined out', 'SELECT VALUE udf.nothing(c.n) FROM c', 1],
  ['JOIN', 'SELECT VALUE udf.twice(x) FROM c JOIN x IN c.list WHERE udf.isOdd(x)', 2],
  ['a subquery', 'SELECT VALUE ARRAY(SELECT VALUE udf.twice(x) FROM x IN c.list) FROM c', 1],
  ['GROUP BY', 'SELECT udf.isOdd(c.n) AS k, COUNT(1) AS n FROM c GROUP BY udf.isOdd(c.n)', 1],
  ['an aggregate', 'SELECT VALUE SUM(udf.twice(c.n)) FROM c WHERE udf.isOdd(c.n)', undefined],
  ['over an aggregate', 'SELECT VALUE udf.twice(SUM(c.n)) FROM c', undefined],
  ['DISTINCT', 'SELECT DISTINCT VALUE udf.isOdd(c.n) FROM c', 1],
  ['no FROM', 'SELECT VALUE udf.twice(21)', undefined],
  ['not reached', 'SELECT VALUE c.n > 0 ? c.n : udf.fail(c.n) FROM c', 0],
  [
    'not reached behind another',
    'SELECT VALUE udf.isOdd(1) ? c.n : udf.fail(c.n) FROM c',
    undefined,
  ],
])('functions in a query: %s', async (_, text, batches) => {
  const atOnce = compileQuery(parseQuery(text), { findUdf: (name) => FUNCTIONS[name] });
  const result = await runAsync(text);
  expect(result.rows).toEqual(runQuery(atOnce, DOCUMENTS));
  if (batches !== undefined) expect(result.batches).toHaveLength(batches);
});

test('equal calls of many rows are made once', async () => {
  const { batches } = await runAsync('SELECT VALUE udf.twice(1) + udf.twice(1) FROM c');
  expect(batches).toEqual([1]);
});

test('an error has the message of the function', async () => {
  await expect(runAsync('SELECT VALUE udf.fail(c.n) FROM c')).rejects.toThrow(
    "user defined function 'fail'. Exception = TypeError: bad",
  );
});

test('a function over an aggregated subquery in FROM is refused', async () => {
  const text = 'SELECT VALUE udf.twice(x) FROM (SELECT VALUE SUM(c.n) FROM c) AS x';
  await expect(runAsync(text)).rejects.toThrow('cannot be used on the results of a subquery');
});
