// Goal: rows of a table are written, read, merged and deleted as Cassandra does. Method: cassandra-driver, on every engine.
import { type Client, types } from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../src/base/index.ts';
import { ENGINES, startServer, type TestServer } from './harness.ts';

describe.each(ENGINES)('engine %s', (engine) => {
  const clock = new FakeClock(Date.now());
  let server: TestServer;
  let client: Client;
  beforeAll(async () => {
    server = await startServer({ engine, clock });
    client = await server.connect();
    await client.execute(
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    await client.execute(
      'CREATE TABLE k.t (a int, b text, c int, s text STATIC, v text, w int, PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c DESC)',
    );
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
  /** A partition of its own for each test, with rows 1 to `rows`. */
  let partitions = 0;
  const fill = async (rows: number): Promise<number> => {
    const a = ++partitions;
    for (let c = 1; c <= rows; c++)
      await run('INSERT INTO k.t (a, b, c, v, w) VALUES (?, ?, ?, ?, ?)', [
        a,
        'x',
        c,
        `v${c}`,
        c * 10,
      ]);
    return a;
  };

  test('a row is inserted and read by its key', async () => {
    const a = ++partitions;
    await run("INSERT INTO k.t (a, b, c, s, v, w) VALUES (?, 'x', 1, 'st', 'one', 11)", [a]);
    expect(await query("SELECT * FROM k.t WHERE a = ? AND b = 'x' AND c = 1", [a])).toEqual([
      [a, 'x', 1, 'st', 'one', 11],
    ]);
    expect(await query('SELECT v FROM k.t WHERE a = ? AND b = ? AND c = ?', [a, 'x', 2])).toEqual(
      [],
    );
    expect(await query('SELECT v FROM k.t WHERE a = ? AND b = ? AND c = ?', [a, 'y', 1])).toEqual(
      [],
    );
  });

  test('a partition comes in its clustering order, and in reverse', async () => {
    const a = await fill(5);
    const clustering = async (rest: string) =>
      (await query(`SELECT c FROM k.t WHERE a = ${a} AND b = 'x' ${rest}`)).flat();
    expect(await clustering('')).toEqual([5, 4, 3, 2, 1]);
    expect(await clustering('ORDER BY c ASC')).toEqual([1, 2, 3, 4, 5]);
    expect(await clustering('ORDER BY c DESC LIMIT 2')).toEqual([5, 4]);
    expect(await clustering('AND c > 2')).toEqual([5, 4, 3]);
    expect(await clustering('AND c >= 2 AND c < 4')).toEqual([3, 2]);
    expect(await clustering('AND c > 1 AND c <= 4 ORDER BY c ASC')).toEqual([2, 3, 4]);
    expect(await clustering('AND c IN (4, 1, 9)')).toEqual([4, 1]);
    expect(await clustering('AND c IN (4, 1, 9) ORDER BY c ASC')).toEqual([1, 4]);
    expect(await clustering('AND (c) > (3)')).toEqual([5, 4]);
  });

  test.each([1, 2, 3, 5])('slices come in pages of %i in both directions', async (fetchSize) => {
    const a = await fill(7);
    for (const [order, expected] of [
      ['DESC', [7, 6, 5, 4, 3, 2, 1]],
      ['ASC', [1, 2, 3, 4, 5, 6, 7]],
    ] as const) {
      const found: number[] = [];
      const sizes: number[] = [];
      let pageState: string | undefined;
      do {
        const page = await client.execute(
          `SELECT c FROM k.t WHERE a = ? AND b = 'x' ORDER BY c ${order}`,
          [a],
          { prepare: true, fetchSize, ...(pageState === undefined ? {} : { pageState }) },
        );
        found.push(...page.rows.map((row) => row.c));
        sizes.push(page.rows.length);
        pageState = page.pageState ?? undefined;
      } while (pageState !== undefined);
      expect(found).toEqual(expected);
      expect(sizes.every((size) => size <= fetchSize)).toBe(true);
    }
  });

  test('several partitions with IN, in the order of their keys', async () => {
    const [a, b] = [await fill(2), await fill(1)];
    expect(await query(`SELECT a, c FROM k.t WHERE a IN (${b}, ${a}) AND b = 'x'`)).toEqual([
      [a, 2],
      [a, 1],
      [b, 1],
    ]);
    expect(
      (
        await client.execute(
          `SELECT c FROM k.t WHERE a IN (${b}, ${a}) AND b = 'x' ORDER BY c ASC`,
          [],
          {
            fetchSize: 0,
          },
        )
      ).rows.map((row) => row.c),
    ).toEqual([1, 1, 2]);
  });

  test('a static column is one value of its partition', async () => {
    const a = await fill(2);
    await run("UPDATE k.t SET s = 'first' WHERE a = ? AND b = 'x'", [a]);
    expect(await query('SELECT c, s FROM k.t WHERE a = ? AND b = ?', [a, 'x'])).toEqual([
      [2, 'first'],
      [1, 'first'],
    ]);
    await run("INSERT INTO k.t (a, b, c, s) VALUES (?, 'x', 3, 'second')", [a]);
    expect(
      await query('SELECT c, s, v FROM k.t WHERE a = ? AND b = ? AND c = 1', [a, 'x']),
    ).toEqual([[1, 'second', 'v1']]);
    await run("DELETE s FROM k.t WHERE a = ? AND b = 'x'", [a]);
    expect(await query('SELECT DISTINCT a, b, s FROM k.t WHERE a = ? AND b = ?', [a, 'x'])).toEqual(
      [[a, 'x', null]],
    );
  });

  test('a partition with static columns alone is one row', async () => {
    const a = ++partitions;
    await run("INSERT INTO k.t (a, b, s) VALUES (?, 'x', 'alone')", [a]);
    expect(await query("SELECT * FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([
      [a, 'x', null, 'alone', null, null],
    ]);
    expect(await query("SELECT * FROM k.t WHERE a = ? AND b = 'x' AND c = 1", [a])).toEqual([]);
  });

  test('a partition with static columns alone has no rows where none of them is selected', async () => {
    await client.execute(
      'CREATE TABLE k.unseen (p int, c int, s int static, r int, PRIMARY KEY (p, c))',
    );
    await client.execute('INSERT INTO k.unseen (p, s) VALUES (1, 1)');
    const count = async (columns: string) =>
      (await client.execute(`SELECT ${columns} FROM k.unseen WHERE p = 1`)).rowLength;
    const counts = [];
    for (const columns of ['*', 's', 'r', 'r, s', 'c']) counts.push(await count(columns));
    expect(counts).toEqual([1, 1, 0, 1, 1]);
  });

  test('an update makes a row that lives as long as its columns', async () => {
    const a = ++partitions;
    await run("UPDATE k.t SET v = 'x', w = 1 WHERE a = ? AND b = 'x' AND c = 1", [a]);
    expect(await query("SELECT c, v, w FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([
      [1, 'x', 1],
    ]);
    await run("UPDATE k.t SET v = null, w = null WHERE a = ? AND b = 'x' AND c = 1", [a]);
    expect(await query("SELECT c FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([]);
    await run("INSERT INTO k.t (a, b, c) VALUES (?, 'x', 1)", [a]);
    expect(await query("SELECT c, v FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([[1, null]]);
  });

  test('null deletes a column, unset leaves it', async () => {
    const a = await fill(1);
    const insert = "INSERT INTO k.t (a, b, c, v, w) VALUES (?, 'x', 1, ?, ?)";
    await run(insert, [a, undefined, types.unset]);
    expect(await query("SELECT v, w FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([['v1', 10]]);
    await run(insert, [a, null, 7]);
    expect(await query("SELECT v, w FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([[null, 7]]);
  });

  test('the later timestamp wins, whatever comes last', async () => {
    const a = ++partitions;
    const insert = "INSERT INTO k.t (a, b, c, v, w) VALUES (?, 'x', 1, ?, ?) USING TIMESTAMP ?";
    await run(insert, [a, 'new', 1, types.Long.fromNumber(200)]);
    await run(insert, [a, 'old', 2, types.Long.fromNumber(100)]);
    await run("UPDATE k.t USING TIMESTAMP 150 SET w = 3 WHERE a = ? AND b = 'x' AND c = 1", [a]);
    await run("UPDATE k.t USING TIMESTAMP 250 SET w = 4 WHERE a = ? AND b = 'x' AND c = 1", [a]);
    expect(
      await query(
        "SELECT v, writetime(v) AS tv, w, writetime(w) AS tw FROM k.t WHERE a = ? AND b = 'x'",
        [a],
      ),
    ).toEqual([['new', types.Long.fromNumber(200), 4, types.Long.fromNumber(250)]]);
  });

  test.each([
    ['the row', "DELETE FROM k.t USING TIMESTAMP 100 WHERE a = ? AND b = 'x' AND c = 2"],
    ['a range', "DELETE FROM k.t USING TIMESTAMP 100 WHERE a = ? AND b = 'x' AND c > 1 AND c <= 2"],
    ['the partition', "DELETE FROM k.t USING TIMESTAMP 100 WHERE a = ? AND b = 'x'"],
  ])('a write older than a delete of %s stays hidden, in both orders', async (_, text) => {
    const write = (a: number, timestamp: number, v: string) =>
      run(`INSERT INTO k.t (a, b, c, v) VALUES (?, 'x', 2, ?) USING TIMESTAMP ${timestamp}`, [
        a,
        v,
      ]);
    const read = (a: number) => query("SELECT c, v FROM k.t WHERE a = ? AND b = 'x'", [a]);
    const [first, second, third] = [++partitions, ++partitions, ++partitions];
    await write(first, 50, 'old');
    await run(text, [first]);
    expect(await read(first)).toEqual([]);
    await run(text, [second]);
    await write(second, 50, 'old');
    await write(second, 100, 'as old');
    expect(await read(second)).toEqual([]);
    await write(second, 101, 'new');
    expect(await read(second)).toEqual([[2, 'new']]);
    await write(third, 150, 'kept');
    await run(text, [third]);
    expect(await read(third)).toEqual([[2, 'kept']]);
  });

  test('a range of rows is deleted, the others stay', async () => {
    const a = await fill(6);
    await run("DELETE FROM k.t WHERE a = ? AND b = 'x' AND c >= 2 AND c < 5", [a]);
    expect((await query("SELECT c FROM k.t WHERE a = ? AND b = 'x'", [a])).flat()).toEqual([
      6, 5, 1,
    ]);
    await run("DELETE v FROM k.t WHERE a = ? AND b = 'x' AND c IN (1, 6)", [a]);
    expect(await query("SELECT c, v, w FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([
      [6, null, 60],
      [5, 'v5', 50],
      [1, null, 10],
    ]);
    await run("DELETE FROM k.t WHERE a = ? AND b = 'x'", [a]);
    expect(await query("SELECT c FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([]);
  });

  test('rows that a deletion hides are removed, and the deletion is forgotten after its grace period', async () => {
    await client.execute(
      'CREATE TABLE k.g (a int, c int, v int, PRIMARY KEY (a, c)) WITH gc_grace_seconds = 100',
    );
    const stored = async () => {
      const database = server.service.databases.find('k');
      const container = database && server.service.containers.find(database, 'g');
      if (container === undefined) throw new Error('no such table');
      const range = { min: '', max: 'FF' };
      return (
        await server.service.items.scan(container, { range, includesInternal: true, limit: 100 })
      ).items.length;
    };
    for (let c = 0; c < 5; c++)
      await run('INSERT INTO k.g (a, c, v) VALUES (1, ?, 1) USING TIMESTAMP 10', [c]);
    expect(await stored()).toBe(5);
    await run('DELETE FROM k.g USING TIMESTAMP 20 WHERE a = 1 AND c >= 2');
    expect(await stored()).toBe(3);
    await run('DELETE FROM k.g USING TIMESTAMP 20 WHERE a = 1');
    expect(await stored()).toBe(1);
    await run('INSERT INTO k.g (a, c, v) VALUES (1, 1, 1) USING TIMESTAMP 15');
    expect([await stored(), await query('SELECT c FROM k.g WHERE a = 1')]).toEqual([1, []]);
    clock.advance(100_000);
    await run('DELETE FROM k.g USING TIMESTAMP 5 WHERE a = 1 AND c > 7');
    await run('INSERT INTO k.g (a, c, v) VALUES (1, 1, 1) USING TIMESTAMP 15');
    expect(await query('SELECT c FROM k.g WHERE a = 1')).toEqual([[1]]);
  });

  test('a cell with a time to live ends, the row stays', async () => {
    const a = await fill(1);
    await run("UPDATE k.t USING TTL 100 SET v = 'brief' WHERE a = ? AND b = 'x' AND c = 1", [a]);
    const read = () => query("SELECT v, ttl(v) AS left, w FROM k.t WHERE a = ? AND b = 'x'", [a]);
    expect(await read()).toEqual([['brief', 100, 10]]);
    clock.advance(60_000);
    expect(await read()).toEqual([['brief', 40, 10]]);
    clock.advance(40_000);
    expect(await read()).toEqual([[null, null, 10]]);
  });

  test('a row with a time to live ends', async () => {
    const a = ++partitions;
    await run("INSERT INTO k.t (a, b, c, v) VALUES (?, 'x', 1, 'brief') USING TTL 100", [a]);
    clock.advance(99_000);
    expect(await query("SELECT v FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([['brief']]);
    clock.advance(1000);
    expect(await query("SELECT v FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([]);
    await run("INSERT INTO k.t (a, b, c, v) VALUES (?, 'x', 1, 'again')", [a]);
    expect(await query("SELECT v FROM k.t WHERE a = ? AND b = 'x'", [a])).toEqual([['again']]);
  });

  test.each([
    ['at once', false],
    ['when it is removed', true],
  ])('a row that has ended hides what is older, %s', async (_, isSwept) => {
    await run(
      'CREATE TABLE IF NOT EXISTS k.brief (a int, c int, v text, m map<text, int>, PRIMARY KEY (a, c)) WITH gc_grace_seconds = 1000',
    );
    const a = ++partitions;
    for (let c = 1; c <= 5; c++)
      await run(
        "INSERT INTO k.brief (a, c, v, m) VALUES (?, ?, 'brief', {'x': 1}) USING TIMESTAMP 100 AND TTL 100",
        [a, c],
      );
    clock.advance(100_000);
    if (isSwept) await server.service.expirySweeper.round();
    const rows = () => query('SELECT c, v, m FROM k.brief WHERE a = ?', [a]);
    expect(await rows()).toEqual([]);
    const late = "INSERT INTO k.brief (a, c, v, m) VALUES (?, ?, 'late', {'x': 2}) USING TIMESTAMP";
    await run(`${late} 99`, [a, 1]);
    await run(`${late} 100`, [a, 2]);
    await run("UPDATE k.brief USING TIMESTAMP 99 SET m['y'] = 3 WHERE a = ? AND c = 3", [a]);
    // A map that is written whole hides its older elements; an element that is newer than that is new.
    expect(await rows()).toEqual([]);
    await run("UPDATE k.brief USING TIMESTAMP 101 SET m['y'] = 4 WHERE a = ? AND c = 3", [a]);
    await run(`${late} 101`, [a, 4]);
    const first = await run("INSERT INTO k.brief (a, c, v) VALUES (?, 5, 'new') IF NOT EXISTS", [
      a,
    ]);
    expect(first.wasApplied()).toBe(true);
    await client.execute(
      `BEGIN BATCH INSERT INTO k.brief (a, c, v) VALUES (${a}, 2, 'batch') USING TIMESTAMP 98; INSERT INTO k.brief (a, c, v) VALUES (${-a}, 2, 'batch') USING TIMESTAMP 98; APPLY BATCH`,
    );
    const kept = [
      [3, null, { y: 4 }],
      [4, 'late', { x: 2 }],
      [5, 'new', null],
    ];
    expect(await rows()).toEqual(kept);
    expect(await query('SELECT v FROM k.brief WHERE a = ?', [-a])).toEqual([['batch']]);
    clock.advance(1_000_000);
    await run(`${late} 97`, [a, 1]);
    expect(await rows()).toEqual([[1, 'late', { x: 2 }], ...kept]);
  });

  test('counters add up, from sixteen clients at once', async () => {
    await client.execute('CREATE TABLE k.hits (page text PRIMARY KEY, n counter)');
    const add = 'UPDATE k.hits SET n = n + ? WHERE page = ?';
    await Promise.all(
      Array.from({ length: 160 }, (_, at) =>
        run(add, [types.Long.fromNumber((at % 3) - 1), 'home']),
      ),
    );
    expect(await query("SELECT n FROM k.hits WHERE page = 'home'")).toEqual([
      [types.Long.fromNumber(-1)],
    ]);
    await run('UPDATE k.hits SET n = n - 5 WHERE page = ?', ['home']);
    expect(await query("SELECT n FROM k.hits WHERE page = 'home'")).toEqual([
      [types.Long.fromNumber(-6)],
    ]);
    await run("DELETE FROM k.hits WHERE page = 'home'");
    expect(await query("SELECT n FROM k.hits WHERE page = 'home'")).toEqual([]);
  });

  test('filters, limits and counts', async () => {
    const [a, b] = [await fill(4), await fill(3)];
    const where = `a IN (${a}, ${b}) AND b = 'x'`;
    expect(await query(`SELECT count(*) FROM k.t WHERE ${where}`)).toEqual([
      [types.Long.fromNumber(7)],
    ]);
    expect(
      await query(
        `SELECT a, c FROM k.t WHERE ${where} AND w >= 20 AND v > 'v1' AND v < 'v3' ALLOW FILTERING`,
      ),
    ).toEqual([
      [a, 2],
      [b, 2],
    ]);
    expect(await query(`SELECT a, c FROM k.t WHERE ${where} PER PARTITION LIMIT 1`)).toEqual([
      [a, 4],
      [b, 3],
    ]);
    expect(
      await query(`SELECT a, c FROM k.t WHERE ${where} PER PARTITION LIMIT 2 LIMIT 3`),
    ).toEqual([
      [a, 4],
      [a, 3],
      [b, 3],
    ]);
    expect(
      await query(`SELECT min(w), max(c), sum(w), avg(c) FROM k.t WHERE a = ${a} AND b = 'x'`),
    ).toEqual([[10, 4, 100, 2]]);
    await expect(run(`SELECT c FROM k.t WHERE ${where} AND w = 1`)).rejects.toThrow(
      /use ALLOW FILTERING/,
    );
  });
});
