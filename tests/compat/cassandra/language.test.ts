// Goal: the language beyond keys and plain columns. Method: cassandra-driver; tables of statements and what they return.
import { type Client, types } from 'cassandra-driver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './harness.ts';

let server: TestServer;
let client: Client;
let tables = 0;

beforeAll(async () => {
  server = await startServer();
  client = await server.connect();
  await client.execute(
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  );
});

afterAll(async () => {
  expect(server.failures).toEqual([]);
  await server.close();
});

/** A table of its own; `%` in statements is its name. */
async function table(columns: string): Promise<{
  run(text: string, values?: unknown[]): Promise<unknown[][]>;
  fails(text: string): Promise<string>;
}> {
  const name = `k.t${++tables}`;
  await client.execute(`CREATE TABLE ${name} ${columns}`);
  const execute = (text: string, values: unknown[]) =>
    client.execute(text.replaceAll('%', name), values, { prepare: values.length > 0 });
  return {
    run: async (text, values = []) =>
      ((await execute(text, values)).rows ?? []).map((row) => Object.values(row)),
    fails: (text) =>
      execute(text, []).then(
        () => 'no error',
        (error: Error) => error.message,
      ),
  };
}

test('types of clients: fields are written, read, deleted, added and renamed', async () => {
  await client.execute('CREATE TYPE k.place (street text, number int)');
  const { run, fails } = await table('(a int PRIMARY KEY, p place, f frozen<place>)');
  await run("INSERT INTO % (a, p, f) VALUES (1, {street: 'x', number: 1}, {street: 'y'})");
  await run('UPDATE % SET p.number = 2 WHERE a = 1');
  expect(await run('SELECT p.street, p.number, f.number FROM %')).toEqual([['x', 2, null]]);
  await run('DELETE p.street FROM % WHERE a = 1');
  await client.execute('ALTER TYPE k.place ADD town text');
  await client.execute('ALTER TYPE k.place RENAME number TO nr');
  expect(await run('SELECT p.street, p.nr, p.town FROM %')).toEqual([[null, 2, null]]);
  expect(await fails('UPDATE % SET f.nr = 2 WHERE a = 1')).toMatch(/for frozen UDT column f$/);
  expect(await fails('DROP TYPE k.place')).toBe(
    `Cannot drop user type 'k.place' as it is still used by tables t${tables}`,
  );
});

test('lists: prepended, appended, by index and by value', async () => {
  const { run, fails } = await table('(a int PRIMARY KEY, l list<int>)');
  expect(await fails('UPDATE % SET l[0] = 1 WHERE a = 1')).toBe(
    'Attempted to set an element on a list which is null',
  );
  await run('UPDATE % SET l = l + [3, 4] WHERE a = 1');
  await run('UPDATE % SET l = [1, 2] + l WHERE a = 1');
  await run(
    'BEGIN BATCH UPDATE % SET l = l + [5] WHERE a = 1; UPDATE % SET l = l + [6] WHERE a = 1; APPLY BATCH',
  );
  expect(await run('SELECT l FROM %')).toEqual([[[1, 2, 3, 4, 5, 6]]]);
  await run('UPDATE % SET l[0] = 9 WHERE a = 1');
  await run('DELETE l[1] FROM % WHERE a = 1');
  await run('UPDATE % SET l = l - [5, 6] WHERE a = 1');
  expect(await run('SELECT l FROM %')).toEqual([[[9, 3, 4]]]);
  expect(await fails('DELETE l[7] FROM % WHERE a = 1')).toBe(
    'List index 7 out of bound, list has size 3',
  );
});

test('conditions on elements, fields, IN and CONTAINS', async () => {
  await client.execute('CREATE TYPE k.pair (x int, y int)');
  const { run } = await table('(a int PRIMARY KEY, m map<text, int>, l list<int>, p pair, v int)');
  await run("INSERT INTO % (a, m, l, p, v) VALUES (1, {'k': 1}, [1, 2], {x: 1, y: 2}, 1)");
  const applied = async (condition: string): Promise<unknown> =>
    (await run(`UPDATE % SET v = 2 WHERE a = 1 IF ${condition}`))[0]?.[0];
  for (const [condition, expected] of [
    ["m['k'] = 1", true],
    ["m['none'] = null", true],
    ['l[1] > 2', false],
    ['l[5] = null', true],
    ['p.x IN (1, 2)', true],
    ['p.y != 2', false],
    ['l CONTAINS 2', true],
    ["m CONTAINS KEY 'none'", false],
    ['v IN (2, null) AND l = [1, 2]', true],
  ] as const)
    expect([condition, await applied(condition)]).toEqual([condition, expected]);
  expect(await run('UPDATE % SET v = 3 WHERE a = 1 IF v = 7')).toEqual([[false, 2]]);
});

test('indexes on every kind of column answer without ALLOW FILTERING', async () => {
  const { run, fails } = await table(
    '(a int, b int, c int, s int STATIC, v int, l list<int>, m map<text, int>, PRIMARY KEY ((a, b), c))',
  );
  for (const target of ['a', 'c', 's', 'v', 'l', 'keys(m)', 'entries(m)'])
    await run(`CREATE INDEX ON % (${target})`);
  for (let at = 1; at <= 3; at++)
    await run('INSERT INTO % (a, b, c, s, v, l, m) VALUES (?, 1, ?, ?, ?, ?, ?)', [
      at,
      at,
      at,
      at % 2,
      [at],
      { k: at },
    ]);
  for (const [condition, expected] of [
    ['a = 2', 1],
    ['c = 3', 1],
    ['s = 1', 1],
    ['v = 1', 2],
    ['l CONTAINS 2', 1],
    ["m CONTAINS KEY 'k'", 3],
    ["m['k'] = 3", 1],
    ['a = 1 AND b = 1 AND v = 1', 1],
  ] as const)
    expect([condition, (await run(`SELECT c FROM % WHERE ${condition}`)).length]).toEqual([
      condition,
      expected,
    ]);
  expect(await fails('SELECT * FROM % WHERE v = 1 AND s = 1')).toMatch(/use ALLOW FILTERING$/);
  expect(await fails('SELECT * FROM % WHERE m CONTAINS 1')).toMatch(/use ALLOW FILTERING$/);
  expect(await fails('CREATE INDEX ON % (v)')).toMatch(/is a duplicate of existing index/);
  expect(await fails('ALTER TABLE % DROP v')).toMatch(/because it has dependent secondary indexes/);
});

test('groups, aggregates, casts and arithmetic', async () => {
  const { run, fails } = await table('(a int, b int, c int, d decimal, PRIMARY KEY (a, b, c))');
  for (const [a, b, c] of [
    [1, 1, 1],
    [1, 1, 2],
    [1, 2, 3],
    [2, 1, 4],
  ])
    await run(`INSERT INTO % (a, b, c, d) VALUES (${a}, ${b}, ${c}, ${c}.50)`);
  expect(
    await run('SELECT a, b, count(*), sum(c), max(c) FROM % WHERE a IN (1, 2) GROUP BY a, b'),
  ).toEqual([
    [1, 1, types.Long.fromNumber(2), 3, 2],
    [1, 2, types.Long.fromNumber(1), 3, 3],
    [2, 1, types.Long.fromNumber(1), 4, 4],
  ]);
  const [sums] = await run(
    'SELECT c + 1, c * 2.5, -c, c % 2, CAST(c AS text), CAST(d AS int), [c, b], (a, c) FROM % WHERE a = 2'.replace(
      'c % 2',
      'c - 2',
    ),
  );
  expect(sums?.map(String)).toEqual(['5', '10', '-4', '2', '4', '4', '4,1', '(2,4)']);
  expect(await fails('SELECT a / 0 FROM %')).toBe("the operation 'int / int' failed: / by zero");
  expect(await fails('SELECT a, count(*) FROM % GROUP BY c')).toMatch(
    /declared order in the PRIMARY KEY$/,
  );
  expect(await fails('SELECT sum(nothing) FROM %')).toMatch(/^Undefined column name nothing/);
});

test('elements, slices and JSON', async () => {
  const { run, fails } = await table(
    '(a int PRIMARY KEY, m map<text, int>, s set<int>, "B" double)',
  );
  await run(
    `INSERT INTO % JSON '{"a": 1, "m": {"x": 1, "y": 2, "z": 3}, "s": [3, 1, 2], "\\"B\\"": 1.5}'`,
  );
  expect(await run("SELECT m['y'], m['x'..'y'], s[2..] FROM %")).toEqual([
    [2, { x: 1, y: 2 }, [2, 3]],
  ]);
  expect(await run('SELECT JSON * FROM %')).toEqual([
    ['{"a": 1, "\\"B\\"": 1.5, "m": {"x": 1, "y": 2, "z": 3}, "s": [1, 2, 3]}'],
  ]);
  await run(`INSERT INTO % JSON '{"a": 1, "s": [7]}' DEFAULT UNSET`);
  expect(await run('SELECT toJson(s), "B" FROM %')).toEqual([['[7]', 1.5]]);
  expect(await fails(`INSERT INTO % JSON '{"a": "x"}'`)).toBe(
    "Error decoding JSON value for a: Unable to make int from 'x'",
  );
  expect(await fails(`INSERT INTO % JSON '{"a": 1, "none": 2}'`)).toBe(
    'JSON values map contains unrecognized column: none',
  );
});

test('columns that are dropped hide what was written to them; keys are renamed', async () => {
  const { run, fails } = await table('(a int, b int, v int, l list<int>, PRIMARY KEY (a, b))');
  await run('UPDATE % SET v = 1, l = [1] WHERE a = 1 AND b = 1');
  await run('INSERT INTO % (a, b, v) VALUES (1, 2, 2)');
  await run('ALTER TABLE % DROP (v, l)');
  expect(await run('SELECT * FROM %')).toEqual([[1, 2]]);
  await run('ALTER TABLE % ADD v int');
  await run('ALTER TABLE % RENAME b TO c');
  await run('UPDATE % SET v = 3 WHERE a = 1 AND c = 1');
  expect(await run('SELECT a, c, v FROM %')).toEqual([
    [1, 1, 3],
    [1, 2, null],
  ]);
  expect(await fails('ALTER TABLE % ADD l list<text>')).toMatch(
    /^Cannot re-add previously dropped column 'l'/,
  );
});

test('writes and deletions end in the same rows in whatever order they arrive', async () => {
  const writes = [
    "INSERT INTO % (a, b, v, m) VALUES (1, 1, 'first', {1: 1, 2: 2}) USING TIMESTAMP 10",
    "UPDATE % USING TIMESTAMP 20 SET m[3] = 3, v = 'second' WHERE a = 1 AND b = 1",
    'DELETE m[1] FROM % USING TIMESTAMP 15 WHERE a = 1 AND b = 1',
    'DELETE v FROM % USING TIMESTAMP 20 WHERE a = 1 AND b = 1',
    "INSERT INTO % (a, b, v) VALUES (1, 2, 'gone') USING TIMESTAMP 30",
    'DELETE FROM % USING TIMESTAMP 40 WHERE a = 1 AND b > 1',
    "INSERT INTO % (a, b, v) VALUES (1, 3, 'kept') USING TIMESTAMP 41",
    "UPDATE % USING TIMESTAMP 25 SET s = 'static' WHERE a = 1",
    'DELETE FROM % USING TIMESTAMP 12 WHERE a = 1',
  ];
  const seen = new Set<string>();
  for (let turn = 0; turn < writes.length; turn++) {
    const { run } = await table(
      '(a int, b int, s text STATIC, v text, m map<int, int>, PRIMARY KEY (a, b))',
    );
    // Rotated, and every other time backwards.
    const rotated = [...writes.slice(turn), ...writes.slice(0, turn)];
    for (const write of turn % 2 === 0 ? rotated : rotated.reverse()) await run(write);
    seen.add(JSON.stringify(await run('SELECT b, s, v, m FROM %')));
  }
  expect([...seen]).toEqual([
    JSON.stringify([
      [1, 'static', null, { 3: 3 }],
      [3, 'static', 'kept', null],
    ]),
  ]);
});
