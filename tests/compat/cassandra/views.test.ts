// Goal: a view shows exactly its base table. Method: random writes of many clients, then both are compared row by row.
import type { Client } from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/base/index.ts';
import { ENGINES, startServer, type TestServer } from './harness.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? 1);
const LONG = process.env.MESOCOSM_LONG === '1';
const CLIENTS = 16;
const WRITES = LONG ? 200 : 25;

describe.each(ENGINES)('engine %s', (engine) => {
  let server: TestServer;
  let client: Client;
  beforeAll(async () => {
    server = await startServer({ engine });
    client = await server.connect();
    await client.execute(
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
  });
  afterAll(async () => {
    expect(server.failures).toEqual([]);
    await server.close();
  });

  const rowsOf = async (text: string): Promise<readonly string[]> => {
    const { rows } = await client.execute(text, [], { fetchSize: 5000 });
    return rows.map((row) => JSON.stringify([row.p, row.c, row.v, row.w])).sort();
  };

  /** Base rows that a view by v has. */
  const expected = async (): Promise<readonly string[]> =>
    (await rowsOf('SELECT p, c, v, w FROM k.base')).filter((text) => JSON.parse(text)[2] !== null);

  test('sixteen clients write the same rows in every way', async () => {
    await client.execute('CREATE TABLE k.base (p int, c int, v int, w text, PRIMARY KEY (p, c))');
    await client.execute("INSERT INTO k.base (p, c, v, w) VALUES (0, 0, 1, 'before')");
    await client.execute(
      'CREATE MATERIALIZED VIEW k.by_v AS SELECT * FROM k.base WHERE p IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, p, c)',
    );
    expect(await rowsOf('SELECT p, c, v, w FROM k.by_v')).toEqual(['[0,0,1,"before"]']);
    const work = Array.from({ length: CLIENTS }, async (_, at) => {
      const random = seededRandom(SEED * 1000 + at);
      for (let write = 0; write < WRITES; write++) await randomWrite(client, random.below);
    });
    await Promise.all(work);
    const rows = await expected();
    expect(await rowsOf('SELECT p, c, v, w FROM k.by_v')).toEqual(rows);
    expect(rows.length).toBeGreaterThan(0);
    await client.execute('DELETE FROM k.base WHERE p = 0');
    expect(await rowsOf('SELECT p, c, v, w FROM k.by_v')).toEqual(await expected());
    await client.execute('TRUNCATE k.base');
    expect(await rowsOf('SELECT p, c, v, w FROM k.by_v')).toEqual([]);
  });

  test('what a view refuses', async () => {
    const refusals = [
      [
        'INSERT INTO k.by_v (v, p, c) VALUES (1, 1, 1)',
        'Cannot directly modify a materialized view',
      ],
      ['DROP TABLE k.by_v', 'Cannot use DROP TABLE on a materialized view'],
      ['DROP TABLE k.base', 'materialized views still depend on it (by_v)'],
      [
        'ALTER TABLE k.base DROP w',
        'Cannot drop column w on base table base with materialized views',
      ],
      [
        'CREATE MATERIALIZED VIEW k.x AS SELECT * FROM k.base WHERE p IS NOT NULL PRIMARY KEY (p)',
        'without primary key columns c from base table',
      ],
    ] as const;
    for (const [statement, message] of refusals)
      await expect(client.execute(statement)).rejects.toThrow(message);
    await client.execute('DROP MATERIALIZED VIEW k.by_v');
    await client.execute('INSERT INTO k.base (p, c, v) VALUES (1, 1, 1)');
  });

  test('a crash while a view is built leaves a view with some of its rows', async () => {
    // The one that stops in the middle makes no more changes of its schema, so it is the test's own.
    const stopping = await startServer({ engine });
    const lost = await stopping.connect();
    await lost.execute(
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    await lost.execute('CREATE TABLE k.many (p int, c int, v int, PRIMARY KEY (p, c))');
    for (let c = 0; c < 120; c++)
      await lost.execute(`INSERT INTO k.many (p, c, v) VALUES (${c % 7}, ${c}, ${c})`);
    const { items } = stopping.service;
    const { scan } = items;
    let pages = 0;
    // The second page of the base table never comes.
    const stopped = new Promise<void>((resolve) => {
      items.scan = (container, request) => {
        if (container.id !== 'many' || ++pages < 2) return scan.call(items, container, request);
        resolve();
        return new Promise(() => {});
      };
    });
    const creation = lost.execute(
      'CREATE MATERIALIZED VIEW k.of_many AS SELECT * FROM k.many WHERE p IS NOT NULL AND c IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, p, c)',
    );
    creation.catch(() => undefined);
    await stopped;
    items.scan = scan;
    const other = await stopping.connectAnother();
    const status = async () =>
      (
        await other.execute('SELECT view_name, status FROM system_distributed.view_build_status')
      ).rows.flatMap((row) => (row.view_name === 'of_many' ? [row.status] : []));
    expect(await status()).toEqual(['STARTED']);
    await other.execute('UPDATE k.many SET v = 1000 WHERE p = 6 AND c = 118');
    await other.execute('DELETE FROM k.many WHERE p = 0 AND c = 0');
    const { rows } = await other.execute('SELECT v FROM k.of_many');
    const values = [...Array(120).keys()].slice(1).map((v) => (v === 118 ? 1000 : v));
    expect(rows.map(({ v }) => v).sort((a, b) => a - b)).toEqual(values.sort((a, b) => a - b));
    expect(await status()).toEqual(['SUCCESS']);
    expect(stopping.failures).toEqual([]);
    await stopping.close();
  });
});

/** One write of few rows, so that clients meet. */
async function randomWrite(client: Client, below: (bound: number) => number): Promise<void> {
  const [p, c, v] = [below(2), below(4), below(3)];
  const statements = [
    `INSERT INTO k.base (p, c, v, w) VALUES (${p}, ${c}, ${v}, 'w${v}')`,
    `UPDATE k.base SET v = ${v} WHERE p = ${p} AND c = ${c}`,
    `UPDATE k.base SET w = 'x' WHERE p = ${p} AND c = ${c}`,
    `DELETE v FROM k.base WHERE p = ${p} AND c = ${c}`,
    `DELETE FROM k.base WHERE p = ${p} AND c = ${c}`,
    `DELETE FROM k.base WHERE p = ${p} AND c >= ${c}`,
    `INSERT INTO k.base (p, c, v) VALUES (${p}, ${c}, ${v}) IF NOT EXISTS`,
    `UPDATE k.base SET v = ${v} WHERE p = ${p} AND c = ${c} IF v = ${below(3)}`,
    `BEGIN BATCH INSERT INTO k.base (p, c, v) VALUES (0, ${c}, ${v}); INSERT INTO k.base (p, c, v) VALUES (1, ${c}, ${v}); APPLY BATCH`,
    `INSERT INTO k.base (p, c, v) VALUES (${p}, ${c}, ${v}) USING TTL 100000`,
  ];
  await client.execute(statements[below(statements.length)] as string);
}
