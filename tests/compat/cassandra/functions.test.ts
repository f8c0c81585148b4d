// Goal: functions and aggregates of clients, in the sandbox. Method: the stock driver, values of many types.
import type { Client } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './harness.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startServer();
  client = await server.connect();
  await client.execute(
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  );
  await client.execute('USE k');
  await client.execute('CREATE TABLE t (a int, b int, s text, big bigint, PRIMARY KEY (a, b))');
  for (let b = 1; b <= 100; b++)
    await client.execute('INSERT INTO t (a, b, s, big) VALUES (1, ?, ?, ?)', [b, `s${b}`, b], {
      prepare: true,
    });
});
afterAll(async () => {
  expect(server.failures).toEqual([]);
  await server.close();
});

const NULLS = 'CALLED ON NULL INPUT';
const NO_NULLS = 'RETURNS NULL ON NULL INPUT';

/** The value of the only column of the first row. */
async function firstValue(text: string): Promise<unknown> {
  const { rows } = await client.execute(text);
  return rows[0]?.get(0);
}

test('a function of a row, of a term, and of another function', async () => {
  await client.execute(
    `CREATE FUNCTION twice (x int) ${NO_NULLS} RETURNS int LANGUAGE javascript AS 'return 2 * x;'`,
  );
  expect(await firstValue('SELECT twice(twice(b)) FROM t WHERE a = 1 AND b = 21')).toBe(84);
  expect(await firstValue('SELECT b FROM t WHERE a = 1 AND b = twice(4)')).toBe(8);
  await client.execute("INSERT INTO t (a, b, s) VALUES (2, twice(5), 'w')");
  expect(await firstValue('SELECT b FROM t WHERE a = 2')).toBe(10);
  const { rows } = await client.execute('SELECT twice(b) AS d FROM t WHERE a = 1', [], {
    prepare: true,
    fetchSize: 1000,
  });
  expect(rows.map((row) => row.d)).toEqual(Array.from({ length: 100 }, (_, at) => 2 * (at + 1)));
});

test('an aggregate keeps its state over all rows, and begins again in each group', async () => {
  await client.execute(
    `CREATE FUNCTION step (state tuple<int, bigint>, x int) ${NULLS} RETURNS tuple<int, bigint> LANGUAGE javascript AS $$ return [state[0] + 1, state[1] + x]; $$`,
  );
  await client.execute(
    `CREATE FUNCTION mean (state tuple<int, bigint>) ${NULLS} RETURNS double LANGUAGE javascript AS $$ return state[1] / state[0]; $$`,
  );
  await client.execute(
    'CREATE AGGREGATE average (int) SFUNC step STYPE tuple<int, bigint> FINALFUNC mean INITCOND (0, 0)',
  );
  expect(await firstValue('SELECT average(b) FROM t WHERE a = 1')).toBe(50.5);
  await expect(client.execute('DROP FUNCTION step')).rejects.toThrow(
    "Function 'k.step' is still referenced by aggregates average",
  );
});

test.each([
  ['int', 'return x + 1;', '41', 42],
  ['int', 'return x / 2;', '7', 3],
  ['int', 'return x % 5 == 2 ? -x : x;', '7', -7],
  ['bigint', 'return x * 2L;', '4611686018427387904', '-9223372036854775808'],
  ['text', 'return x + ":" + x.length();', "'ab'", 'ab:2'],
  ['double', 'return Math.sqrt(x);', '6.25', 2.5],
] as const)('a simple body in Java: %s %s', async (type, body, argument, result) => {
  await client.execute(
    `CREATE OR REPLACE FUNCTION jf (x ${type}) ${NO_NULLS} RETURNS ${type} LANGUAGE java AS '${body}'`,
  );
  const value = await firstValue(`SELECT jf((${type}) ${argument}) FROM t LIMIT 1`);
  const isLong = value instanceof cassandra.types.Long;
  expect(isLong ? value.toString() : value).toBe(result);
  await client.execute(`DROP FUNCTION jf (${type})`);
});

test.each([
  ['java', 'for (;;) {} return x;', /only a return of a simple expression/],
  ['java', 'return System.exit(0);', /only a return of a simple expression/],
  ['lua', 'return x', /Invalid language lua/],
  ['javascript', 'return x +;', /Failed to compile function 'k.bad'/],
])('a body that is refused: %s %s', async (language, body, message) => {
  const create = `CREATE FUNCTION bad (x int) ${NULLS} RETURNS int LANGUAGE ${language} AS '${body}'`;
  await expect(client.execute(create)).rejects.toThrow(message);
});

test('a function that fails or never ends is an error of its statement alone', async () => {
  await client.execute(
    `CREATE FUNCTION boom (x int) ${NULLS} RETURNS int LANGUAGE javascript AS 'throw new Error("no");'`,
  );
  await expect(client.execute('SELECT boom(b) FROM t')).rejects.toMatchObject({ code: 0x1400 });
  await client.execute(
    `CREATE FUNCTION host (x int) ${NULLS} RETURNS text LANGUAGE javascript AS 'return typeof process + ", " + typeof require;'`,
  );
  expect(await firstValue('SELECT host(b) FROM t LIMIT 1')).toBe('undefined, undefined');
});
