// Goal: keys that share their first 512 bytes come in their own order, and pages lose none of them.
// Method: entities with keys of 400 letters of two bytes and one that differs, read through the stock client in pages.
import type { TableClient } from '@azure/data-tables';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, MODES, startAccount } from './harness.ts';

const LONG = 'é'.repeat(400);
const LETTERS = [...'hagbfced'];
const KEYS = [
  ...LETTERS.map((letter) => ({ partitionKey: `${LONG}${letter}`, rowKey: 'row' })),
  ...LETTERS.map((letter) => ({ partitionKey: 'one', rowKey: `${LONG}${letter}` })),
  ...LETTERS.map((letter) => ({ partitionKey: `${LONG}x`, rowKey: `${LONG}${letter}` })),
];
const inOrder = (keys: typeof KEYS): string[] =>
  keys.map(({ partitionKey, rowKey }) => `${partitionKey} ${rowKey}`).sort();

describe.each(MODES)('%s', (mode) => {
  let account: Account;
  let table: TableClient;

  beforeAll(async () => {
    account = await startAccount({ settings: { partitionThroughputLimit: 100 } });
    table = account.table(mode, 'long');
    await table.createTable();
    for (const key of KEYS) await table.createEntity(key);
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  async function keys(maxPageSize: number, filter = ''): Promise<string[]> {
    const found: string[] = [];
    const queryOptions = filter === '' ? {} : { filter };
    const pages = table.listEntities({ queryOptions }).byPage({ maxPageSize });
    for await (const page of pages)
      for (const { partitionKey, rowKey } of page) found.push(`${partitionKey} ${rowKey}`);
    return found;
  }

  test.each([1, 3, 7, 100])('8 inserted, 6 returned: pages of %i lose no rows', async (size) => {
    expect(await keys(size)).toEqual(inOrder(KEYS));
    const ofOne = KEYS.filter(({ partitionKey }) => partitionKey === 'one');
    expect(await keys(size, "PartitionKey eq 'one'")).toEqual(inOrder(ofOne));
    const ofLong = KEYS.filter(({ partitionKey }) => partitionKey === `${LONG}x`);
    expect(await keys(size, `PartitionKey eq '${LONG}x'`)).toEqual(inOrder(ofLong));
    const later = KEYS.filter(({ rowKey }) => rowKey > `${LONG}c`);
    expect(await keys(size, `RowKey gt '${LONG}c'`)).toEqual(inOrder(later));
  });
});
