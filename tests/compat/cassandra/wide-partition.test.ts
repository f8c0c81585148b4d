// Goal: a wide partition takes writes, pages and lightweight transactions of many clients while its table is split, and
// is refused beyond the limit of a partition key. Method: cassandra-driver, splits by the service, a lowered limit.
import type { Client } from 'cassandra-driver';
import { afterEach, expect, test } from 'vitest';
import { ENGINES, type ServerOptions, startServer, type TestServer } from './harness.ts';

let server: TestServer;
let client: Client;
afterEach(async () => {
  expect(server.failures).toEqual([]);
  await server.close();
});

async function open(options: ServerOptions): Promise<void> {
  server = await startServer(options);
  client = await server.connect();
  await client.execute(
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
  );
  await client.execute(
    'CREATE TABLE k.wide (a int, c int, n int, v text, s int STATIC, PRIMARY KEY (a, c))',
  );
}

const run = (text: string, values: unknown[] = []) =>
  client.execute(text, values, { prepare: true });

function table() {
  const database = server.service.databases.find('k');
  const found = database && server.service.containers.find(database, 'wide');
  if (found === undefined) throw new Error('no such table');
  return found;
}

const [CLIENTS, ROWS, OTHERS] = [16, 8, 40];

test.each(ENGINES)(
  'sixteen clients on a wide partition while it moves, engine %s',
  async (engine) => {
    await open({ engine });
    // A partition of one key cannot be split.
    for (let a = 0; a <= OTHERS; a++)
      await run('INSERT INTO k.wide (a, c, n, s) VALUES (?, -1, 0, 0)', [a]);
    const written = new Set<number>([-1]);
    let isOver = false;
    const write = async (writer: number): Promise<void> => {
      for (let row = 0; row < ROWS; row++) {
        const c = row * CLIENTS + writer;
        const inserted = await run('INSERT INTO k.wide (a, c, n) VALUES (0, ?, 1) IF NOT EXISTS', [
          c,
        ]);
        expect(inserted.wasApplied()).toBe(true);
        written.add(c);
        const again = await run('INSERT INTO k.wide (a, c, n) VALUES (0, ?, 2) IF NOT EXISTS', [c]);
        expect([again.wasApplied(), again.first().n]).toEqual([false, 1]);
        for (let isApplied = false; !isApplied; ) {
          const { n } = (await run('SELECT n FROM k.wide WHERE a = 0 AND c = -1')).first();
          const text = 'UPDATE k.wide SET n = ? WHERE a = 0 AND c = -1 IF n = ?';
          isApplied = (await run(text, [n + 1, n])).wasApplied();
        }
      }
    };
    /** Again and again: in order, each row once, and all rows that were there when it began. */
    const page = async (): Promise<void> => {
      do {
        const before = [...written];
        const found = await pages();
        expect(found).toEqual([...new Set(found)].sort((x, y) => x - y));
        const all = new Set(found);
        expect(before.filter((c) => !all.has(c))).toEqual([]);
      } while (!isOver);
    };
    const split = async (): Promise<void> => {
      // Always the one that the wide partition is in, or its neighbour: both moves of it are seen.
      for (let count = 0; count < 3; count++)
        await server.service.resizer.split(table(), table().partitions[0]?.id as string);
    };
    const pagers = [page(), page()];
    const writers = Array.from({ length: CLIENTS }, (_, writer) => write(writer));
    await Promise.all([split(), ...writers]);
    isOver = true;
    await Promise.all(pagers);
    expect(table().partitions.length).toBe(4);
    const expected = [-1, ...Array.from({ length: CLIENTS * ROWS }, (_, c) => c)];
    expect(await pages()).toEqual(expected);
    const { rows } = await run('SELECT a, c, n FROM k.wide WHERE c = -1 ALLOW FILTERING');
    expect(rows.map(({ a, n }) => [a, n]).sort(([x], [y]) => x - y)).toEqual(
      Array.from({ length: OTHERS + 1 }, (_, a) => [a, a === 0 ? CLIENTS * ROWS : 0]),
    );
  },
);

async function pages(): Promise<readonly number[]> {
  const found: number[] = [];
  let pageState: string | undefined;
  do {
    const next = await client.execute('SELECT c FROM k.wide WHERE a = 0', [], {
      prepare: true,
      fetchSize: 17,
      ...(pageState === undefined ? {} : { pageState }),
    });
    found.push(...next.rows.map(({ c }) => c));
    pageState = next.pageState ?? undefined;
  } while (pageState !== undefined);
  return found;
}

const LIMIT = 64 * 1024;
const FULL = { code: 0x2200, message: 'Partition key reached maximum size of 64 KB' };

test('a partition beyond the limit of its key is refused, and what is there stays of use', async () => {
  await open({ settings: { partitionStorageLimit: LIMIT, logicalPartitionLimit: LIMIT } });
  const filler = 'x'.repeat(1000);
  const text = 'INSERT INTO k.wide (a, c, v) VALUES (?, ?, ?)';
  let count = 0;
  let refusal: unknown;
  // Sizes are looked at in the background: the refusal may come some rows late, never early.
  for (; count < 200 && refusal === undefined; count++) {
    refusal = await run(text, [1, count, filler]).then(
      () => undefined,
      (error) => error,
    );
    await server.service.balancer.whenIdle();
  }
  const kept = count - 1;
  expect(refusal).toMatchObject(FULL);
  expect(kept).toBeGreaterThan(30);
  expect(kept).toBeLessThan(64);
  const conditional = run(`${text} IF NOT EXISTS`, [1, 1000, filler]);
  await expect(conditional).rejects.toMatchObject(FULL);
  const batch = [1001, 1002].map((c) => ({ query: text, params: [1, c, filler] }));
  await expect(client.batch(batch, { prepare: true })).rejects.toMatchObject(FULL);
  const counted = () => run('SELECT count(*) AS n FROM k.wide WHERE a = 1');
  expect(Number((await counted()).first().n)).toBe(kept);
  // Other keys are not full, and rows that are deleted make room.
  await run(text, [2, 0, filler]);
  for (let c = 0; c < 10; c++) await run('DELETE FROM k.wide WHERE a = 1 AND c = ?', [c]);
  await server.service.balancer.whenIdle();
  await run(text, [1, 1003, filler]);
  expect(Number((await counted()).first().n)).toBe(kept - 9);
});
