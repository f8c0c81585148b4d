// Goal: partitions split while clients write and page: nothing lost, nothing twice; throughput per table. Method: stock client.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Account, startAccount } from './harness.ts';

let account: Account;
beforeAll(async () => {
  account = await startAccount({
    settings: { partitionStorageLimit: 64 * 1024, logicalPartitionLimit: 2 ** 30 },
  });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

function container(name: string) {
  const database = account.service.databases.find('TablesDB');
  const found = database && account.service.containers.find(database, name);
  if (found === undefined) throw new Error('no such table');
  return found;
}

const WRITERS = 16;
const ROWS = 24;

test('sixteen writers and pagers while partitions split', async () => {
  const table = account.table('storage', 'growing');
  await table.createTable();
  const written = new Set<string>();
  const filler = 'x'.repeat(500);
  let isWriting = true;
  const write = async (writer: number): Promise<void> => {
    for (let row = 0; row < ROWS; row++) {
      const partitionKey = `${writer}-${row % 4}`;
      const rowKey = String(row).padStart(4, '0');
      await table.createEntity({ partitionKey, rowKey, filler, id0: randomUUID() });
      written.add(`${partitionKey} ${rowKey}`);
    }
  };
  /** Pages through everything again and again: in order, each once, all that was there when it began. */
  const page = async (): Promise<number> => {
    let rounds = 0;
    do {
      const before = [...written];
      const found: string[] = [];
      for await (const some of table.listEntities().byPage({ maxPageSize: 13 }))
        found.push(...some.map(({ partitionKey, rowKey }) => `${partitionKey} ${rowKey}`));
      expect(found).toEqual([...new Set(found)].sort());
      const all = new Set(found);
      expect(before.filter((key) => !all.has(key))).toEqual([]);
      rounds++;
    } while (isWriting);
    return rounds;
  };
  const pagers = [page(), page()];
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  isWriting = false;
  await Promise.all(pagers);
  expect(written.size).toBe(WRITERS * ROWS);
  // The first split may still be under way.
  await vi.waitUntil(() => container('growing').partitions.length > 1, { timeout: 200_000 });
  const found: string[] = [];
  for await (const { partitionKey, rowKey } of table.listEntities())
    found.push(`${partitionKey} ${rowKey}`);
  expect(found).toEqual([...written].sort());
});

test('a continuation from before a split continues after it', async () => {
  const table = account.table('storage', 'divided');
  await table.createTable();
  for (let partition = 0; partition < 10; partition++)
    await table.submitTransaction(
      Array.from({ length: 10 }, (_, row) => [
        'create',
        { partitionKey: `p${partition}`, rowKey: `r${row}` },
      ]),
    );
  const first = await table.listEntities().byPage({ maxPageSize: 37 }).next();
  const { continuationToken } = first.value;
  const record = container('divided');
  await account.service.resizer.split(record, '0');
  expect(container('divided').partitions.length).toBe(2);
  const found = first.value.map((row: { partitionKey: string }) => row.partitionKey).length;
  let rest = 0;
  for await (const page of table.listEntities().byPage({ maxPageSize: 37, continuationToken }))
    rest += page.length;
  expect([found, rest]).toEqual([37, 63]);
});
