// Goal: statements with values of hostile sizes and depths are refused as wrong statements, not as faults of the server.
// Method: cassandra-driver against a server in memory; what the server logs as a fault fails the test.
import type { Client } from 'cassandra-driver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './harness.ts';

const INVALID = 0x2200;

let server: TestServer;
let client: Client;

beforeAll(async () => {
  server = await startServer({ engine: 'memory' });
  client = await server.connect();
  await client.execute(
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  );
  await client.execute('CREATE TABLE k.t (id int PRIMARY KEY, list list<int>, text text)');
});

afterAll(async () => {
  expect(server.failures).toEqual([]);
  await server.close();
});

test('JSON of 20,000 levels is an invalid statement, no internal error', async () => {
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  await expect(client.execute(`INSERT INTO k.t JSON '${deep}'`)).rejects.toMatchObject({
    code: INVALID,
    message: expect.stringContaining('nested too deeply'),
  });
});

test('a list of 100,000 elements is refused before its cells are made', async () => {
  const list = Array.from({ length: 100_000 }, () => 1);
  const options = { prepare: true };
  await expect(
    client.execute('INSERT INTO k.t (id, list) VALUES (1, ?)', [list], options),
  ).rejects.toMatchObject({
    code: INVALID,
    message: 'The collection list has 100000 elements; 65535 is the most',
  });
  await expect(
    client.execute('UPDATE k.t SET list = list + ? WHERE id = 1', [list], options),
  ).rejects.toMatchObject({ code: INVALID });
  expect((await client.execute('SELECT id FROM k.t')).rows).toEqual([]);
});

test('a sum of 100 terms, or functions in 40 levels, is understood at once', async () => {
  await client.execute('INSERT INTO k.t (id) VALUES (2)');
  const sum = Array.from({ length: 100 }, () => 'id').join(' + ');
  const deep = `${'blobasint(intasblob('.repeat(20)}id${'))'.repeat(20)}`;
  const constants = Array.from({ length: 100 }, () => '1').join(' - ');
  const { rows } = await client.execute(
    `SELECT ${sum} AS sum, ${deep} AS deep, ${constants} AS constants FROM k.t`,
  );
  expect(rows.map((row) => ({ ...row }))).toEqual([{ sum: 200, deep: 2, constants: -98 }]);
});
