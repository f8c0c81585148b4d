// Goal: GROUP BY comes in pages of whole groups, and its limits count groups over pages. Method: random rows; the groups
// of each statement, put together from its pages, are compared with groups that the test makes of all rows.
import type { Client, types } from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/base/index.ts';
import { ENGINES, startServer, type TestServer } from './harness.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? 1);

interface Row {
  readonly p: number;
  readonly c: string | null;
  readonly d: number | null;
  readonly v: number | null;
}

interface Limits {
  readonly perPartition?: number;
  readonly limit?: number;
}

describe.each(ENGINES)('engine %s', (engine) => {
  let server: TestServer;
  let client: Client;
  beforeAll(async () => {
    server = await startServer({ engine });
    client = await server.connect();
    await client.execute(
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    await client.execute(
      'CREATE TABLE k.t (p int, c text, d int, v int, s int STATIC, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c DESC, d ASC)',
    );
    const random = seededRandom(SEED);
    for (let at = 0; at < 150; at++) {
      // Some clustering keys are longer than keys of items.
      const c = 'xyz'[random.below(3)] + (random.below(3) === 0 ? 'l'.repeat(2500) : '');
      const values = [random.below(8), `${c}${random.below(2)}`, random.below(9), random.below(3)];
      await client.execute('INSERT INTO k.t (p, c, d, v) VALUES (?, ?, ?, ?)', values, {
        prepare: true,
      });
    }
    for (const p of [3, 20, 21]) await client.execute(`INSERT INTO k.t (p, s) VALUES (${p}, ${p})`);
  });
  afterAll(async () => {
    expect(server.failures).toEqual([]);
    await server.close();
  });

  const pagesOf = async (text: string, fetchSize: number, between?: () => Promise<unknown>) => {
    const pages: types.Row[][] = [];
    let pageState: string | undefined;
    do {
      const page = await client.execute(text, [], {
        fetchSize,
        ...(pageState === undefined ? {} : { pageState }),
      });
      pages.push(page.rows);
      pageState = page.pageState ?? undefined;
      if (pageState !== undefined) await between?.();
    } while (pageState !== undefined);
    return pages;
  };

  /** The partition, the first row, the count and the sum of each group. */
  const groupsOf = (rows: readonly Row[], columns: readonly (keyof Row)[], limits: Limits) => {
    const groups = new Map<string, { p: number; d: number | null; n: number; sum: number }>();
    for (const row of rows) {
      const key = JSON.stringify(columns.map((name) => row[name]));
      const group = groups.get(key) ?? { p: row.p, d: row.d, n: 0, sum: 0 };
      groups.set(key, { ...group, n: group.n + 1, sum: group.sum + (row.v ?? 0) });
    }
    const counts = new Map<number, number>();
    const allowed = [...groups.values()].filter(({ p }) => {
      counts.set(p, (counts.get(p) ?? 0) + 1);
      return (counts.get(p) ?? 0) <= (limits.perPartition ?? Number.POSITIVE_INFINITY);
    });
    return allowed.slice(0, limits.limit).map(({ p, d, n, sum }) => `${p} ${d} ${n} ${sum}`);
  };

  const WHERE = [
    ['', ''],
    ['WHERE p IN (1, 3, 5, 20, 99)', ''],
    ['WHERE p = 3', 'ORDER BY c ASC, d DESC'],
    ["WHERE p IN (0, 1, 2) AND c > 'y'", ''],
    ['WHERE token(p) > 0', ''],
    ['WHERE v = 1', ''],
  ] as const;
  const COLUMNS = [['p'], ['p', 'c'], ['p', 'c', 'd']] as const;
  const LIMITS: readonly Limits[] = [
    {},
    { perPartition: 2 },
    { limit: 5 },
    { perPartition: 1, limit: 4 },
  ];

  const compare = async (fetchSize: number): Promise<void> => {
    for (const [where, order] of WHERE) {
      const plain = `SELECT p, c, d, v, s FROM k.t ${where} ${order} ALLOW FILTERING`;
      const { rows } = await client.execute(plain, [], { fetchSize: 5000 });
      for (const columns of COLUMNS)
        for (const limits of LIMITS) {
          const { perPartition, limit } = limits;
          const text = `SELECT p, d, count(*) AS n, sum(v) AS sum, s FROM k.t ${where} GROUP BY ${columns.join(', ')} ${order} ${perPartition ? `PER PARTITION LIMIT ${perPartition}` : ''} ${limit ? `LIMIT ${limit}` : ''} ALLOW FILTERING`;
          const pages = await pagesOf(text, fetchSize);
          const found = pages.flat().map(({ p, d, n, sum }) => `${p} ${d} ${n} ${sum}`);
          const label = `${text} in pages of ${fetchSize}, seed ${SEED}`;
          expect(found, label).toEqual(groupsOf(rows as unknown as Row[], columns, limits));
          const isWhole = pages.slice(0, -1).every((page) => page.length === fetchSize);
          expect([isWhole, (pages.at(-1)?.length ?? 0) <= fetchSize], label).toEqual([true, true]);
        }
    }
  };

  test.each([1, 3, 1000])('GROUP BY returns all groups in one page, asked for %i', compare);

  test('GROUP BY over an index returns all groups in one page', async () => {
    await client.execute('CREATE INDEX by_v ON k.t (v)');
    await compare(2);
    await client.execute('DROP INDEX k.by_v');
  });

  test('groups are lost or returned twice where partitions split between two pages', async () => {
    const text = 'SELECT p, c, count(*) AS n FROM k.t GROUP BY p, c';
    const printed = (rows: readonly types.Row[]) => rows.map(({ p, c, n }) => `${p} ${c} ${n}`);
    const { rows } = await client.execute(text, [], { fetchSize: 5000 });
    const container = () => {
      const database = server.service.databases.find('k');
      const found = database && server.service.containers.find(database, 't');
      if (found === undefined) throw new Error('no such table');
      return found;
    };
    let splits = 0;
    const pages = await pagesOf(text, 4, async () => {
      if (splits++ < 2)
        await server.service.resizer.split(container(), container().partitions[0]?.id as string);
    });
    expect(printed(pages.flat())).toEqual(printed(rows));
    expect(container().partitions).toHaveLength(3);
  });

  test('a group is returned twice where a row of it is written between two pages', async () => {
    await client.execute('CREATE TABLE k.grown (p int, c int, d int, PRIMARY KEY (p, c, d))');
    for (const c of [1, 2, 3, 4])
      await client.execute(`INSERT INTO k.grown (p, c, d) VALUES (1, ${c}, 0)`);
    let c = 0;
    const pages = await pagesOf(
      'SELECT c, count(*) AS n FROM k.grown WHERE p = 1 GROUP BY p, c',
      1,
      () => client.execute(`INSERT INTO k.grown (p, c, d) VALUES (1, ${++c}, 1)`),
    );
    expect(pages.map((page) => page.map((row) => `${row.c} ${row.n}`))).toEqual([
      ['1 1'],
      ['2 1'],
      ['3 1'],
      ['4 1'],
    ]);
  });
});
