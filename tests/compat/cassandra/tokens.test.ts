// Goal: token() is Cassandra's, ranges of tokens and full scans come in its order, paging survives splits.
// Method: cassandra-driver with its own tokenizer, on every engine, with partitions split between two pages.
import type { Client } from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES, startServer, type TestServer } from './harness.ts';

interface Tokens {
  newToken(components: Buffer[]): { getValue(): { toString(): string } };
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
      'CREATE TABLE k.t (a int, b text, c int, s int STATIC, v text, PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c DESC)',
    );
    for (let a = 0; a < 20; a++)
      for (let c = 0; c < 3; c++)
        await client.execute(
          'INSERT INTO k.t (a, b, c, s, v) VALUES (?, ?, ?, ?, ?)',
          [a, `p${a}`, c, a, 'x'],
          {
            prepare: true,
          },
        );
  });
  afterAll(async () => {
    expect(server.failures).toEqual([]);
    await server.close();
  });

  const container = () => {
    const database = server.service.databases.find('k');
    const found = database && server.service.containers.find(database, 't');
    if (found === undefined) throw new Error('no such table');
    return found;
  };
  const split = async (): Promise<void> => {
    const [first] = container().partitions;
    await server.service.resizer.split(container(), first?.id as string);
  };
  const rows = async (text: string, values: unknown[] = []) =>
    (await client.execute(text, values, { prepare: true })).rows;

  test('token() is what the driver computes', async () => {
    const { tokenizer } = client.metadata as unknown as {
      tokenizer: { hash(key: Buffer): unknown };
    };
    const found = await rows('SELECT a, b, token(a, b) AS t FROM k.t PER PARTITION LIMIT 1');
    expect(found.length).toBe(20);
    for (const { a, b, t } of found) {
      const text = Buffer.from(b as string);
      const key = Buffer.concat([
        Buffer.from([0, 4]),
        Buffer.from([0, 0, 0, a as number]),
        Buffer.from([0, 0, text.length]),
        text,
        Buffer.from([0]),
      ]);
      const expected = tokenizer.hash(key) as ReturnType<Tokens['newToken']>;
      expect(t.toString()).toBe(expected.getValue().toString());
    }
  });

  test('a full scan is in the order of tokens, in pages over splits', async () => {
    const before = container().partitions.length;
    for (const fetchSize of [7, 1]) {
      const seen: { a: number; c: number; s: number; t: bigint }[] = [];
      let pageState: string | undefined;
      let pages = 0;
      do {
        const page = await client.execute('SELECT a, c, s, token(a, b) AS t FROM k.t', [], {
          prepare: true,
          fetchSize,
          ...(pageState === undefined ? {} : { pageState }),
        });
        seen.push(...page.rows.map(({ a, c, s, t }) => ({ a, c, s, t: BigInt(t.toString()) })));
        pageState = page.pageState ?? undefined;
        if (++pages === 3) await split();
      } while (pageState !== undefined);
      expect(seen.length).toBe(60);
      expect(new Set(seen.map(({ a, c }) => `${a} ${c}`)).size).toBe(60);
      expect(seen.every(({ a, s }) => a === s)).toBe(true);
      for (let at = 1; at < seen.length; at++) {
        const [last, next] = [seen[at - 1], seen[at]];
        if (last === undefined || next === undefined) continue;
        expect(last.t < next.t || (last.a === next.a && last.c > next.c)).toBe(true);
      }
    }
    expect(container().partitions.length).toBe(before + 2);
  });

  test('slices of a partition in pages over a split', async () => {
    for (const [order, expected] of [
      ['DESC', [2, 1, 0]],
      ['ASC', [0, 1, 2]],
    ] as const) {
      const found: number[] = [];
      let pageState: string | undefined;
      do {
        const page = await client.execute(
          `SELECT c FROM k.t WHERE a = 4 AND b = 'p4' ORDER BY c ${order}`,
          [],
          {
            fetchSize: 1,
            ...(pageState === undefined ? {} : { pageState }),
          },
        );
        found.push(...page.rows.map(({ c }) => c as number));
        pageState = page.pageState ?? undefined;
        if (found.length === 1) await split();
      } while (pageState !== undefined);
      expect(found).toEqual(expected);
    }
  });

  test('ranges of tokens divide the rows', async () => {
    const all = (await rows('SELECT a, token(a, b) AS t FROM k.t PER PARTITION LIMIT 1')).map(
      ({ a, t }) => ({
        a: a as number,
        t: BigInt(t.toString()),
      }),
    );
    const middle = all[9]?.t as bigint;
    const range = async (where: string) =>
      (await rows(`SELECT DISTINCT a, b FROM k.t WHERE ${where}`)).map(({ a }) => a);
    const expected = (matches: (t: bigint) => boolean) =>
      all.filter(({ t }) => matches(t)).map(({ a }) => a);
    expect(await range(`token(a, b) > ${middle}`)).toEqual(expected((t) => t > middle));
    expect(await range(`token(a, b) >= ${middle}`)).toEqual(expected((t) => t >= middle));
    expect(await range(`token(a, b) < ${middle}`)).toEqual(expected((t) => t < middle));
    expect(await range(`token(a, b) <= ${middle}`)).toEqual(expected((t) => t <= middle));
    expect(await range(`token(a, b) = ${middle}`)).toEqual([all[9]?.a]);
    expect(await range(`token(a, b) > ${middle} AND token(a, b) <= ${middle}`)).toEqual([]);
    expect(
      await range(
        `token(a, b) >= token(${all[3]?.a}, 'p${all[3]?.a}') AND token(a, b) < ${middle}`,
      ),
    ).toEqual(all.slice(3, 9).map(({ a }) => a));
    expect(
      await range('token(a, b) >= -9223372036854775808 AND token(a, b) <= 9223372036854775807'),
    ).toEqual(all.map(({ a }) => a));
  });

  test('sixteen clients write, page and compare and set while partitions split', async () => {
    await client.execute('CREATE TABLE k.growing (a int, c int, n counter, PRIMARY KEY (a, c))');
    await client.execute('CREATE TABLE k.registers (a int PRIMARY KEY, n int)');
    const table = () => {
      const database = server.service.databases.find('k');
      const found = database && server.service.containers.find(database, 'growing');
      if (found === undefined) throw new Error('no such table');
      return found;
    };
    const registers = () => {
      const database = server.service.databases.find('k');
      const found = database && server.service.containers.find(database, 'registers');
      if (found === undefined) throw new Error('no such table');
      return found;
    };
    const execute = (text: string, values: readonly unknown[]) =>
      client.execute(text, [...values], { prepare: true });
    // Each client adds one to every register; what others have done meanwhile is seen, never lost.
    const REGISTERS = 8;
    const compareAndSet = async (writer: number): Promise<void> => {
      for (let step = 0; step < REGISTERS; step++) {
        const a = (writer + step) % REGISTERS;
        let expected = 0;
        for (;;) {
          const { rows } = await execute('UPDATE k.registers SET n = ? WHERE a = ? IF n = ?', [
            expected + 1,
            a,
            expected,
          ]);
          if (rows[0]?.['[applied]'] === true) break;
          expected = rows[0]?.n as number;
        }
      }
    };
    for (let a = 0; a < REGISTERS; a++)
      await execute('INSERT INTO k.registers (a, n) VALUES (?, 0) IF NOT EXISTS', [a]);
    const written = new Set<string>();
    let isWriting = true;
    const write = async (writer: number): Promise<void> => {
      for (let c = 0; c < 12; c++) {
        const [a, row] = [(writer * 5 + c) % 48, c % 3];
        await client.execute('UPDATE k.growing SET n = n + 1 WHERE a = ? AND c = ?', [a, row], {
          prepare: true,
        });
        written.add(`${a} ${row}`);
      }
    };
    const page = async (): Promise<void> => {
      do {
        const before = [...written];
        const found: string[] = [];
        let pageState: string | undefined;
        do {
          const next = await client.execute('SELECT a, c FROM k.growing', [], {
            prepare: true,
            fetchSize: 7,
            ...(pageState === undefined ? {} : { pageState }),
          });
          found.push(...next.rows.map(({ a, c }) => `${a} ${c}`));
          pageState = next.pageState ?? undefined;
        } while (pageState !== undefined);
        const all = new Set(found);
        expect(found.length).toBe(all.size);
        expect(before.filter((key) => !all.has(key))).toEqual([]);
      } while (isWriting);
    };
    const divide = async (): Promise<void> => {
      for (let count = 0; count < 3; count++) {
        const last = table().partitions.at(-1);
        await server.service.resizer.split(table(), last?.id as string);
        if (count === 1)
          await server.service.resizer.split(registers(), registers().partitions[0]?.id as string);
      }
    };
    // A partition of one key cannot be split.
    for (let a = 0; a < 48; a++) {
      await client.execute('UPDATE k.growing SET n = n + 0 WHERE a = ? AND c = 0', [a], {
        prepare: true,
      });
      written.add(`${a} 0`);
    }
    const pages = page();
    const clients = Array.from({ length: 16 }, async (_, writer) => {
      await write(writer);
      await compareAndSet(writer);
    });
    await Promise.all([divide(), ...clients]);
    isWriting = false;
    await pages;
    expect(table().partitions.length).toBe(4);
    expect(registers().partitions.length).toBe(2);
    const counted = await client.execute('SELECT n FROM k.registers');
    expect(counted.rows.map(({ n }) => n)).toEqual(Array.from({ length: REGISTERS }, () => 16));
    const { rows: all } = await client.execute(
      'SELECT sum(n) AS total, count(*) AS count FROM k.growing',
    );
    expect(all.map(({ total, count }) => [total.toNumber(), count.toNumber()])).toEqual([
      [192, written.size],
    ]);
  });
});
