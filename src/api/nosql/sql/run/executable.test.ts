// Goal: executable queries stream or block within bounds, with the results of the reference executor. Method:
// a table of shapes; random queries over random documents by seed, windows against slices; counts of what is kept.
import { describe, expect, it } from 'vitest';
import { DomainError, type Random, seededRandom } from '../../../../base/index.ts';
import { type ExecutableQuery, type FoundItem, looseItem } from '../../../../query/index.ts';
import { printPath, type Value } from '../../../../value/index.ts';
import { compileQuery } from '../compile/compile.ts';
import { SqlError } from '../errors.ts';
import { parseQuery } from '../language/parser.ts';
import { type QueryParameter, runQuery } from './evaluate.ts';
import { type ExecutableOptions, executableQuery } from './executable.ts';
import { itemOf, runExecutable } from './executable-suite.ts';

function executable(text: string, options: Partial<ExecutableOptions> = {}): ExecutableQuery {
  return executableQuery(parseQuery(text), { startMs: 0, ...options });
}

/** `streams`, the order with its paths, and the window; or `folds`. */
function shapeText(text: string): string {
  const { shape } = executable(text);
  if (shape.kind === 'blocking') return 'folds';
  const { order, skip, take } = shape;
  const parts = order?.parts.map(
    ({ path, isDescending }) => `${path ? printPath(path) : '?'}${isDescending ? ' desc' : ''}`,
  );
  return [
    'streams',
    ...(parts ? [`by ${parts.join(', ')}`] : []),
    ...(skip > 0 || take < Number.POSITIVE_INFINITY ? [`${skip}+${take}`] : []),
  ].join(' ');
}

describe('shapes', () => {
  it.each<readonly [string, string]>([
    ['SELECT * FROM c', 'streams'],
    ['SELECT c.id, t FROM c JOIN t IN c.tags WHERE t = 1', 'streams'],
    ['SELECT VALUE k FROM k IN c.kids', 'streams'],
    ['SELECT VALUE k FROM c.kids k', 'streams'],
    ['SELECT VALUE k FROM (SELECT VALUE c.a FROM c WHERE c.b = 1) AS k', 'streams'],
    ['SELECT VALUE (SELECT VALUE COUNT(1) FROM t IN c.tags) FROM c', 'streams'],
    ['SELECT TOP 3 * FROM c', 'streams 0+3'],
    ['SELECT * FROM c OFFSET 2 LIMIT 3', 'streams 2+3'],
    ['SELECT * FROM c ORDER BY c.a', 'streams by /a'],
    ['SELECT TOP 1 * FROM c ORDER BY c.a["b c"] DESC', 'streams by /a/"b c" desc 0+1'],
    ['SELECT * FROM c ORDER BY c.a DESC, c.b', 'streams by /a desc, /b'],
    ['SELECT * FROM c ORDER BY c.a[0]', 'streams by ?'],
    ['SELECT * FROM c ORDER BY c', 'streams by ?'],
    ['SELECT VALUE k FROM c.kids k ORDER BY k.a', 'streams by /kids/a'],
    ['SELECT VALUE k FROM k IN c.kids ORDER BY k.a', 'streams by ?'],
    ['SELECT VALUE t FROM c JOIN t IN c.tags ORDER BY t', 'streams by ?'],
    ['SELECT VALUE t FROM c JOIN t IN c.tags ORDER BY c.a', 'streams by /a'],
    ['SELECT 5', 'folds'],
    ['SELECT VALUE r FROM (SELECT VALUE 5) AS r', 'folds'],
    ['SELECT VALUE COUNT(1) FROM c', 'folds'],
    ['SELECT c.a FROM c GROUP BY c.a', 'folds'],
    ['SELECT DISTINCT c.a FROM c', 'folds'],
    ['SELECT DISTINCT c.a FROM c ORDER BY c.a', 'folds'],
    ['SELECT VALUE r FROM (SELECT DISTINCT VALUE c.a FROM c) AS r ORDER BY r', 'folds'],
    ['SELECT TOP 2 c.a FROM c ORDER BY VectorDistance(c.v, [1, 2])', 'folds'],
    ['SELECT TOP 2 c.a FROM c ORDER BY RANK FullTextScore(c.a, "x")', 'folds'],
  ])('%s', (text, expected) => {
    expect(shapeText(text)).toBe(expected);
  });

  it('asks for no items where none can matter', () => {
    for (const text of ['SELECT 5', 'SELECT TOP 0 * FROM c', 'SELECT * FROM c WHERE false'])
      expect(executable(text).condition.kind).toBe('nothing');
  });
});

function foldOf(text: string, options: Partial<ExecutableOptions> = {}) {
  const { shape } = executable(text, options);
  if (shape.kind !== 'blocking') throw new Error('streams');
  return shape.start();
}

describe('folds', () => {
  it('need no item for a query without FROM', () => {
    const fold = foldOf('SELECT VALUE 5');
    expect(fold.add(itemOf({}))).toBe(false);
    expect(fold.finish()).toEqual([5]);
  });

  it('report when they need no more items', () => {
    const fold = foldOf('SELECT DISTINCT TOP 2 VALUE c.a FROM c');
    expect([1, 1, 2].map((a) => fold.add(itemOf({ a })))).toEqual([true, true, false]);
    expect(fold.finish()).toEqual([1, 2]);
  });

  it('make no more rows than are wanted', () => {
    const start = (text: string, rowsMax: number) => {
      const { shape } = executable(text);
      if (shape.kind !== 'blocking') throw new Error('streams');
      return shape.start(rowsMax);
    };
    const distinct = start('SELECT DISTINCT VALUE c.a FROM c', 2);
    expect([1, 1, 2].map((a) => distinct.add(itemOf({ a })))).toEqual([true, true, false]);
    expect(distinct.finish()).toEqual([1, 2]);
    const groups = start('SELECT VALUE c.a FROM c GROUP BY c.a', 2);
    expect([3, 1, 2, 1].map((a) => groups.add(itemOf({ a })))).toEqual([true, true, true, true]);
    expect(groups.finish()).toEqual([1, 2]);
  });

  it('do not share state', () => {
    const { shape } = executable('SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a');
    if (shape.kind !== 'blocking') throw new Error('streams');
    const [one, two] = [shape.start(), shape.start()];
    one.add(itemOf({ a: 1 }));
    two.add(itemOf({ a: 2 }));
    one.add(itemOf({ a: 1 }));
    expect([one.finish(), two.finish()]).toEqual([[{ a: 1, n: 2 }], [{ a: 2, n: 1 }]]);
  });

  const tooMany: readonly (readonly [string, boolean])[] = [
    ['SELECT DISTINCT VALUE c.a FROM c', true],
    ['SELECT c.a FROM c GROUP BY c.a', true],
    ['SELECT VALUE MAKELIST(c.a) FROM c', true],
    ['SELECT VALUE c.a FROM c ORDER BY VectorDistance([c.a], [1])', true],
    ['SELECT TOP 9 VALUE c.a FROM c ORDER BY VectorDistance([c.a], [1])', false],
    ['SELECT VALUE COUNT(1) FROM c', false],
    ['SELECT c.b, COUNT(1) FROM c GROUP BY c.b', false],
    ['SELECT DISTINCT VALUE c.b FROM c', false],
  ];
  it.each(tooMany)('%s refuses to keep too much: %s', (text, isRefused) => {
    const run = () => {
      const fold = foldOf(text, { rowsMax: 3000 });
      for (let a = 0; a < 5000; a++) if (!fold.add(itemOf({ a, b: a % 3 }))) break;
      fold.finish();
    };
    if (!isRefused) return run();
    expect(run).toThrow(DomainError);
    expect(run).toThrow('Query exceeded');
  });
});

describe('errors', () => {
  it.each<readonly [string, readonly QueryParameter[]]>([
    ['SELECT TOP @n * FROM c', [{ name: '@n', value: -1 }]],
    ['SELECT * FROM c OFFSET @n LIMIT 1', [{ name: '@n', value: 'x' }]],
    ['SELECT * FROM c OFFSET 1 LIMIT @n', [{ name: '@n', value: 1.5 }]],
    ['SELECT * FROM c WHERE c.a = @n', []],
    ['SELECT * FROM c WHERE d.a = 1', []],
  ])('%s', (text, parameters) => {
    expect(() => executable(text, { parameters })).toThrow(SqlError);
  });

  it('a JOIN of one item that never ends', () => {
    const { shape } = executable(
      'SELECT VALUE 1 FROM c JOIN a IN c.l JOIN b IN c.l JOIN d IN c.l WHERE false = c.x',
    );
    const list = Array.from({ length: 1000 }, (_, at) => at);
    expect(() => shape.kind === 'streaming' && shape.rowsOf(itemOf({ l: list }))).toThrow(
      'combinations',
    );
  });
});

const VALUES: readonly Value[] = [null, true, 0, 1, 2, 'a', 'b', [1], { x: 1 }];

function randomDocument(random: Random, id: number): Value {
  const names = ['a', 'b', 'd'].filter(() => random.below(5) > 0);
  const entries = names.map((name) => [name, VALUES[random.below(VALUES.length)]]);
  const list = Array.from({ length: random.below(4) }, () => VALUES[random.below(6)]);
  return { id, l: list, ...Object.fromEntries(entries) } as Value;
}

/** A query, and the same without its window. */
function randomQuery(random: Random): { readonly text: string; readonly window: string } {
  const pick = (items: readonly string[]) => items[random.below(items.length)] as string;
  const from = pick([
    'c',
    'c JOIN t IN c.l',
    'c JOIN (SELECT VALUE x FROM x IN c.l WHERE x > 0) AS t',
  ]);
  const alias = from === 'c' ? 'c.a' : 't';
  const where = pick(['', ` WHERE ${alias} > 0`, ' WHERE c.b = 1 OR c.d = "a"', ' WHERE NOT c.d']);
  const window = pick(['', ' OFFSET 0 LIMIT 2', ' OFFSET 3 LIMIT 4', ' OFFSET 1 LIMIT 0']);
  const order = pick(['', ' ORDER BY c.a', ' ORDER BY c.a DESC, c.b', ` ORDER BY ${alias} DESC`]);
  const select = pick(['VALUE c.id', 'c.id, c.a', `DISTINCT VALUE ${alias}`, `DISTINCT c.b, c.d`]);
  if (random.below(4) === 0) {
    const groupOrder = pick(['', ' ORDER BY c.b']);
    const text = `SELECT c.b, COUNT(1) AS n, SUM(${alias}) AS s, MAKELIST(c.id) AS ids FROM ${from}${where} GROUP BY c.b${groupOrder}`;
    return { text, window };
  }
  return { text: `SELECT ${select} FROM ${from}${where}${order}`, window };
}

describe('random queries', () => {
  it.each([1, 2, 3, 4])('seed %i', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 100; round++) {
      const documents = Array.from({ length: random.below(30) }, (_, id) =>
        randomDocument(random, id),
      );
      const { text, window } = randomQuery(random);
      const message = `seed ${seed}, round ${round}: ${text}${window}`;
      const all = runQuery(compileQuery(parseQuery(text)), documents);
      const [skip, take] = (window.match(/\d+/g) ?? ['0', 'Infinity']).map(Number);
      const expected = all.slice(skip, (skip ?? 0) + (take ?? 0));
      const query = parseQuery(text + window);
      expect(runQuery(compileQuery(query), documents), message).toEqual(expected);
      expect(runExecutable(executableQuery(query, { startMs: 0 }), documents), message).toEqual(
        expected,
      );
    }
  });

  it('keep the first of many in order', () => {
    const random = seededRandom(5);
    const documents = Array.from({ length: 20_000 }, (_, id) => ({ id, a: random.below(3000) }));
    const text =
      'SELECT VALUE c.id FROM c ORDER BY VectorDistance([c.a], [0], true, {"distanceFunction": "euclidean"})';
    const expected = documents.toSorted((x, y) => x.a - y.a || x.id - y.id).map(({ id }) => id);
    expect(runExecutable(executable(`${text} OFFSET 700 LIMIT 800`), documents)).toEqual(
      expected.slice(700, 1500),
    );
  });
});

describe('items and documents', () => {
  const rowsOf = (text: string, item: FoundItem, options: Partial<ExecutableOptions> = {}) => {
    const { shape } = executable(text, options);
    return shape.kind === 'streaming' ? shape.rowsOf(item) : expect.unreachable('it streams');
  };
  const undecoded = looseItem({ value: () => expect.unreachable('no need to decode') });

  it('SELECT * sends items without decoding them', () => {
    expect(rowsOf('SELECT * FROM c', undecoded)).toEqual([{ item: undecoded, keys: [] }]);
  });

  it('a whole item is sent as it is stored, whatever finds it', () => {
    const item = itemOf({ a: 1, list: [1, 2] });
    const whole = { item, keys: [] };
    expect(rowsOf('SELECT * FROM c WHERE c.a = 1', item)).toEqual([whole]);
    expect(rowsOf('SELECT VALUE c FROM c JOIN x IN c.list', item)).toEqual([whole, whole]);
    expect(rowsOf('SELECT VALUE c.list FROM c', item)).toEqual([{ value: [1, 2], keys: [] }]);
  });

  it('documents that are not the stored body are values', () => {
    const document = { a: 1, b: [2] };
    const options = { documentOf: () => document };
    const value = { value: document, keys: [] };
    expect(rowsOf('SELECT * FROM c', undecoded, options)).toEqual([value]);
    expect(rowsOf('SELECT * FROM c WHERE c.a = 1', undecoded, options)).toEqual([value]);
    const { shape } = executable('SELECT VALUE SUM(c.a) FROM c', options);
    const fold = shape.kind === 'blocking' ? shape.start() : expect.unreachable('it folds');
    fold.add(undecoded);
    expect(fold.finish()).toEqual([1]);
  });
});
