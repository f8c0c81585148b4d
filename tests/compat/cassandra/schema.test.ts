// Goal: keyspaces and tables are made, changed and dropped; what is wrong is refused in Cassandra's words.
// Method: cassandra-driver; one table of refusals.
import cassandra, { type Client } from 'cassandra-driver';
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
  await client.execute(
    'CREATE TABLE k.t (a int, b text, c int, d int, s int STATIC, v text, PRIMARY KEY ((a, b), c, d))',
  );
  await client.execute('CREATE TABLE k.n (a int PRIMARY KEY, x counter)');
});
afterAll(async () => {
  expect(server.failures).toEqual([]);
  await server.close();
});

const codes = cassandra.types.responseErrorCodes;

test('IF NOT EXISTS and IF EXISTS', async () => {
  await client.execute(
    "CREATE KEYSPACE IF NOT EXISTS k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  );
  await client.execute('CREATE TABLE IF NOT EXISTS k.t (x int PRIMARY KEY)');
  await client.execute('DROP TABLE IF EXISTS k.other');
  await client.execute('DROP KEYSPACE IF EXISTS other');
  await expect(client.execute('CREATE TABLE k.t (x int PRIMARY KEY)')).rejects.toMatchObject({
    code: codes.alreadyExists,
    message: 'Cannot add already existing table "t" to keyspace "k"',
    keyspace: 'k',
    table: 't',
  });
});

test('USE and names without a keyspace', async () => {
  const other = await server.connect({ keyspace: 'k' });
  await other.execute("INSERT INTO t (a, b, c, d) VALUES (1, 'used', 1, 1)");
  expect((await other.execute("SELECT c FROM t WHERE a = 1 AND b = 'used'")).rows.length).toBe(1);
  await expect(client.execute('SELECT c FROM t')).rejects.toThrow(
    'No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename',
  );
});

test('TRUNCATE leaves the table and its columns', async () => {
  await client.execute('CREATE TABLE k.gone (a int PRIMARY KEY, v int)');
  const insert = () =>
    client.execute('INSERT INTO k.gone (a, v) VALUES (?, ?)', [1, 2], { prepare: true });
  await insert();
  await client.execute('TRUNCATE k.gone');
  expect((await client.execute('SELECT * FROM k.gone')).rows).toEqual([]);
  await insert();
  expect((await client.execute('SELECT v FROM k.gone')).rows.map((row) => row.v)).toEqual([2]);
});

test('throughput by option, and the replication of a keyspace', async () => {
  await client.execute(
    'CREATE TABLE k.fast (a int PRIMARY KEY) WITH cosmosdb_provisioned_throughput = 5000 AND default_time_to_live = 60',
  );
  const database = server.service.databases.find('k');
  const container = database && server.service.containers.find(database, 'fast');
  expect([container?.home, container?.throughput?.setting, container?.partitionKey]).toEqual([
    'cassandra',
    { kind: 'manual', requestUnits: 5000 },
    { paths: ['/a'], kind: 'Token', version: 2 },
  ]);
  await client.execute('INSERT INTO k.fast (a) VALUES (1)');
  await client.execute(
    "ALTER KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1} AND durable_writes = false",
  );
  const { rows } = await client.execute(
    "SELECT * FROM system_schema.keyspaces WHERE keyspace_name = 'k'",
  );
  expect(rows.map((row) => ({ ...row }))).toEqual([
    {
      keyspace_name: 'k',
      durable_writes: false,
      replication: {
        class: 'org.apache.cassandra.locator.NetworkTopologyStrategy',
        datacenter1: '1',
      },
    },
  ]);
});

test.each<readonly [string, keyof typeof codes, string | RegExp]>([
  ['CREATE KEYSPACE x', 'syntaxError', "line 1:17 mismatched input '<EOF>' expecting K_WITH"],
  [
    "CREATE KEYSPACE system WITH replication = {'class': 'X'}",
    'invalid',
    'system keyspace is not user-modifiable.',
  ],
  [
    'CREATE TABLE k.x (a int)',
    'invalid',
    "No PRIMARY KEY specifed for table 'x' (exactly one required)",
  ],
  [
    'CREATE TABLE k.x (a int PRIMARY KEY, a text)',
    'invalid',
    "Duplicate column 'a' declaration for table 'x'",
  ],
  [
    'CREATE TABLE k.x (a list<int> PRIMARY KEY)',
    'invalid',
    "Invalid non-frozen collection type list<int> for PRIMARY KEY column 'a'",
  ],
  [
    'CREATE TABLE k.x (a int PRIMARY KEY, b counter, c int)',
    'invalid',
    'Cannot mix counter and non counter columns in the same table',
  ],
  [
    'CREATE TABLE k.x (a int PRIMARY KEY, s int STATIC)',
    'invalid',
    /Static columns are only useful/,
  ],
  [
    'CREATE TABLE k.x (a int PRIMARY KEY) WITH nonsense = 1',
    'syntaxError',
    "Unknown property 'nonsense'",
  ],
  ['CREATE TABLE k.x (a nothing PRIMARY KEY)', 'invalid', 'Unknown type k.nothing'],
  ['CREATE TABLE none.x (a int PRIMARY KEY)', 'invalid', "Keyspace 'none' doesn't exist"],
  ['CREATE TYPE k.y (a counter)', 'invalid', 'A user type cannot contain counters'],
  ['CREATE INDEX ON k.t (nothing)', 'invalid', "Column 'nothing' doesn't exist"],
  ['ALTER TABLE k.t ADD v int', 'invalid', "Column with name 'v' already exists"],
  ['DROP TABLE k.none', 'invalid', "Table 'k.none' doesn't exist"],
  ['DROP KEYSPACE none', 'invalid', "Keyspace 'none' doesn't exist"],
  ['USE none', 'invalid', "Keyspace 'none' does not exist"],
  ['SELECT * FROM k.none', 'invalid', 'unconfigured table none'],
  ['SELECT * FROM k.t WHERE a = 1', 'invalid', /use ALLOW FILTERING$/],
  [
    "SELECT * FROM k.t WHERE a = 1 AND b = 'x' AND d = 1",
    'invalid',
    'PRIMARY KEY column "d" cannot be restricted as preceding column "c" is not restricted',
  ],
  ["SELECT * FROM k.t WHERE a > 1 AND b = 'x'", 'invalid', /use ALLOW FILTERING$/],
  [
    "SELECT * FROM k.t WHERE a = 1 AND b = 'x' ORDER BY v",
    'invalid',
    'Order by is currently only supported on the clustered columns of the PRIMARY KEY, got v',
  ],
  [
    'SELECT * FROM k.t ORDER BY c',
    'invalid',
    'ORDER BY is only supported when the partition key is restricted by an EQ or an IN.',
  ],
  ['SELECT * FROM k.t LIMIT 0', 'invalid', 'LIMIT must be strictly positive'],
  [
    'SELECT writetime(a) FROM k.t',
    'invalid',
    'Cannot use selection function writeTime on PRIMARY KEY part a',
  ],
  [
    'SELECT DISTINCT v FROM k.t',
    'invalid',
    'SELECT DISTINCT queries must only request partition key columns and/or static columns (not v)',
  ],
  ['SELECT nothing(a) FROM k.t', 'invalid', "Unknown function 'nothing'"],
  [
    'INSERT INTO k.t (a, c, d) VALUES (1, 1, 1)',
    'invalid',
    'Some partition key parts are missing: b',
  ],
  [
    "INSERT INTO k.t (a, b, c) VALUES (1, 'x', 1)",
    'invalid',
    'Some clustering keys are missing: d',
  ],
  [
    "INSERT INTO k.t (a, b, c, d) VALUES ('1', 'x', 1, 1)",
    'invalid',
    'Invalid STRING constant (1) for "a" of type int',
  ],
  [
    'INSERT INTO k.t (a, b, c, d) VALUES (1, null, 1, 1)',
    'invalid',
    'Invalid null value in condition for column b',
  ],
  [
    "INSERT INTO k.t (a, b, c, d) VALUES (99999999999, 'x', 1, 1)",
    'invalid',
    "Unable to make int from '99999999999'",
  ],
  [
    "INSERT INTO k.t (a, b, c, d) VALUES (1, 'x', 1, 1) USING TTL -1",
    'invalid',
    'A TTL must be greater or equal to 0, but was -1',
  ],
  [
    'INSERT INTO k.n (a, x) VALUES (1, 1)',
    'invalid',
    'INSERT statements are not allowed on counter tables, use UPDATE instead',
  ],
  ['UPDATE k.n SET x = 1 WHERE a = 1', 'invalid', /Cannot set the value of counter column x/],
  [
    "UPDATE k.t SET v = 'x' WHERE a = 1 AND b = 'x' AND c = 1",
    'invalid',
    'Some clustering keys are missing: d',
  ],
  ['UPDATE k.t SET a = 1 WHERE a = 1', 'invalid', 'PRIMARY KEY part a found in SET part'],
  [
    "DELETE FROM k.t WHERE a = 1 AND b = 'x' AND v = 'y'",
    'invalid',
    'Non PRIMARY KEY columns found in where clause: v ',
  ],
  ['DELETE FROM k.t WHERE a = 1', 'invalid', 'Some partition key parts are missing: b'],
  [
    "INSERT INTO system.local (key) VALUES ('x')",
    'invalid',
    'system keyspace is not user-modifiable.',
  ],
  ['SELECT', 'syntaxError', "line 1:6 no viable alternative at input '<EOF>'"],
])('%s', async (text, code, message) => {
  const error = await client.execute(text).catch((reason) => reason);
  expect({ code: error.code, message: error.message }).toEqual({
    code: codes[code],
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
});

test('a paging state of another statement, or none at all, is refused', async () => {
  for (let c = 0; c < 3; c++)
    await client.execute(`INSERT INTO k.t (a, b, c, d) VALUES (9, 'p', ${c}, 0)`);
  const first = await client.execute("SELECT c FROM k.t WHERE a = 9 AND b = 'p'", [], {
    fetchSize: 1,
  });
  await expect(
    client.execute("SELECT d FROM k.t WHERE a = 9 AND b = 'p'", [], {
      fetchSize: 1,
      pageState: first.pageState,
    }),
  ).rejects.toMatchObject({
    code: codes.protocolError,
    message: 'Invalid value for the paging state',
  });
  await expect(
    client.execute("SELECT c FROM k.t WHERE a = 9 AND b = 'p'", [], {
      fetchSize: 1,
      pageState: '0102',
    }),
  ).rejects.toMatchObject({
    code: codes.protocolError,
    message: 'Invalid value for the paging state',
  });
});

test('a client that stops at a page that is not full reads a table for ever', async () => {
  await client.execute('CREATE TABLE k.full_pages (a int PRIMARY KEY, v int)');
  for (let a = 0; a < 4; a++)
    await client.execute(`INSERT INTO k.full_pages (a, v) VALUES (${a}, 1)`);
  const counts: number[] = [];
  let pageState: string | undefined;
  do {
    const page = await client.execute('SELECT a FROM k.full_pages', [], {
      fetchSize: 2,
      ...(pageState === undefined ? {} : { pageState }),
    });
    counts.push(page.rows.length);
    pageState = page.pageState ?? undefined;
  } while (pageState !== undefined && counts.length < 9);
  expect(counts).toEqual([2, 2, 0]);
  const limited = await client.execute('SELECT a FROM k.full_pages LIMIT 2', [], { fetchSize: 2 });
  expect(limited.pageState ?? undefined).toBeUndefined();
});

test('a row beyond 2 MB, in a statement that is as long', async () => {
  await client.execute('CREATE TABLE k.large (a int PRIMARY KEY, v text)');
  const long = 'x'.repeat(11_000_000);
  await client.execute(`INSERT INTO k.large (a, v) VALUES (1, '${long}')`);
  const { rows } = await client.execute('SELECT v FROM k.large WHERE a = 1');
  expect(rows[0]?.v === long).toBe(true);
});

test('options and types as Cassandra checks them', async () => {
  const create = (options: string) =>
    client.execute(`CREATE TABLE k.checked (a int PRIMARY KEY) WITH ${options}`);
  await expect(
    create("compaction = {'class': 'LeveledCompactionStrategy', 'dog': 3}"),
  ).rejects.toThrow('Properties specified [dog] are not understood by LeveledCompactionStrategy');
  await expect(create('bloom_filter_fp_chance = 0.00001')).rejects.toThrow(
    'bloom_filter_fp_chance must be larger than',
  );
  await client.execute('CREATE TYPE k."a type; of @ signs" (n int)');
  await client.execute('CREATE TABLE k.typed (a int PRIMARY KEY, v frozen<"a type; of @ signs">)');
  await client.execute('INSERT INTO k.typed (a, v) VALUES (1, {n: 7})');
  const { rows } = await client.execute('SELECT v FROM k.typed WHERE a = 1');
  expect(rows[0]?.v).toEqual({ n: 7 });
});

test('a write while its table is truncated is refused as if there were no table', async () => {
  await client.execute('CREATE TABLE k.emptied (a int PRIMARY KEY, v int)');
  let isOver = false;
  let written = 0;
  const work = async (worker: number): Promise<void> => {
    while (!isOver) {
      await client.execute('INSERT INTO k.emptied (a, v) VALUES (?, ?)', [worker, written++], {
        prepare: true,
      });
      await client.execute('SELECT v FROM k.emptied WHERE a = ?', [worker], { prepare: true });
    }
  };
  const workers = Array.from({ length: 8 }, (_, worker) => work(worker));
  for (let count = 0; count < 10; count++) await client.execute('TRUNCATE k.emptied');
  isOver = true;
  await Promise.all(workers);
  await client.execute('TRUNCATE k.emptied');
  expect((await client.execute('SELECT * FROM k.emptied')).rowLength).toBe(0);
  const names = await client.execute(
    "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'k'",
  );
  expect(names.rows.filter(({ table_name: name }) => name.startsWith('emptied')).length).toBe(1);
});
