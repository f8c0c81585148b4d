// Goal: compression, tracing, the change feed and many prepared statements. Method: the stock driver and a raw client.
import type { Client } from 'cassandra-driver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './harness.ts';
import { RawClient } from './raw-client.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startServer();
  client = await server.connect();
  await client.execute(
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  );
  await client.execute('CREATE TABLE k.t (a int PRIMARY KEY, v text)');
});
afterAll(async () => {
  expect(server.failures).toEqual([]);
  await server.close();
});

test('segments of protocol 5 with lz4, larger than one and smaller', async () => {
  const raw = await RawClient.login(server.port, 'lz4');
  const long = 'mesocosm '.repeat(40_000);
  const inserted = await raw.query('INSERT INTO k.t (a, v) VALUES (1, ?)', [Buffer.from(long)]);
  expect([inserted.opcode, inserted.body.int()]).toEqual([8, 1]);
  const { opcode, body } = await raw.query('SELECT v FROM k.t WHERE a = 1');
  expect(opcode).toBe(8);
  expect(Buffer.from(body.rest()).includes(long)).toBe(true);
  raw.close();
});

test('a traced request is in system_traces with its events', async () => {
  const { info } = await client.execute('SELECT * FROM k.t WHERE a = 1', [], { traceQuery: true });
  expect(info.traceId).toBeDefined();
  const trace = await new Promise<{ requestType: string; events: readonly { activity: string }[] }>(
    (resolve, reject) => {
      client.metadata.getTrace(info.traceId, (error, found) =>
        error ? reject(error) : resolve(found as never),
      );
    },
  );
  expect(trace.requestType).toBe('Execute CQL3 query');
  expect(trace.events.map(({ activity }) => activity.split(':')[0])).toEqual([
    'Parsed and prepared',
    'Done',
  ]);
});

test('the change feed goes on where the last page ended, also after an empty one', async () => {
  await client.execute('CREATE TABLE k.feed (p int, c int, v int, PRIMARY KEY (p, c))');
  const feed = "SELECT c, v FROM k.feed WHERE COSMOS_CHANGEFEED_START_TIME() = '1970-01-01'";
  const insert = 'INSERT INTO k.feed (p, c, v) VALUES (1, ?, ?)';
  for (let c = 0; c < 5; c++) await client.execute(insert, [c, c], { prepare: true });
  const seen: string[] = [];
  let pageState: string | undefined;
  const poll = async (): Promise<number> => {
    const page = await client.execute(feed, [], {
      fetchSize: 2,
      ...(pageState ? { pageState } : {}),
    });
    pageState = page.pageState;
    expect(pageState).toBeDefined();
    for (const row of page.rows) seen.push(`${row.c}=${row.v}`);
    return page.rows.length;
  };
  while ((await poll()) > 0);
  expect(seen).toEqual(['0=0', '1=1', '2=2', '3=3', '4=4']);
  await client.execute(insert, [3, 30], { prepare: true });
  await client.execute('DELETE FROM k.feed WHERE p = 1 AND c = 1');
  while ((await poll()) > 0);
  expect(seen.slice(5)).toEqual(['3=30']);
});

test('a prepared statement over changes of its table; ten thousand others harm nobody', async () => {
  const select = 'SELECT * FROM k.t WHERE a = ?';
  const columns = async () =>
    (await client.execute(select, [1], { prepare: true })).columns.map(({ name }) => name);
  expect(await columns()).toEqual(['a', 'v']);
  await client.execute('ALTER TABLE k.t ADD w int');
  expect(await columns()).toEqual(['a', 'v', 'w']);
  const raw = await RawClient.login(server.port);
  for (let from = 0; from < 10_500; from += 500) {
    for (let at = from; at < from + 500; at++) raw.prepare(`SELECT a FROM k.t WHERE a = ${at}`);
    for (let at = from; at < from + 500; at++) expect((await raw.next()).opcode).toBe(8);
  }
  raw.close();
  expect(await columns()).toEqual(['a', 'v', 'w']);
});
