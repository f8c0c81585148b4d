/**
 * Goal: whatever a statement says, the client gets a result or an error of the protocol, no failure of the server, and
 * others are served. Method: statements of every kind, changed by a seed, prepared and run, beside a witness.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CQL_CODES } from '../../../src/api/cassandra/errors.ts';
import { type Random, seededRandom } from '../../../src/base/index.ts';
import { startServer, type TestServer } from './harness.ts';
import { RawClient } from './raw-client.ts';

const STATEMENTS = process.env.MESOCOSM_LONG === undefined ? 2000 : 100_000;
const SEED = Number(process.env.MESOCOSM_SEED ?? 20_261_118);
const WITNESS_EVERY = 100;
const [ERROR, RESULT] = [0, 8];

const SCHEMA = [
  "CREATE KEYSPACE IF NOT EXISTS f WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1} AND durable_writes = true",
  'CREATE TYPE IF NOT EXISTS f.pair (x int, y frozen<list<text>>)',
  'CREATE TABLE IF NOT EXISTS f.t (a int, b text, c int, d timeuuid, s text STATIC, v text, l list<int>, m map<text, int>, e set<text>, u frozen<pair>, tu tuple<int, text>, n decimal, PRIMARY KEY ((a, b), c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC) AND default_time_to_live = 600',
  'CREATE TABLE IF NOT EXISTS f.counts (k int PRIMARY KEY, n counter)',
  'CREATE INDEX IF NOT EXISTS tv ON f.t (v)',
];

/** What is changed: every kind of statement, so that each parser and planner meets the damage of its own. */
const SOURCES = [
  ...SCHEMA,
  "INSERT INTO f.t (a, b, c, d, s, v, l, m, e, u, tu, n) VALUES (1, 'x', 2, now(), 's', 'v', [1, 2], {'k': 1}, {'e'}, {x: 1, y: ['z']}, (1, 't'), 1.5e3) USING TTL 60 AND TIMESTAMP 5",
  `INSERT INTO f.t JSON '{"a": 1, "b": "x", "c": 3, "d": "50554d6e-29bb-11e5-b345-feff819cdc9f", "l": [1], "u": {"x": 1}}' DEFAULT UNSET IF NOT EXISTS`,
  "UPDATE f.t USING TTL 9 SET v = 'w', l[0] = 5, l = l + [7], m['q'] = 3, e = e - {'e'}, n = 0.5 WHERE a = 1 AND b = 'x' AND c = 2 AND d = 50554d6e-29bb-11e5-b345-feff819cdc9f IF v = 'v' AND m['k'] IN (1, 2)",
  "UPDATE f.t SET s = 'z' WHERE a IN (1, 2) AND b = 'x'",
  'UPDATE f.counts SET n = n + 9223372036854775807 WHERE k = 1',
  "DELETE v, m['k'], l[0] FROM f.t USING TIMESTAMP 4 WHERE a = 1 AND b = 'x' AND c = 2 AND d = 50554d6e-29bb-11e5-b345-feff819cdc9f IF EXISTS",
  "DELETE FROM f.t WHERE a = 1 AND b = 'x' AND c > 1 AND c <= 5",
  "BEGIN UNLOGGED BATCH USING TIMESTAMP 7 INSERT INTO f.t (a, b, c, d) VALUES (2, 'y', 1, now()); DELETE FROM f.t WHERE a = 2 AND b = 'y'; APPLY BATCH",
  "SELECT * FROM f.t WHERE a = 1 AND b IN ('x', 'y') AND (c, d) > (1, mintimeuuid('2020-01-01 00:00+0000')) ORDER BY c DESC, d ASC LIMIT 10",
  'SELECT DISTINCT a, b, s FROM f.t WHERE token(a, b) > -9223372036854775808 AND token(a, b) <= 9223372036854775807 PER PARTITION LIMIT 2',
  'SELECT a, b, count(*), max(c), avg(n), sum(c) FROM f.t GROUP BY a, b ALLOW FILTERING',
  "SELECT JSON v AS w, toJson(l), writetime(v), ttl(v), CAST(c AS text), c * 2 + 1 % 3, u.x, m['k'], blobAsInt(intAsBlob(c)) FROM f.t WHERE v = 'w' AND l CONTAINS 1 ALLOW FILTERING",
  "SELECT * FROM f.t WHERE COSMOS_CHANGEFEED_START_TIME() = '2020-01-01 00:00:00+0000'",
  'ALTER TABLE f.t ADD extra map<frozen<tuple<int, text>>, frozen<set<blob>>>',
  'ALTER TABLE f.t DROP extra',
  "ALTER TABLE f.t WITH comment = 'c' AND gc_grace_seconds = 10 AND compaction = {'class': 'SizeTieredCompactionStrategy'}",
  'ALTER TYPE f.pair ADD z duration',
  'CREATE MATERIALIZED VIEW f.mv AS SELECT * FROM f.t WHERE c IS NOT NULL AND a IS NOT NULL AND b IS NOT NULL AND d IS NOT NULL PRIMARY KEY (c, a, b, d)',
  'DROP MATERIALIZED VIEW IF EXISTS f.mv',
  "CREATE OR REPLACE FUNCTION f.twice (x int) CALLED ON NULL INPUT RETURNS int LANGUAGE javascript AS 'x * 2'",
  'SELECT f.twice(c) FROM f.t',
  'DROP FUNCTION IF EXISTS f.twice(int)',
  "CREATE ROLE IF NOT EXISTS r WITH PASSWORD = 'p' AND LOGIN = true AND OPTIONS = {'a': 1}",
  'GRANT SELECT ON KEYSPACE f TO r',
  'LIST ALL PERMISSIONS OF r NORECURSIVE',
  'DROP INDEX IF EXISTS f.tv',
  'TRUNCATE TABLE f.counts',
  'DESCRIBE TABLE f.t',
  'USE f',
  "SELECT * FROM system_schema.columns WHERE keyspace_name = 'f' AND table_name = 't'",
];

/** Pieces that mean something to lexers, parsers and types. */
const PIECES =
  "( ) [ ] { } , ; : . ? = < > <= != + - * / % ' '' \" $$ -- /* // :x null NaN -Infinity 0 -1 1e400 99999999999999999999 0x 0xzz P1Y \u0000 \u{1f600} token IN IF NOT EXISTS AND WHERE USING TTL frozen<list<int>> [*] (int)1 'x'[0] a.b.c now() ALLOW FILTERING".split(
    ' ',
  );

let server: TestServer;
let client: RawClient;
beforeAll(async () => {
  server = await startServer();
  client = await RawClient.login(server.port);
});
afterAll(async () => {
  client.close();
  await server.close();
});

test(`damaged statements, seed ${SEED}`, async () => {
  const random = seededRandom(SEED);
  const witness = await RawClient.login(server.port);
  await accept(witness, SCHEMA[0]?.replace('EXISTS f', 'EXISTS w') as string);
  await accept(witness, 'CREATE TABLE w.t (a int PRIMARY KEY, v int)');
  const kinds = new Map<number, number>();
  for (let number = 0; number < STATEMENTS; number++) {
    if (number % WITNESS_EVERY === 0) {
      await accept(witness, `INSERT INTO w.t (a, v) VALUES (${number}, 1)`);
      await accept(witness, `SELECT v FROM w.t WHERE a = ${number}`);
      // The damage may have dropped some of it.
      for (const text of SCHEMA) await client.query(text);
    }
    const text = damaged(random, pick(random, SOURCES));
    client.prepare(text);
    for (const response of [await client.next(), await client.query(text)]) {
      expect([ERROR, RESULT], text).toContain(response.opcode);
      const code = response.opcode === RESULT ? -1 : response.body.int();
      expect([-1, ...REFUSALS], text).toContain(code);
      kinds.set(code, (kinds.get(code) ?? 0) + 1);
    }
    expect(server.failures, text).toEqual([]);
  }
  // The damage is neither so small that all is served, nor so large that nothing gets past the parser.
  for (const code of [-1, CQL_CODES.syntaxError, CQL_CODES.invalid])
    expect(kinds.get(code) ?? 0).toBeGreaterThan(STATEMENTS / 20);
  witness.close();
}, 600_000);

/** Everything but failures of ours. */
const REFUSALS: readonly number[] = Object.values(CQL_CODES).filter(
  (code) => code !== CQL_CODES.serverError && code !== CQL_CODES.protocolError,
);

async function accept(from: RawClient, text: string): Promise<void> {
  const { opcode, body } = await from.query(text);
  expect(opcode, opcode === ERROR ? `${body.int()} ${body.string()}` : text).toBe(RESULT);
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

/** One to three changes: words cut out, doubled, exchanged, taken from another statement or made up; characters too. */
function damaged(random: Random, source: string): string {
  let words = source.split(/(\W)/);
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.below(words.length);
    const other = pick(random, SOURCES).split(/(\W)/);
    const from = random.below(other.length);
    switch (random.below(7)) {
      case 0:
        words.splice(at, 1 + random.below(3));
        break;
      case 1:
        words.splice(at, 0, ...words.slice(at, at + 1 + random.below(8)));
        break;
      case 2:
        words.splice(at, 1, pick(random, other));
        break;
      case 3:
        words.splice(at, 1, pick(random, PIECES));
        break;
      case 4:
        words = [...words.slice(0, at), ...other.slice(from)];
        break;
      case 5:
        words.splice(at, 0, pick(random, PIECES).repeat(1 + random.below(100)));
        break;
      default:
        words[at] = [...(words[at] as string)].reverse().join('');
    }
  }
  return words.join('');
}
