// Goal: rows written by CQL are read by SQL as documented JSON, and documents written there are seen by CQL.
// Method: cassandra-driver and @azure/cosmos over one server, on every engine.
import type { Container } from '@azure/cosmos';
import { type Client, types } from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../src/base/index.ts';
import { ENGINES, startServer, type TestServer } from './harness.ts';

describe.each(ENGINES)('engine %s', (engine) => {
  const clock = new FakeClock(Date.now());
  let server: TestServer;
  let client: Client;
  let container: Container;
  beforeAll(async () => {
    server = await startServer({ engine, clock });
    client = await server.connect();
    await client.execute(
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    await client.execute(
      'CREATE TABLE k.t (a int, b text, c int, s text STATIC, v text, n bigint, d decimal, u uuid, t timestamp, l list<int>, m map<text, double>, x blob, PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c DESC)',
    );
    container = server.cosmos().database('k').container('t');
  });
  afterAll(async () => {
    expect(server.failures).toEqual([]);
    await server.close();
  });

  const sql = async (query: string, partitionKey?: unknown[]) =>
    (
      await container.items
        .query(query, partitionKey === undefined ? {} : { partitionKey: partitionKey as never })
        .fetchAll()
    ).resources;

  test('a row is a document with the JSON of its columns', async () => {
    await client.execute(
      "INSERT INTO k.t (a, b, c, s, v, n, d, u, t, l, m, x) VALUES (1, 'p', 5, 'static', 'text', 9007199254740993, 12.50, 123e4567-e89b-42d3-a456-426614174000, '2024-02-29 12:00:00+0000', [3, 1], {'k': 1.5}, 0xcafe)",
    );
    const [found] = await sql('SELECT * FROM c', [1, 'p']);
    const { _rid, _self, _etag, _attachments, _ts, ...columns } = found as Record<string, unknown>;
    expect(columns).toEqual({
      id: '5',
      a: 1,
      b: 'p',
      c: 5,
      v: 'text',
      n: { $numberLong: '9007199254740993' },
      d: 12.5,
      u: '123e4567-e89b-42d3-a456-426614174000',
      t: '2024-02-29 12:00:00.000Z',
      l: [3, 1],
      m: { k: 1.5 },
      x: '0xcafe',
    });
    expect([typeof _rid, typeof _self, typeof _etag, typeof _ts]).toEqual([
      'string',
      'string',
      'string',
      'number',
    ]);
    expect(
      await sql("SELECT VALUE c.v FROM c WHERE c.c > 4 AND c.m.k = 1.5 AND c.b = 'p'"),
    ).toEqual(['text']);
    const { resource } = await container.item('5', [1, 'p'] as never).read();
    expect(resource.v).toBe('text');
  });

  test('a document that is upserted is a row of CQL', async () => {
    await container.items.upsert({
      id: '7',
      a: 3,
      b: 'q',
      c: 7,
      v: 'from SQL',
      n: 5,
      l: [1, 2],
      m: { z: 2 },
    });
    await container.items.upsert({ id: '8', a: 3, b: 'q', v: 'by its id' });
    const { rows } = await client.execute("SELECT c, v, n, l, m FROM k.t WHERE a = 3 AND b = 'q'");
    expect(rows.map((row) => Object.values(row))).toEqual([
      [8, 'by its id', null, null, null],
      [7, 'from SQL', types.Long.fromNumber(5), [1, 2], { z: 2 }],
    ]);
    await client.execute(
      "UPDATE k.t SET v = 'by CQL', l = l + [3] WHERE a = 3 AND b = 'q' AND c = 7",
    );
    const { resource } = await container.item('7', [3, 'q'] as never).read();
    expect([resource.v, resource.n, resource.l]).toEqual(['by CQL', 5, [1, 2, 3]]);
    await container.item('7', [3, 'q'] as never).delete();
    expect(
      (await client.execute("SELECT c FROM k.t WHERE a = 3 AND b = 'q'")).rows.map(({ c }) => c),
    ).toEqual([8]);
  });

  test.each([
    [{ id: '1', a: 4, b: 'q', c: 2 }, 'The id must be that of the key columns: 2'],
    [{ id: '1', a: 4, b: 'q', other: 2 }, 'The table t has no column other'],
    [{ id: '1', a: 4, b: 'q', n: 'text' }, "Unable to make long from 'text'"],
    [
      { id: '1', a: 4, b: 'q', s: 'x' },
      'The static column s belongs to the partition: write it by CQL',
    ],
  ])('a document that is no row is refused: %j', async (document, message) => {
    await expect(container.items.upsert(document)).rejects.toThrow(message);
  });

  test('headers, deleted rows and ended cells are not shown', async () => {
    await client.execute("INSERT INTO k.t (a, b, c, s, v) VALUES (2, 'p', 1, 'static', 'kept')");
    await client.execute("INSERT INTO k.t (a, b, c, v) VALUES (2, 'p', 2, 'gone')");
    await client.execute("INSERT INTO k.t (a, b, c, v) VALUES (2, 'p', 3, 'brief') USING TTL 50");
    await client.execute("UPDATE k.t USING TTL 50 SET n = 1 WHERE a = 2 AND b = 'p' AND c = 1");
    await client.execute("DELETE FROM k.t WHERE a = 2 AND b = 'p' AND c = 2");
    const shown = () => sql('SELECT c.id, c.v, c.n, c.s FROM c', [2, 'p']);
    expect(await shown()).toEqual(
      expect.arrayContaining([
        { id: '1', v: 'kept', n: 1 },
        { id: '3', v: 'brief' },
      ]),
    );
    expect((await shown()).length).toBe(2);
    clock.advance(51_000);
    expect(await shown()).toEqual([{ id: '1', v: 'kept' }]);
    expect(await sql('SELECT VALUE COUNT(1) FROM c', [2, 'p'])).toEqual([1]);
  });
});
