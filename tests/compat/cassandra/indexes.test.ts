// Goal: an index answers as a filter would, in the same order, in pages, over splits and after every kind of write, and
// reads no more rows than it names. Method: random writes; each answer is compared with a scan that filters.
import { type Client, types } from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/base/index.ts';
import { ENGINES, startServer, type TestServer } from './harness.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? 1);
const COLUMNS =
  'p int, c int, n decimal, t text, l list<int>, m map<text, int>, f frozen<set<int>>';

describe.each(ENGINES)('engine %s', (engine) => {
  let server: TestServer;
  let client: Client;
  beforeAll(async () => {
    server = await startServer({ engine });
    client = await server.connect();
    await client.execute(
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    for (const table of ['indexed', 'plain'])
      await client.execute(`CREATE TABLE k.${table} (${COLUMNS}, PRIMARY KEY (p, c))`);
  });
  afterAll(async () => {
    expect(server.failures).toEqual([]);
    await server.close();
  });

  const all = async (text: string, fetchSize = 1000): Promise<readonly string[]> => {
    const found: string[] = [];
    let pageState: string | undefined;
    do {
      const page = await client.execute(text, [], {
        fetchSize,
        ...(pageState === undefined ? {} : { pageState }),
      });
      found.push(...page.rows.map(({ p, c }) => `${p} ${c}`));
      pageState = page.pageState ?? undefined;
    } while (pageState !== undefined);
    return found;
  };

  const CONDITIONS = [
    'c = 3',
    'n = 1.50',
    "t = 'b'",
    'l CONTAINS 2',
    'm CONTAINS 1',
    "m CONTAINS KEY 'x'",
    "m['y'] = 2",
    'f = {1, 2}',
  ];

  const compare = async (label: string): Promise<void> => {
    for (const condition of CONDITIONS) {
      const expected = await all(`SELECT p, c FROM k.plain WHERE ${condition} ALLOW FILTERING`);
      const found = await all(`SELECT p, c FROM k.indexed WHERE ${condition}`);
      expect(found, `${condition}, ${label}, seed ${SEED}`).toEqual(expected);
    }
  };

  test(`an index answers as a scan does, seed ${SEED}`, async () => {
    const random = seededRandom(SEED);
    const write = async (): Promise<void> => {
      const [p, c] = [random.below(12), random.below(6)];
      const key = `p = ${p} AND c = ${c}`;
      const texts = ['a', 'b', 'c'];
      const writes = [
        `INSERT INTO k.T (p, c, n, t, f) VALUES (${p}, ${c}, ${['1.5', '1.50', '2'][random.below(3)]}, '${texts[random.below(3)]}', {1, ${1 + random.below(2)}})`,
        `UPDATE k.T SET l = l + [${random.below(3)}], m['${['x', 'y'][random.below(2)]}'] = ${random.below(3)} WHERE ${key}`,
        `UPDATE k.T SET t = '${texts[random.below(3)]}' WHERE ${key}`,
        `UPDATE k.T SET l = [${random.below(3)}] WHERE ${key}`,
        `DELETE m['x'], t FROM k.T WHERE ${key}`,
        `DELETE FROM k.T WHERE ${key}`,
        `DELETE FROM k.T WHERE p = ${p} AND c > 3`,
        `DELETE FROM k.T WHERE p = ${p}`,
      ];
      const text = writes[Math.min(random.below(14), 13) % 8] as string;
      for (const table of ['indexed', 'plain'])
        await client.execute(text.replace('k.T', `k.${table}`));
    };
    for (let count = 0; count < 60; count++) await write();
    // One half is made over rows that are there, the other before the next ones.
    for (const target of ['c', 'n', 't', 'l', 'm', 'KEYS(m)', 'ENTRIES(m)', 'FULL(f)'])
      await client.execute(`CREATE INDEX ON k.indexed (${target})`);
    await compare('after the build');
    for (let count = 0; count < 60; count++) await write();
    await compare('after more writes');
    await server.service.resizer.split(container(), container().partitions[0]?.id as string);
    await compare('after a split');
    const condition = "t = 'b'";
    expect(await all(`SELECT p, c FROM k.indexed WHERE ${condition}`, 3)).toEqual(
      await all(`SELECT p, c FROM k.plain WHERE ${condition} ALLOW FILTERING`),
    );
    await client.execute('DROP INDEX k.indexed_t_idx');
    await expect(client.execute(`SELECT p FROM k.indexed WHERE ${condition}`)).rejects.toThrow(
      'ALLOW FILTERING',
    );
  });

  function container() {
    const database = server.service.databases.find('k');
    const found = database && server.service.containers.find(database, 'indexed');
    if (found === undefined) throw new Error('no such table');
    return found;
  }

  test('a condition that an index answers is a scan with a filter', async () => {
    await client.execute('CREATE TABLE k.many (id int PRIMARY KEY, v text)');
    await client.execute('CREATE INDEX ON k.many (v)');
    for (let from = 0; from < 1000; from += 10)
      await client.batch(
        Array.from({ length: 10 }, (_, at) => ({
          query: 'INSERT INTO k.many (id, v) VALUES (?, ?)',
          params: [from + at, `v${from}${'x'.repeat(100)}`],
        })),
        { prepare: true, logged: false },
      );
    const chargeOf = async (text: string, values: readonly unknown[]) => {
      const { rows, info } = await client.execute(text, [...values], { prepare: true });
      const payload = info.customPayload as unknown as { RequestCharge: Buffer };
      return {
        ids: rows.map(({ id }) => id as number),
        charge: payload.RequestCharge.readDoubleBE(0),
      };
    };
    const indexed = await chargeOf('SELECT id FROM k.many WHERE v = ?', [`v500${'x'.repeat(100)}`]);
    expect(indexed.ids.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 10 }, (_, at) => 500 + at),
    );
    const scanned = await chargeOf('SELECT id FROM k.many', []);
    expect(scanned.ids.length).toBe(1000);
    expect(indexed.charge).toBeLessThan(scanned.charge / 4);
  });

  test('a cell that ended is in no answer, and its row is found by what replaced it', async () => {
    await client.execute('CREATE TABLE k.ending (id int PRIMARY KEY, v text)');
    await client.execute('CREATE INDEX ON k.ending (v)');
    const old = types.Long.fromNumber((Date.now() - 10_000) * 1000);
    await client.execute(
      'INSERT INTO k.ending (id, v) VALUES (1, ?) USING TIMESTAMP ? AND TTL 1',
      ['a', old],
      {
        prepare: true,
      },
    );
    await client.execute('UPDATE k.ending SET v = ? WHERE id = 1', ['b'], { prepare: true });
    const ids = async (v: string) =>
      (await client.execute('SELECT id FROM k.ending WHERE v = ?', [v], { prepare: true }))
        .rowLength;
    expect([await ids('a'), await ids('b')]).toEqual([0, 1]);
  });

  test('an index on a part of the partition key names partitions with static columns alone', async () => {
    await client.execute(
      'CREATE TABLE k.parts (a int, b int, c int, s int static, PRIMARY KEY ((a, b), c))',
    );
    await client.execute('CREATE INDEX ON k.parts (b)');
    await client.execute('INSERT INTO k.parts (a, b, s) VALUES (1, 2, 3)');
    const { rows } = await client.execute('SELECT a, b, c, s FROM k.parts WHERE b = 2');
    expect(rows.map((row) => ({ ...row }))).toEqual([{ a: 1, b: 2, c: null, s: 3 }]);
  });

  test('a paging state is invalid after an index was made or dropped', async () => {
    await client.execute('CREATE TABLE k.turned (id int PRIMARY KEY, v int)');
    for (let id = 0; id < 9; id++)
      await client.execute(`INSERT INTO k.turned (id, v) VALUES (${id}, 1)`);
    const select = 'SELECT id FROM k.turned WHERE v = 1 ALLOW FILTERING';
    const expected = (await client.execute(select)).rows.map(({ id }) => id);
    const found: number[] = [];
    let pageState: string | undefined;
    for (const change of ['CREATE INDEX ON k.turned (v)', 'DROP INDEX k.turned_v_idx', undefined]) {
      const page = await client.execute(select, [], {
        fetchSize: 3,
        ...(pageState === undefined ? {} : { pageState }),
      });
      found.push(...page.rows.map(({ id }) => id));
      pageState = page.pageState ?? undefined;
      if (change !== undefined) await client.execute(change);
    }
    expect(found).toEqual(expected);
    await client.execute('CREATE INDEX ON k.turned (v)');
    const first = await client.execute(select, [], { fetchSize: 4 });
    await client.execute('DROP INDEX k.turned_v_idx');
    const second = await client.execute(select, [], { fetchSize: 9, pageState: first.pageState });
    expect([...first.rows, ...second.rows].map(({ id }) => id)).toEqual(expected);
  });

  test('LIKE is refused although the column has an index of SASI', async () => {
    const sasi = "USING 'org.apache.cassandra.index.sasi.SASIIndex'";
    await client.execute('CREATE TABLE k.names (id int PRIMARY KEY, a text, b text)');
    await client.execute(`CREATE CUSTOM INDEX ON k.names (a) ${sasi}`);
    await client.execute(
      `CREATE CUSTOM INDEX ON k.names (b) ${sasi} WITH OPTIONS = {'mode': 'CONTAINS', 'case_sensitive': 'false', 'analyzer_class': 'org.apache.cassandra.index.sasi.analyzer.NonTokenizingAnalyzer'}`,
    );
    const names = ['anna', 'Hannah', 'hans', 'na%'];
    for (const [id, name] of names.entries())
      await client.execute('INSERT INTO k.names (id, a, b) VALUES (?, ?, ?)', [id, name, name], {
        prepare: true,
      });
    const like = async (column: string, pattern: string) => {
      const select = `SELECT id FROM k.names WHERE ${column} LIKE ?`;
      const { rows } = await client.execute(select, [pattern], { prepare: true });
      return rows.map(({ id }) => names[id]).toSorted();
    };
    expect(await like('a', 'han%')).toEqual(['hans']);
    expect(await like('a', 'anna')).toEqual(['anna']);
    expect(await like('b', 'HAN%')).toEqual(['Hannah', 'hans']);
    expect(await like('b', '%nn%')).toEqual(['Hannah', 'anna']);
    expect(await like('b', '%s')).toEqual(['hans']);
    await expect(like('a', '%s')).rejects.toThrow(
      "a LIKE '%<term>' s is only supported on properly indexed columns",
    );
    await expect(like('b', '%')).rejects.toThrow("LIKE value can't be empty.");
    await expect(client.execute("SELECT id FROM k.names WHERE id LIKE '1'")).rejects.toThrow(
      "LIKE restriction is only supported on properly indexed columns. id LIKE '1' is not valid.",
    );
  });
});
