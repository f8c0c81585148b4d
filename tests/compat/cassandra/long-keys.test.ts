// Goal: clustering columns that share their first 1,900 bytes come in their own order, both ways, in pages and slices.
// Method: cassandra-driver; texts of 2,500 bytes that differ at their end, with a second column that descends.
import type { Client } from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES, startServer, type TestServer } from './harness.ts';

const LONG = 'x'.repeat(2500);
const TEXTS = ['', 'w', ...'hagbfced'.split('').map((letter) => `${LONG}${letter}`), 'y'];
const IN_ORDER = [...TEXTS].sort().flatMap((text) => [`${text} 2`, `${text} 1`]);

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
      'CREATE TABLE k.t (p int, c text, d int, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c ASC, d DESC)',
    );
    for (const text of TEXTS)
      for (const d of [1, 2])
        await client.execute('INSERT INTO k.t (p, c, d) VALUES (1, ?, ?)', [text, d], {
          prepare: true,
        });
  });
  afterAll(async () => {
    expect(server.failures).toEqual([]);
    await server.close();
  });

  async function keys(rest: string, values: unknown[], fetchSize: number): Promise<string[]> {
    const found: string[] = [];
    let pageState: string | undefined;
    do {
      const options = { prepare: true, fetchSize, ...(pageState && { pageState }) };
      const text = `SELECT c, d FROM k.t WHERE p = 1 ${rest}`;
      const page = await client.execute(text, values, options);
      found.push(...page.rows.map((row) => `${row.c} ${row.d}`));
      pageState = page.pageState ?? undefined;
    } while (pageState !== undefined);
    return found;
  }

  test.each([1, 3, 100])('in pages of %i', async (size) => {
    expect(await keys('', [], size)).toEqual(IN_ORDER);
    expect(await keys('ORDER BY c DESC, d ASC', [], size)).toEqual(IN_ORDER.toReversed());
    const behind = IN_ORDER.slice(IN_ORDER.indexOf(`${LONG}c 1`) + 1);
    expect(await keys('AND c > ?', [`${LONG}c`], size)).toEqual(behind);
    expect(await keys('AND c = ? AND d < 2', [`${LONG}c`], size)).toEqual([`${LONG}c 1`]);
  });
});
