// Goal: what DESCRIBE prints makes the same schema again. Method: a keyspace with everything, dropped and made again.
import { expect, test } from 'vitest';
import { startServer } from './harness.ts';

const SCHEMA = [
  "CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}",
  'CREATE TYPE k.inner_type (x int, "Y" text)',
  'CREATE TYPE k.address (street text, parts frozen<list<frozen<inner_type>>>)',
  `CREATE FUNCTION k.plus (a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE javascript AS 'return a + b;'`,
  'CREATE AGGREGATE k.total (int) SFUNC plus STYPE int INITCOND 0',
  `CREATE TABLE k."Mixed" (a int, b text, "select" int, s int static, m map<text, frozen<address>>,
    PRIMARY KEY ((a, b), "select")) WITH CLUSTERING ORDER BY ("select" DESC) AND comment = 'it''s'
    AND gc_grace_seconds = 100`,
  'CREATE TABLE k.plain (id uuid PRIMARY KEY, v int, l list<text>)',
  'CREATE INDEX plain_v ON k.plain (v)',
  'CREATE INDEX plain_l ON k.plain (values(l))',
  'CREATE MATERIALIZED VIEW k.by_v AS SELECT id, v FROM k.plain WHERE id IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, id)',
];

test('a keyspace is made again from its description', async () => {
  const server = await startServer();
  try {
    const client = await server.connect();
    for (const statement of SCHEMA) await client.execute(statement);
    const described = (await client.execute('DESCRIBE KEYSPACE k')).rows;
    expect(described.map((row) => `${row.type} ${row.name}`)).toEqual([
      'keyspace k',
      'type inner_type',
      'type address',
      'function plus(int, int)',
      'aggregate total(int)',
      'table "Mixed"',
      'table plain',
      'index plain_l',
      'index plain_v',
      'materialized_view by_v',
    ]);
    await client.execute('DROP KEYSPACE k');
    for (const row of described) await client.execute(row.create_statement);
    const again = (await client.execute('DESCRIBE KEYSPACE k')).rows;
    expect(again.map((row) => row.create_statement)).toEqual(
      described.map((row) => row.create_statement),
    );
    await expect(client.execute('DESCRIBE TABLE k.none')).rejects.toThrow(
      "Table 'none' not found in keyspace 'k'",
    );
    expect(server.failures).toEqual([]);
  } finally {
    await server.close();
  }
});
