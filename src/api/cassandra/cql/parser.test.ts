// Goal: statements are read as Cassandra reads them, and others are refused with a place. Method: one table.
import { expect, test } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import { CqlError } from '../errors.ts';
import { tokenize } from './lexer.ts';
import { parseStatement } from './parser.ts';

const parsed = (text: string) => parseStatement(text).statement;

test('a select with everything', () => {
  expect(
    parsed(
      `SELECT "A", writetime(v) AS w, count(*) FROM ks.t -- comment
       WHERE a = ? AND b IN (1, 'x') AND (c, d) > (1, 2.5) AND token(a) <= :t AND m CONTAINS KEY 0xff
       ORDER BY c DESC, d PER PARTITION LIMIT 2 LIMIT 10 ALLOW FILTERING;`,
    ),
  ).toEqual({
    kind: 'select',
    isJson: false,
    isDistinct: false,
    selectors: [
      { term: { kind: 'column', name: 'A' }, alias: undefined },
      {
        term: {
          kind: 'call',
          keyspace: undefined,
          name: 'writetime',
          arguments: [{ kind: 'column', name: 'v' }],
        },
        alias: 'w',
      },
      { term: { kind: 'countAll' }, alias: undefined },
    ],
    table: { keyspace: 'ks', name: 't' },
    where: [
      {
        kind: 'column',
        column: 'a',
        operator: '=',
        term: { kind: 'bind', index: 0, name: undefined },
      },
      {
        kind: 'in',
        column: 'b',
        terms: [
          { kind: 'constant', constant: 'integer', text: '1' },
          { kind: 'constant', constant: 'string', text: 'x' },
        ],
      },
      {
        kind: 'columns',
        columns: ['c', 'd'],
        operator: '>',
        term: {
          kind: 'tuple',
          elements: [
            { kind: 'constant', constant: 'integer', text: '1' },
            { kind: 'constant', constant: 'float', text: '2.5' },
          ],
        },
      },
      {
        kind: 'token',
        columns: ['a'],
        operator: '<=',
        term: { kind: 'bind', index: 1, name: 't' },
      },
      {
        kind: 'column',
        column: 'm',
        operator: 'CONTAINS KEY',
        term: { kind: 'constant', constant: 'blob', text: '0xff' },
      },
    ],
    groupBy: [],
    orderBy: [
      { column: 'c', isDescending: true },
      { column: 'd', isDescending: false },
    ],
    limit: { kind: 'constant', constant: 'integer', text: '10' },
    perPartitionLimit: { kind: 'constant', constant: 'integer', text: '2' },
    allowsFiltering: true,
  });
});

test('terms of every kind', () => {
  const statement = parsed(
    "INSERT INTO t (a) VALUES ([1, -2], {'x'}, {'k': null}, {f: true}, 123e4567-e89b-42d3-a456-426614174000, 12h30m, now(), (int) ?, $$it's$$, NaN) IF NOT EXISTS USING TTL 5 AND TIMESTAMP ?",
  );
  expect(statement).toMatchObject({
    kind: 'insert',
    conditions: 'notExists',
    using: { ttl: { text: '5' }, timestamp: { kind: 'bind', index: 1 } },
    source: {
      terms: [
        { kind: 'list', elements: [{ text: '1' }, { text: '-2' }] },
        { kind: 'set', elements: [{ text: 'x' }] },
        { kind: 'map', entries: [[{ text: 'k' }, { kind: 'null' }]] },
        { kind: 'user', fields: [['f', { constant: 'boolean', text: 'true' }]] },
        { constant: 'uuid', text: '123e4567-e89b-42d3-a456-426614174000' },
        { constant: 'duration', text: '12h30m' },
        { kind: 'call', name: 'now', arguments: [] },
        { kind: 'hint', type: 'int', term: { kind: 'bind', index: 0 } },
        { constant: 'string', text: "it's" },
        { constant: 'float', text: 'NaN' },
      ],
    },
  });
});

test.each([
  [
    'SELECT json FROM t',
    { selectors: [{ term: { kind: 'column', name: 'json' } }], isJson: false },
  ],
  ['SELECT JSON * FROM t', { selectors: 'all', isJson: true }],
  ['SELECT DISTINCT a FROM t', { isDistinct: true }],
  [
    'update t set c = c + 1, l = [1] + l, m[2] = 3 where a = 1 if exists',
    {
      assignments: [
        { kind: 'add', column: 'c', isPrepended: false },
        { kind: 'add', column: 'l', isPrepended: true },
        { kind: 'element', column: 'm' },
      ],
      conditions: 'exists',
    },
  ],
  [
    'DELETE a, m[1] FROM t USING TIMESTAMP 1 WHERE k = 1 IF a IN (1, 2) AND b != null',
    {
      targets: [{ column: 'a' }, { column: 'm', element: { text: '1' } }],
      conditions: [
        { kind: 'in', column: 'a' },
        { kind: 'column', operator: '!=', term: { kind: 'null' } },
      ],
    },
  ],
  [
    'BEGIN UNLOGGED BATCH INSERT INTO t (a) VALUES (1); DELETE FROM t WHERE a = 2 APPLY BATCH',
    {
      type: 'unlogged',
      statements: [{ kind: 'insert' }, { kind: 'delete' }],
    },
  ],
  ['BEGIN BATCH APPLY BATCH', { type: 'logged', statements: [] }],
  [
    "CREATE TABLE IF NOT EXISTS k.t (a int, b map<text, frozen<list<int>>>, s text STATIC, c timeuuid, PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c DESC) AND gc_grace_seconds = 10 AND compaction = {'class': 'X'}",
    {
      ifNotExists: true,
      columns: [
        { name: 'a', type: 'int', isStatic: false },
        { name: 'b', type: 'map<text, frozen<list<int>>>', isStatic: false },
        { name: 's', type: 'text', isStatic: true },
        { name: 'c', type: 'timeuuid', isStatic: false },
      ],
      partitionKey: ['a', 'b'],
      clustering: ['c'],
      clusteringOrder: new Map([['c', 'desc']]),
      options: new Map<string, unknown>([
        ['gc_grace_seconds', '10'],
        ['compaction', new Map([['class', 'X']])],
      ]),
    },
  ],
  ['USE "Big"', { kind: 'use', keyspace: 'Big' }],
  ['TRUNCATE TABLE t', { kind: 'truncate' }],
])('%s', (text, expected) => {
  expect(parsed(text)).toMatchObject(expected);
});

test.each([
  ['', "line 1:0 no viable alternative at input '<EOF>'"],
  ['CHOOSE 1', "line 1:0 no viable alternative at input 'CHOOSE'"],
  ['SELECT a\nFROM', "line 2:4 no viable alternative at input '<EOF>'"],
  ['SELECT a FROM t WHERE', "line 1:21 no viable alternative at input '<EOF>'"],
  ['SELECT a FROM t t', "line 1:16 mismatched input 't' expecting EOF"],
  ["SELECT a FROM t WHERE a = 'x", "line 1:26 no viable alternative at character '''"],
  [`SELECT a FROM t WHERE a = ${'['.repeat(100)}`, 'The statement is nested too deeply'],
])('%s is refused', (text, message) => {
  expect(() => parseStatement(text)).toThrow(message);
});

const SEED = Number(process.env.MESOCOSM_SEED ?? 1);

test(`damaged statements are statements or refused, seed ${SEED}`, () => {
  const random = seededRandom(SEED);
  const texts = [
    "SELECT JSON a, cast(b AS text), writetime(v) FROM k.t WHERE a IN (1, ?) AND (c, d) > (1, 'x') AND token(a) < :t ORDER BY c DESC LIMIT 5 ALLOW FILTERING",
    "INSERT INTO k.t (a, b) VALUES ([1, -2], {'x': (1, 2)}) IF NOT EXISTS USING TTL 5 AND TIMESTAMP 7",
    "UPDATE k.t USING TTL ? SET a = a + {1}, l = [1] + l, m['x'] = 1.5e3 WHERE a = 1 AND b = 0xff IF c IN (1, 2) AND d != null",
    'DELETE a, m[1] FROM k.t WHERE a = 12h30m IF EXISTS',
    "CREATE TABLE IF NOT EXISTS k.t (a int, b map<text, frozen<list<int>>> STATIC, PRIMARY KEY ((a), b)) WITH CLUSTERING ORDER BY (b DESC) AND x = {'y': 'z'}",
    'BEGIN UNLOGGED BATCH USING TIMESTAMP 1 INSERT INTO t (a) VALUES (1); APPLY BATCH',
  ];
  const pieces = texts.flatMap((text) =>
    tokenize(text).map(({ from, end }) => text.slice(from, end)),
  );
  for (let round = 0; round < 5000; round++) {
    const text = texts[random.below(texts.length)] as string;
    const tokens = tokenize(text).map(({ from, end }) => text.slice(from, end));
    for (let damage = 1 + random.below(3); damage > 0; damage--) {
      const at = random.below(tokens.length);
      const other = pieces[random.below(pieces.length)] as string;
      if (random.below(3) === 0) tokens.splice(at, 1);
      else if (random.below(2) === 0) tokens.splice(at, 0, other);
      else tokens[at] = other.slice(random.below(other.length + 1));
    }
    try {
      parseStatement(tokens.join(' '));
    } catch (error) {
      if (!(error instanceof CqlError)) throw new Error(tokens.join(' '), { cause: error });
    }
  }
});
