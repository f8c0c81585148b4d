// Goal: lightweight transactions and batches apply as a whole or say why not. Method: cassandra-driver, on every engine.
import { type Client, types } from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES, startServer, type TestServer } from './harness.ts';

describe.each(ENGINES)('engine %s', (engine) => {
  let server: TestServer;
  let client: Client;
  beforeAll(async () => {
    server = await startServer({ engine });
    client = await server.connect();
    await client.execute(
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    await client.execute('USE k');
    await client.execute(
      'CREATE TABLE k.t (a int, c int, s int STATIC, v text, w int, m map<text, int>, PRIMARY KEY (a, c))',
    );
    await client.execute('CREATE TABLE k.u (id text PRIMARY KEY, n int)');
  });
  afterAll(async () => {
    expect(server.failures).toEqual([]);
    await server.close();
  });

  const run = (text: string, values: unknown[] = []) =>
    client.execute(text, values, { prepare: true });
  const query = async (text: string, values: unknown[] = []) => {
    const { rows } = await run(text, values);
    return rows.map((row) => Object.values(row));
  };
  const outcome = async (text: string, values: unknown[] = []) => {
    const result = await run(text, values);
    expect(result.rows.length).toBe(1);
    expect(result.wasApplied()).toBe(result.first()['[applied]']);
    return { ...result.first() };
  };

  test('IF NOT EXISTS inserts once, and returns the row that was there', async () => {
    const insert = 'INSERT INTO k.t (a, c, v, w) VALUES (1, 1, ?, ?) IF NOT EXISTS';
    expect(await outcome(insert, ['first', 1])).toEqual({ '[applied]': true });
    expect(await outcome(insert, ['second', 2])).toEqual({
      '[applied]': false,
      a: 1,
      c: 1,
      s: null,
      m: null,
      v: 'first',
      w: 1,
    });
    expect(await query('SELECT v, w FROM k.t WHERE a = 1')).toEqual([['first', 1]]);
    await run('DELETE FROM k.t WHERE a = 1 AND c = 1');
    expect(await outcome(insert, ['third', 3])).toEqual({ '[applied]': true });
    expect(await query('SELECT v, w FROM k.t WHERE a = 1')).toEqual([['third', 3]]);
  });

  test('conditions on columns: applied, or the columns that made them fail', async () => {
    await run("INSERT INTO k.t (a, c, s, v, w, m) VALUES (2, 1, 7, 'x', 10, {'k': 1})");
    const update = (condition: string) =>
      outcome(`UPDATE k.t SET w = 11 WHERE a = 2 AND c = 1 IF ${condition}`);
    expect(await update("v = 'y'")).toEqual({ '[applied]': false, v: 'x' });
    expect(await update('w > 10 AND s = 7')).toEqual({ '[applied]': false, w: 10, s: 7 });
    expect(await update("v IN ('a', 'b')")).toEqual({ '[applied]': false, v: 'x' });
    expect(await update("m['k'] = 2")).toEqual({ '[applied]': false, m: { k: 1 } });
    expect(await update('v = null')).toEqual({ '[applied]': false, v: 'x' });
    expect(await query('SELECT w FROM k.t WHERE a = 2')).toEqual([[10]]);
    expect(await update("v = 'x' AND w >= 10 AND s != 8 AND m['k'] = 1")).toEqual({
      '[applied]': true,
    });
    expect(await query('SELECT w FROM k.t WHERE a = 2')).toEqual([[11]]);
    expect(await outcome("UPDATE k.t SET w = 1 WHERE a = 2 AND c = 9 IF v = 'x'")).toEqual({
      '[applied]': false,
      v: null,
    });
    expect(await outcome('UPDATE k.t SET w = 1 WHERE a = 2 AND c = 9 IF v = null')).toEqual({
      '[applied]': true,
    });
    expect(await query('SELECT c, w FROM k.t WHERE a = 2')).toEqual([
      [1, 11],
      [9, 1],
    ]);
  });

  test('IF EXISTS, for rows and static columns', async () => {
    expect(await outcome('UPDATE k.t SET w = 1 WHERE a = 3 AND c = 1 IF EXISTS')).toEqual({
      '[applied]': false,
    });
    expect(await query('SELECT * FROM k.t WHERE a = 3')).toEqual([]);
    await run('INSERT INTO k.t (a, c) VALUES (3, 1)');
    expect(await outcome('UPDATE k.t SET w = 1 WHERE a = 3 AND c = 1 IF EXISTS')).toEqual({
      '[applied]': true,
    });
    expect(await outcome('DELETE FROM k.t WHERE a = 3 AND c = 1 IF w = 2')).toEqual({
      '[applied]': false,
      w: 1,
    });
    expect(await outcome('DELETE FROM k.t WHERE a = 3 AND c = 1 IF EXISTS')).toEqual({
      '[applied]': true,
    });
    expect(await query('SELECT * FROM k.t WHERE a = 3')).toEqual([]);
    expect(await outcome('UPDATE k.t SET s = 1 WHERE a = 3 IF s = null')).toEqual({
      '[applied]': true,
    });
    expect(await outcome('UPDATE k.t SET s = 2 WHERE a = 3 IF s = 5')).toEqual({
      '[applied]': false,
      s: 1,
    });
    expect(await outcome('UPDATE k.t SET s = 2 WHERE a = 3 IF s = 1')).toEqual({
      '[applied]': true,
    });
  });

  test('sixteen clients count with compare and set, and lose nothing', async () => {
    await run("INSERT INTO k.u (id, n) VALUES ('cas', 0)");
    let attempts = 0;
    const add = async (): Promise<void> => {
      for (let done = 0; done < 5; ) {
        const n = (await run("SELECT n FROM k.u WHERE id = 'cas'")).first().n as number;
        attempts++;
        const result = await run("UPDATE k.u SET n = ? WHERE id = 'cas' IF n = ?", [n + 1, n]);
        if (result.wasApplied()) done++;
        else expect(result.first().n).not.toBe(n);
      }
    };
    await Promise.all(Array.from({ length: 16 }, add));
    expect(await query("SELECT n FROM k.u WHERE id = 'cas'")).toEqual([[80]]);
    expect(attempts).toBeGreaterThanOrEqual(80);
  });

  test('a batch of one partition is one write', async () => {
    await client.batch(
      [
        { query: 'INSERT INTO k.t (a, c, v) VALUES (?, ?, ?)', params: [4, 1, 'one'] },
        { query: 'INSERT INTO k.t (a, c, v) VALUES (?, ?, ?)', params: [4, 2, 'two'] },
        { query: 'UPDATE k.t SET s = ? WHERE a = ?', params: [5, 4] },
        { query: 'UPDATE k.t SET w = ? WHERE a = ? AND c = ?', params: [9, 4, 1] },
      ],
      { prepare: true },
    );
    expect(await query('SELECT c, s, v, w FROM k.t WHERE a = 4')).toEqual([
      [1, 5, 'one', 9],
      [2, 5, 'two', null],
    ]);
    await client.execute(
      "BEGIN BATCH INSERT INTO k.t (a, c, v) VALUES (5, 1, 'old') USING TIMESTAMP 5; UPDATE k.t USING TIMESTAMP 7 SET w = 1 WHERE a = 5 AND c = 1; APPLY BATCH",
    );
    expect(
      await query('SELECT v, writetime(v) AS tv, writetime(w) AS tw FROM k.t WHERE a = 5'),
    ).toEqual([['old', types.Long.fromNumber(5), types.Long.fromNumber(7)]]);
    await client.execute('BEGIN BATCH APPLY BATCH');
  });

  test.each(['LOGGED', 'UNLOGGED'])('a %s batch over partitions and tables', async (kind) => {
    const text = kind === 'LOGGED' ? 'BEGIN BATCH' : 'BEGIN UNLOGGED BATCH';
    await client.execute(
      `${text} INSERT INTO k.u (id, n) VALUES ('${kind}1', 1) INSERT INTO k.u (id, n) VALUES ('${kind}2', 2) INSERT INTO k.t (a, c) VALUES (6, 1) APPLY BATCH`,
    );
    expect(await query(`SELECT id, n FROM k.u WHERE id IN ('${kind}1', '${kind}2')`)).toEqual([
      [`${kind}1`, 1],
      [`${kind}2`, 2],
    ]);
    expect(await query('SELECT c FROM k.t WHERE a = 6')).toEqual([[1]]);
  });

  test('a logged batch over partitions meets tombstones, and is all or nothing', async () => {
    await run('INSERT INTO k.t (a, c, v) VALUES (20, 1, ?) USING TIMESTAMP 10', ['old']);
    await run('DELETE FROM k.t USING TIMESTAMP 100 WHERE a = 20 AND c = 1');
    await run('DELETE FROM k.t USING TIMESTAMP 100 WHERE a = 21');
    const batch = (timestamp: number, v: string) =>
      client.execute(
        `BEGIN BATCH USING TIMESTAMP ${timestamp}
         UPDATE k.u SET n = ${timestamp} WHERE id = 'logged'
         INSERT INTO k.t (a, c, s, v) VALUES (20, 1, 1, '${v}')
         INSERT INTO k.t (a, c, s, v) VALUES (21, 1, 2, '${v}')
         APPLY BATCH`,
      );
    const state = async () => [
      await query('SELECT a, s, v FROM k.t WHERE a IN (20, 21)'),
      await query("SELECT n FROM k.u WHERE id = 'logged'"),
    ];
    await batch(50, 'hidden');
    expect(await state()).toEqual([[[20, 1, null]], [[50]]]);
    await batch(150, 'seen');
    expect(await state()).toEqual([
      [
        [20, 1, 'seen'],
        [21, 2, 'seen'],
      ],
      [[150]],
    ]);
    const refused = client.execute(
      `BEGIN BATCH INSERT INTO k.t (a, c, v) VALUES (20, 2, 'no') INSERT INTO k.u (id, n) VALUES ('', 1) APPLY BATCH`,
    );
    await expect(refused).rejects.toThrow('Key may not be empty');
    expect(await query('SELECT c FROM k.t WHERE a = 20')).toEqual([[1]]);
  });

  test('logged batches of sixteen clients over the same rows', async () => {
    await Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        client.execute(
          `BEGIN BATCH INSERT INTO k.t (a, c, w) VALUES (30, 1, ${at}) INSERT INTO k.t (a, c, w) VALUES (31, 1, ${at}) APPLY BATCH`,
        ),
      ),
    );
    const [[first], [second]] = [
      await query('SELECT w FROM k.t WHERE a = 30'),
      await query('SELECT w FROM k.t WHERE a = 31'),
    ];
    expect(first).toEqual(second);
  });

  test('a conditional batch is applied if all conditions hold', async () => {
    await run('INSERT INTO k.t (a, c, w) VALUES (7, 1, 1)');
    const batch = (w: number) =>
      client.batch(
        [
          { query: 'UPDATE k.t SET w = ? WHERE a = 7 AND c = 1 IF w = ?', params: [w + 1, w] },
          { query: 'INSERT INTO k.t (a, c, w) VALUES (7, ?, 0) IF NOT EXISTS', params: [w + 1] },
          { query: 'UPDATE k.t SET s = ? WHERE a = 7', params: [w] },
        ],
        { prepare: true },
      );
    const first = await batch(1);
    expect(first.rows.map((row) => ({ ...row }))).toEqual([{ '[applied]': true }]);
    const second = await batch(1);
    expect(second.rows.map((row) => ({ ...row }))).toEqual([
      { '[applied]': false, a: 7, c: 1, w: 2, s: 1, v: null, m: null },
      { '[applied]': false, a: 7, c: 2, w: 0, s: 1, v: null, m: null },
    ]);
    expect(await query('SELECT c, s, w FROM k.t WHERE a = 7')).toEqual([
      [1, 1, 2],
      [2, 1, 0],
    ]);
  });

  test('a failed batch with conditions on static columns alone returns no clustering columns', async () => {
    await run('INSERT INTO k.t (a, c, s) VALUES (8, 4, 5)');
    await run('DELETE FROM k.t WHERE a = 8 AND c = 3');
    const { rows } = await client.execute(
      'BEGIN BATCH UPDATE k.t SET w = 1 WHERE a = 8 AND c = 9; UPDATE k.t SET s = 6 WHERE a = 8 IF s = 4; APPLY BATCH',
    );
    expect(rows.map((row) => ({ ...row }))).toEqual([{ '[applied]': false, a: 8, c: 4, s: 5 }]);
  });

  test('IF EXISTS and IF NOT EXISTS of one row in a batch', async () => {
    const batch = (first: string, second: string) =>
      client.execute(
        `BEGIN BATCH UPDATE k.t SET w = 1 WHERE a = 9 AND c = 1 ${first}; INSERT INTO k.t (a, c) VALUES (9, 1) ${second}; APPLY BATCH`,
      );
    await expect(batch('IF EXISTS', 'IF NOT EXISTS')).rejects.toThrow(
      'Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row',
    );
    await expect(batch('IF w = 2', 'IF NOT EXISTS')).rejects.toThrow(
      'Cannot mix IF conditions and IF NOT EXISTS for the same row',
    );
  });

  test('a batch over partitions beyond 50 KB is refused, beyond 5 KB warned of', async () => {
    const batch = (bytes: number, rows: readonly number[]) =>
      client.batch(
        rows.map((a) => ({
          query: 'INSERT INTO k.t (a, c, v) VALUES (?, 1, ?)',
          params: [a, 'x'.repeat(bytes)],
        })),
        { prepare: true },
      );
    await expect(batch(20_000, [41, 42, 43])).rejects.toThrow('Batch too large');
    expect(await query('SELECT c FROM k.t WHERE a = 41')).toEqual([]);
    const { info } = await batch(3000, [41, 42]);
    expect(info.warnings).toEqual([
      'Batch for [k.t] is of size 6040, exceeding specified threshold of 5120 by 920.',
    ]);
    expect((await batch(1000, [41, 42])).info.warnings ?? []).toEqual([]);
    expect((await batch(60_000, [43])).info.warnings ?? []).toEqual([]);
  });

  test('counter batches, and mixtures that are refused', async () => {
    await client.execute('CREATE TABLE k.n (id int PRIMARY KEY, x counter)');
    await client.batch(
      Array.from({ length: 5 }, () => ({
        query: 'UPDATE k.n SET x = x + 2 WHERE id = 1',
        params: [],
      })),
      { counter: true },
    );
    expect(await query('SELECT x FROM k.n WHERE id = 1')).toEqual([[types.Long.fromNumber(10)]]);
    await expect(
      client.execute(
        'BEGIN UNLOGGED BATCH UPDATE k.n SET x = x + 2 WHERE id = 1; INSERT INTO k.t (a, c) VALUES (1, 1); APPLY BATCH',
      ),
    ).rejects.toThrow('Counter and non-counter mutations cannot exist in the same batch');
    await expect(run('UPDATE k.n USING TIMESTAMP 1 SET x = x + 2 WHERE id = 1')).rejects.toThrow(
      'Cannot provide custom timestamp for counter updates',
    );
    await expect(
      run('UPDATE k.u USING TIMESTAMP 1 SET n = 1 WHERE id = ? IF n = 2', ['x']),
    ).rejects.toThrow('Cannot provide custom timestamp for conditional updates');
  });

  test('collections: elements are added and taken away', async () => {
    await client.execute(
      'CREATE TABLE k.c (id int PRIMARY KEY, s set<text>, m map<text, int>, l list<int>, f frozen<list<int>>)',
    );
    await run("INSERT INTO k.c (id, s, m, l, f) VALUES (1, {'b', 'a'}, {'x': 1}, [3, 1], [2, 2])");
    await run(
      "UPDATE k.c SET s = s + {'c'}, s = s - {'b'}, m['y'] = 2, l = l + [4], f = [5] WHERE id = 1",
    );
    await run("UPDATE k.c SET l = [0] + l, m = m - {'x'} WHERE id = 1");
    expect(await query('SELECT s, m, l, f FROM k.c WHERE id = 1')).toEqual([
      [['a', 'c'], { y: 2 }, [0, 3, 1, 4], [5]],
    ]);
    await run("DELETE m['y'], s FROM k.c WHERE id = 1");
    expect(await query('SELECT s, m FROM k.c WHERE id = 1')).toEqual([[null, null]]);
  });
});
