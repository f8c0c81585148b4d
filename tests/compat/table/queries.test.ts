// Goal: filters, order and pages, and that indexes serve them. Method: a table of filters, against plain code; raw pages.

import type { TableClient } from '@azure/data-tables';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';
import { sendRaw } from './raw-request.ts';

let account: Account;
let table: TableClient;
const GUID = '73ffd264-44b3-4c69-90e8-e7d1dfc035d4';

beforeAll(async () => {
  account = await startAccount({ settings: { partitionThroughputLimit: 1000 } });
  table = account.table('storage', 'query');
  await sendRaw(account, {
    method: 'POST',
    path: '/Tables',
    body: { TableName: 'query' },
    headers: { 'x-ms-offer-throughput': '4000' },
  });
  for (const partition of ['b', 'a', 'c'])
    for (let row = 0; row < 20; row++)
      await table.createEntity({
        partitionKey: partition,
        rowKey: String(row).padStart(3, '0'),
        int: row,
        long: BigInt(row) * 1_000_000_000_000_000n,
        double: { type: 'Double', value: row / 2 },
        text: `t${row % 5}`,
        flag: row % 2 === 0,
        when: {
          type: 'DateTime',
          value: `2020-01-01T00:00:00.00000${String(row).padStart(2, '0')}Z`,
        },
        guid: { type: 'Guid', value: row === 7 ? GUID : GUID.replace('7', '0') },
        bytes: new Uint8Array([row, 255 - row]),
        ...(row % 4 === 0 ? { rare: row } : {}),
      });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function keys(filter: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { partitionKey, rowKey } of table.listEntities({ queryOptions: { filter } }))
    found.push(`${partitionKey}${rowKey}`);
  return found;
}

function expected(matches: (partition: string, row: number) => boolean): string[] {
  const found: string[] = [];
  for (const partition of ['a', 'b', 'c'])
    for (let row = 0; row < 20; row++)
      if (matches(partition, row)) found.push(`${partition}${String(row).padStart(3, '0')}`);
  return found;
}

const FILTERS: readonly (readonly [string, (partition: string, row: number) => boolean])[] = [
  ["PartitionKey eq 'b'", (p) => p === 'b'],
  ["PartitionKey eq 'b' and RowKey ge '015'", (p, r) => p === 'b' && r >= 15],
  ["PartitionKey eq 'b' and RowKey eq '007'", (p, r) => p === 'b' && r === 7],
  ["PartitionKey gt 'a' and RowKey lt '003'", (p, r) => p > 'a' && r < 3],
  ["PartitionKey eq 'a' or PartitionKey eq 'c'", (p) => p !== 'b'],
  ["(PartitionKey eq 'a' or PartitionKey eq 'c') and int eq 4", (p, r) => p !== 'b' && r === 4],
  ['int eq 7', (_, r) => r === 7],
  ['int ne 7', (_, r) => r !== 7],
  ['int gt 17', (_, r) => r > 17],
  ['3 gt int', (_, r) => r < 3],
  ['int eq 7.0', (_, r) => r === 7],
  ['int eq 7L', (_, r) => r === 7],
  ['double eq 2', (_, r) => r === 4],
  ['double ge 9.5', (_, r) => r >= 19],
  ['long gt 18000000000000000L', (_, r) => r > 18],
  ["text eq 't3'", (_, r) => r % 5 === 3],
  ["text ne 't3' and int lt 4", (_, r) => r % 5 !== 3 && r < 4],
  ['flag', (_, r) => r % 2 === 0],
  ['not flag', (_, r) => r % 2 !== 0],
  ['flag eq false and int lt 4', (_, r) => r % 2 !== 0 && r < 4],
  ['not (int lt 18)', (_, r) => r >= 18],
  ["when eq datetime'2020-01-01T00:00:00.0000007Z'", (_, r) => r === 7],
  ["when gt datetime'2020-01-01T00:00:00.0000017Z'", (_, r) => r > 17],
  [`guid eq guid'${GUID.toUpperCase()}'`, (_, r) => r === 7],
  ["bytes eq X'07f8'", (_, r) => r === 7],
  ["bytes gt binary'11ff'", (_, r) => r > 17],
  ['rare ge 0', (_, r) => r % 4 === 0],
  ['rare ne 0', (_, r) => r % 4 === 0 && r !== 0],
  // Another type than the property's, or no such property: no match, whatever the comparator.
  ["int eq '7'", () => false],
  ["int ne '7'", () => false],
  ['missing ne 1', () => false],
  ["when eq '2020-01-01T00:00:00.0000007Z'", () => false],
  ["text gt 't0' and text lt 't2'", (_, r) => r % 5 === 1],
];

test.each(FILTERS)('%s', async (filter, matches) => {
  expect(await keys(filter)).toEqual(expected(matches));
});

test('pages of every size give everything once and in order', async () => {
  for (const maxPageSize of [1, 7, 20, 59, 60]) {
    const found: string[] = [];
    let pages = 0;
    for await (const page of table.listEntities().byPage({ maxPageSize })) {
      pages++;
      expect(page.length).toBeLessThanOrEqual(maxPageSize);
      found.push(...page.map(({ partitionKey, rowKey }) => `${partitionKey}${rowKey}`));
    }
    expect(found).toEqual(expected(() => true));
    expect(pages).toBe(Math.ceil(60 / maxPageSize));
  }
});

test('a key written plainly is where to begin', async () => {
  const { json } = await sendRaw(account, {
    path: '/query()?$top=2&NextPartitionKey=b&NextRowKey=019',
  });
  expect(json.value.map((row: { RowKey: string }) => row.RowKey)).toEqual(['019', '000']);
});

test('$select returns what was requested, with its types, and null where there is none', async () => {
  const { json } = await sendRaw(account, {
    path: "/query(PartitionKey='a',RowKey='007')?$select=long,when,missing,RowKey",
    headers: { accept: 'application/json;odata=minimalmetadata' },
  });
  expect(json).toEqual({
    'odata.metadata': expect.stringContaining('$metadata#query/@Element'),
    'odata.etag': expect.stringMatching(/^W\/"datetime'/),
    RowKey: '007',
    'long@odata.type': 'Edm.Int64',
    long: '7000000000000000',
    'when@odata.type': 'Edm.DateTime',
    when: '2020-01-01T00:00:00.0000007Z',
    missing: null,
  });
});

test.each([
  'int eq',
  'int eq 5 and',
  "text eq 'open",
  'int foo 5',
  '(int eq 5',
  'int eq 5)',
  "startswith(text,'t')",
  "when eq datetime'yesterday'",
  "guid eq guid'1'",
  "bytes eq X'1'",
  'int eq 99999999999999999999',
  '%',
])('the filter %s is refused', async (filter) => {
  const path = `/query()?$filter=${encodeURIComponent(filter)}`;
  expect(await sendRaw(account, { path })).toMatchObject({ status: 400, code: 'InvalidInput' });
});
