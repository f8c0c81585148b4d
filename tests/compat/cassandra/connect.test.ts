// Goal: clients negotiate, log in, read the schema and hear of changes. Method: cassandra-driver against a server.
import cassandra, { type Client } from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT, ENGINES, KEY, READ_KEY, startServer, type TestServer } from './harness.ts';

describe.each(ENGINES)('engine %s', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(async () => {
    expect(server.failures).toEqual([]);
    await server.close();
  });

  const REPLICATION = "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

  /** Resolves when a condition holds; the driver changes its metadata when an event has arrived. */
  async function until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
  }

  test('the driver steps down from its highest version to 4', async () => {
    const client = await server.connect();
    const hosts = client.getState().getConnectedHosts();
    expect(hosts.map(({ cassandraVersion }) => cassandraVersion)).toEqual(['4.0.11']);
    const [host] = client.hosts.values();
    expect([host?.datacenter, host?.rack, host?.tokens]).toEqual([
      'datacenter1',
      'rack1',
      ['-9223372036854775808'],
    ]);
  });

  test('protocol 3 is spoken as well', async () => {
    const client = await server.connect({ protocolOptions: { maxVersion: 3 } });
    const { rows } = await client.execute('SELECT release_version FROM system.local');
    expect(rows.map((row) => row.release_version)).toEqual(['4.0.11']);
  });

  test('system.local has one row', async () => {
    const client = await server.connect();
    const { rows } = await client.execute(
      "SELECT key, cql_version, partitioner FROM system.local WHERE key = 'local'",
    );
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['local', '3.4.5', 'org.apache.cassandra.dht.Murmur3Partitioner'],
    ]);
    expect((await client.execute('SELECT * FROM system.peers')).rows).toEqual([]);
    await expect(client.execute('SELECT * FROM system.nothing')).rejects.toThrow(
      'unconfigured table nothing',
    );
  });

  async function refusalOf(options: Partial<cassandra.ClientOptions>): Promise<string> {
    const error = await server.connect(options).catch((reason) => reason);
    const inner = Object.values(
      (error as cassandra.errors.NoHostAvailableError).innerErrors,
    ) as Error[];
    return inner.map(({ message }) => message).join();
  }

  test('a wrong password, an unknown account and no login are refused', async () => {
    expect(await refusalOf({ credentials: { username: ACCOUNT, password: 'd3Jvbmc=' } })).toContain(
      `Provided username ${ACCOUNT} and/or password are incorrect`,
    );
    expect(await refusalOf({ credentials: { username: 'nobody', password: KEY } })).toContain(
      'Provided username nobody and/or password are incorrect',
    );
    const { credentials: _, ...open } = { credentials: undefined };
    expect(
      await refusalOf({ ...open, authProvider: new cassandra.auth.PlainTextAuthProvider('', '') }),
    ).toContain('and/or password are incorrect');
  });

  test('a key for reading reads', async () => {
    const client = await server.connect({ credentials: { username: ACCOUNT, password: READ_KEY } });
    expect((await client.execute('SELECT key FROM system.local')).rows.length).toBe(1);
    await expect(client.execute(`CREATE KEYSPACE mine ${REPLICATION}`)).rejects.toMatchObject({
      code: cassandra.types.responseErrorCodes.unauthorized,
      message: 'The key of this login is read-only',
    });
  });

  test('another client hears of new tables, and knows their columns', async () => {
    const [client, other] = [await server.connect(), await server.connect()];
    await client.execute(`CREATE KEYSPACE heard ${REPLICATION}`);
    await until(async () => other.metadata.keyspaces.heard !== undefined);
    expect(await other.metadata.getTable('heard', 't')).toBeNull();
    await client.execute(
      "CREATE TABLE heard.t (a int, b text, c timeuuid, s int STATIC, v map<text, frozen<list<int>>>, PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c DESC) AND comment = 'said' AND gc_grace_seconds = 5",
    );
    await until(async () => (await other.metadata.getTable('heard', 't')) !== null);
    const table = await other.metadata.getTable('heard', 't');
    expect({
      columns: table.columns.map(({ name }) => name),
      partitionKeys: table.partitionKeys.map(({ name }) => name),
      clusteringKeys: table.clusteringKeys.map(({ name }) => name),
      order: table.clusteringOrder,
      comment: table.comment,
      grace: table.gcGraceSeconds,
    }).toEqual({
      columns: ['a', 'b', 'c', 's', 'v'],
      partitionKeys: ['a', 'b'],
      clusteringKeys: ['c'],
      order: ['DESC'],
      comment: 'said',
      grace: 5,
    });
    expect(
      (await other.metadata.getTable('system', 'local'))?.partitionKeys.map(({ name }) => name),
    ).toEqual(['key']);
    await client.execute('DROP TABLE heard.t');
    await until(async () => (await other.metadata.getTable('heard', 't')) === null);
    await client.execute('DROP KEYSPACE heard');
    await until(async () => other.metadata.keyspaces.heard === undefined);
  });

  test('every response has its request units, and is counted', async () => {
    const client = await server.connect();
    await client.execute(`CREATE KEYSPACE units ${REPLICATION}`);
    await client.execute('CREATE TABLE units.t (a int PRIMARY KEY, v text)');
    const chargeOf = async (text: string): Promise<number> => {
      const { info } = await client.execute(text);
      return (
        (info.customPayload as unknown as Record<string, Buffer>).RequestCharge?.readDoubleBE() ??
        -1
      );
    };
    const write = await chargeOf("INSERT INTO units.t (a, v) VALUES (1, 'x')");
    const read = await chargeOf('SELECT * FROM units.t WHERE a = 1');
    expect(write).toBeGreaterThan(read);
    expect(read).toBeGreaterThan(0);
    const last = server.reports.filter(({ operation }) => operation === 'select').at(-1);
    expect(last).toMatchObject({ operation: 'select', outcome: 'ok', charge: read });
    await expect(client.execute('SELECT nothing FROM units.t')).rejects.toThrow(
      'Undefined column name nothing in table units.t',
    );
    expect(server.reports.at(-1)).toMatchObject({ operation: 'query', outcome: 'invalidInput' });
  });

  test('a prepared statement names its key, and survives changes of its table', async () => {
    const client: Client = await server.connect();
    await client.execute(`CREATE KEYSPACE p ${REPLICATION}`);
    await client.execute(
      'CREATE TABLE p.t (a int, b text, c int, v text, PRIMARY KEY ((a, b), c))',
    );
    await client.execute('INSERT INTO p.t (c, b, v, a) VALUES (?, ?, ?, ?)', [3, 'x', 'v', 1], {
      prepare: true,
    });
    const infos = client.metadata as unknown as {
      getPreparedInfo(keyspace: string, text: string): Info;
    };
    const { meta } = infos.getPreparedInfo('', 'INSERT INTO p.t (c, b, v, a) VALUES (?, ?, ?, ?)');
    expect(meta?.partitionKeys).toEqual([3, 1]);
    expect(meta?.columns.map(({ name }) => name)).toEqual(['c', 'b', 'v', 'a']);
    const select = () =>
      client.execute('SELECT * FROM p.t WHERE a = ? AND b = ?', [1, 'x'], { prepare: true });
    expect((await select()).rows.map((row) => ({ ...row }))).toEqual([
      { a: 1, b: 'x', c: 3, v: 'v' },
    ]);
    await client.execute('ALTER TABLE p.t ADD w int');
    await client.execute("UPDATE p.t SET w = 9 WHERE a = 1 AND b = 'x' AND c = 3");
    const { rows } = await client.execute('SELECT v, w FROM p.t WHERE a = ? AND b = ?', [1, 'x'], {
      prepare: true,
    });
    expect(rows.map((row) => ({ ...row }))).toEqual([{ v: 'v', w: 9 }]);
    await client.execute('DROP TABLE p.t');
    await expect(select()).rejects.toThrow('unconfigured table t');
  });

  interface Info {
    readonly meta?: {
      readonly partitionKeys: readonly number[];
      readonly columns: readonly { readonly name: string }[];
    };
  }

  test('values by name', async () => {
    const client = await server.connect();
    const { rows } = await client.execute(
      'SELECT key FROM system.local WHERE key = :wanted',
      { wanted: 'local' },
      { prepare: true },
    );
    expect(rows.map((row) => row.key)).toEqual(['local']);
  });
});
