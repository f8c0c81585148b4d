// Goal: a query gives the same rows in another thread as here. Method: queries of every shape, run both ways over the same
// items, with refusals and failures among them.
import { describe, expect, test } from 'vitest';
import { type Bytes, textToBytes } from '../../../base/index.ts';
import {
  type Blocking,
  looseItem,
  type PendingItem,
  type Streaming,
} from '../../../query/index.ts';
import type { Value } from '../../../value/index.ts';
import { executableQuery, parseQuery, type QueryParameter, SqlError } from '../sql/index.ts';
import { itemOf, rowValue } from '../sql/run/executable-suite.ts';
import { moverOf } from './moved-query.ts';

const DOCUMENTS: readonly Value[] = Array.from({ length: 30 }, (_, n) => ({
  id: `${n}`,
  n,
  g: n % 3,
  text: `word${n} other`,
  list: [n, -n, 'x'],
  ...(n % 2 === 0 ? { even: true } : {}),
}));

const ITEMS: readonly PendingItem[] = DOCUMENTS.map((document) =>
  itemWith(textToBytes(JSON.stringify(document))),
);

function itemWith(body: Bytes, rowsGiven = 0): PendingItem {
  const value = () => expect.unreachable('the thread decodes');
  return looseItem({ value, body, rowsGiven });
}

function moved(text: string, parameters: readonly QueryParameter[] = []) {
  const query = parseQuery(text);
  const options = { parameters, startMs: 1_700_000_000_000 };
  const { shape } = executableQuery(query, options);
  const sent = () => ({
    query: text,
    ...options,
    nowMs: 1_700_000_000_123,
    environment: {
      geospatial: 'geography' as const,
      vectorPolicy: new Map(),
      textLanguages: new Map(),
    },
    computed: new Map(),
  });
  return { shape, inThread: moverOf(sent, query).begin(shape, false) };
}

async function movedRows(shape: Streaming, items = ITEMS, mayStop = false) {
  return (await shape.rowsOfMany?.(items, mayStop)) ?? expect.unreachable('rows come later');
}

async function movedResults(shape: Blocking, items = ITEMS): Promise<Value[]> {
  const { async: asyncFold } = shape.start();
  for (const item of items) if (!(await asyncFold?.addMany([item]))) break;
  return ((await asyncFold?.finish()) ?? []).map(({ text = '' }) => JSON.parse(text) as Value);
}

describe('the same rows', () => {
  test.each([
    'SELECT * FROM c',
    'SELECT c.id, c.even FROM c WHERE c.n > 3',
    'SELECT VALUE x FROM c JOIN x IN c.list WHERE IS_NUMBER(x)',
    'SELECT c.id FROM c ORDER BY c.n DESC',
    'SELECT c.id FROM c ORDER BY c.even, c.n',
    'SELECT VALUE c.n FROM c OFFSET 3 LIMIT 4',
    'SELECT VALUE {n: c.n + @p, at: GetCurrentTimestampStatic()} FROM c',
  ])('%s', async (text) => {
    const { shape, inThread } = moved(text, [{ name: '@p', value: 7 }]);
    if (shape.kind !== 'streaming' || inThread.shape.kind !== 'streaming')
      return expect.unreachable('it streams');
    const { order, skip, take } = shape;
    expect(inThread.shape).toMatchObject({ order, skip, take });
    const rows = await movedRows(inThread.shape);
    for (const [at, list] of rows.entries()) {
      const expected = shape.rowsOf(itemOf(DOCUMENTS[at]));
      expect(list.map(({ keys }) => keys)).toEqual(expected.map(({ keys }) => keys));
      expect(
        list.map(({ text: printed, item }) => (item === ITEMS[at] ? item?.text() : printed)),
      ).toEqual(expected.map((row) => JSON.stringify(rowValue(row))));
    }
    expect(rows.length).toBe(DOCUMENTS.length);
    inThread.release();
  });

  test.each([
    'SELECT VALUE COUNT(1) FROM c',
    'SELECT c.g, SUM(c.n) AS s, MAX(c.text) AS m FROM c GROUP BY c.g',
    'SELECT DISTINCT VALUE c.even FROM c',
    'SELECT DISTINCT c.g FROM c ORDER BY c.id',
    "SELECT TOP 3 c.id FROM c ORDER BY RANK FullTextScore(c.text, 'word7')",
    'SELECT VALUE 1',
    'SELECT TOP 0 VALUE COUNT(1) FROM c',
  ])('%s', async (text) => {
    const { shape, inThread } = moved(text);
    if (shape.kind !== 'blocking' || inThread.shape.kind !== 'blocking')
      return expect.unreachable('it folds');
    const fold = shape.start();
    DOCUMENTS.every((document) => fold.add(itemOf(document)));
    expect(await movedResults(inThread.shape)).toEqual(fold.finish());
    inThread.release();
  });

  test('many results come in parts', async () => {
    const { inThread } = moved('SELECT a.v, COUNT(1) AS n FROM c JOIN a IN c.list GROUP BY a.v');
    const list = Array.from({ length: 12_000 }, (_, v) => ({ v }));
    const body = textToBytes(JSON.stringify({ list }));
    const item = itemWith(body);
    if (inThread.shape.kind !== 'blocking') return expect.unreachable('it folds');
    const results = await movedResults(inThread.shape, [item]);
    expect(results.length).toBe(12_000);
    expect(results.at(-1)).toEqual({ v: 11_999, n: 1 });
    inThread.release();
  });
});

describe('rows of more than a page', () => {
  const body = textToBytes(
    JSON.stringify({ text: 'y'.repeat(1_500_000), list: Array.from({ length: 10 }, (_, n) => n) }),
  );

  test('are not all printed, and the page continues after the rows sent', async () => {
    const { inThread } = moved('SELECT a, c.text FROM c JOIN a IN c.list');
    if (inThread.shape.kind !== 'streaming') return expect.unreachable('it streams');
    const printed = async (rowsGiven: number) => {
      const item = itemWith(body, rowsGiven);
      const lists = await movedRows(inThread.shape as Streaming, [item, item], true);
      expect(lists.length).toBe(1);
      return lists[0]?.map(({ isLeft, text }) => (isLeft ? -1 : JSON.parse(text ?? '').a));
    };
    expect(await printed(0)).toEqual([0, 1, 2, -1, -1, -1, -1, -1, -1, -1]);
    expect(await printed(5)).toEqual([-1, -1, -1, -1, -1, 5, 6, 7, -1, -1]);
    inThread.release();
  });

  test('a row larger than a page is refused', async () => {
    const { inThread } = moved('SELECT VALUE [c.text, c.text, c.text] FROM c');
    if (inThread.shape.kind !== 'streaming') return expect.unreachable('it streams');
    const item = itemWith(body);
    await expect(movedRows(inThread.shape, [item])).rejects.toMatchObject({ code: 'tooLarge' });
    inThread.release();
  });
});

describe('errors in the thread', () => {
  test.each([
    ['SELECT VALUE (SELECT VALUE x FROM x IN c.list) FROM c', SqlError],
    [
      `SELECT VALUE REPLACE(REPLICATE('a',10000),'a',REPLICATE(c.id,10000)) FROM c`,
      'size of the values',
    ],
    ["SELECT VALUE REGEXMATCH(CONCAT(REPLICATE('a', 60), 'b'), '^(A+)+$', 'i') FROM c", 'too long'],
  ])('%s', async (text, expected) => {
    const { inThread } = moved(text);
    if (inThread.shape.kind !== 'streaming') return expect.unreachable('it streams');
    await expect(movedRows(inThread.shape)).rejects.toThrow(expected);
    inThread.release();
  });

  test('do not affect the next query', async () => {
    const { inThread } = moved('SELECT VALUE COUNT(1) FROM c');
    if (inThread.shape.kind !== 'blocking') return expect.unreachable('it folds');
    expect(await movedResults(inThread.shape)).toEqual([30]);
    inThread.release();
  });
});
