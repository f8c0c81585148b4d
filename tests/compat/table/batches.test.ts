// Goal: change sets are all or nothing, and say which change was refused. Method: stock client in both modes; raw texts.
import { RestError, TableTransaction, type TransactionAction } from '@azure/data-tables';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, MODES, startAccount } from './harness.ts';
import { type RawReply, sendRaw } from './raw-request.ts';

let account: Account;
beforeAll(async () => {
  account = await startAccount();
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

describe.each(MODES)('%s mode', (mode) => {
  test('all kinds of changes in one set', async () => {
    const table = account.table(mode, `kinds${mode}`);
    await table.createTable();
    const key = (rowKey: string) => ({ partitionKey: 'p', rowKey });
    for (const row of ['merge', 'replace', 'delete'])
      await table.createEntity({ ...key(row), a: 1, b: 1 });
    const transaction = new TableTransaction();
    transaction.createEntity({ ...key("it's, (new)"), a: 1 });
    transaction.updateEntity({ ...key('merge'), a: 2 }, 'Merge');
    transaction.updateEntity({ ...key('replace'), a: 2 }, 'Replace');
    transaction.upsertEntity({ ...key('upsert'), a: 2 }, 'Merge');
    transaction.deleteEntity('p', 'delete');
    const { status, subResponses } = await table.submitTransaction(transaction.actions);
    expect(status).toBe(202);
    expect(subResponses.map((part) => part.status)).toEqual([204, 204, 204, 204, 204]);
    const found: Record<string, unknown> = {};
    for await (const { rowKey, a, b } of table.listEntities()) found[String(rowKey)] = { a, b };
    expect(found).toEqual({
      "it's, (new)": { a: 1, b: undefined },
      merge: { a: 2, b: 1 },
      replace: { a: 2, b: undefined },
      upsert: { a: 2, b: undefined },
    });
  });

  test('one refusal leaves nothing written', async () => {
    const table = account.table(mode, `refused${mode}`);
    await table.createTable();
    await table.createEntity({ partitionKey: 'p', rowKey: '2' });
    const actions = ['0', '1', '2', '3'].map((rowKey): TransactionAction => {
      return ['create', { partitionKey: 'p', rowKey }];
    });
    const error = await table.submitTransaction(actions).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RestError);
    expect((error as RestError).statusCode).toBe(409);
    expect((error as RestError).message).toContain('2:The specified entity already exists.');
    const left: unknown[] = [];
    for await (const { rowKey } of table.listEntities()) left.push(rowKey);
    expect(left).toEqual(['2']);
  });
});

function change(method: string, url: string, body: object | string, headers = ''): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return `--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n${method} ${url} HTTP/1.1\r\nContent-Type: application/json\r\n${headers}\r\n${text}\r\n`;
}

function send(changes: string): Promise<RawReply> {
  return sendRaw(account, {
    method: 'POST',
    path: '/$batch',
    headers: { 'content-type': 'multipart/mixed; boundary=b' },
    body: `--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n${changes}--c--\r\n--b--\r\n`,
  });
}

const insert = (partition: string, row: string) =>
  change('POST', '/raw', { PartitionKey: partition, RowKey: row });

test.each([
  [
    'another partition',
    () => insert('p', '1') + insert('q', '2'),
    '400 Bad Request',
    'CommandsInBatchActOnDifferentPartitions',
    1,
  ],
  [
    'one entity twice',
    () => insert('p', '1') + insert('p', '1'),
    '400 Bad Request',
    'InvalidDuplicateRow',
    1,
  ],
  [
    'no such table',
    () => change('POST', '/other', { PartitionKey: 'p', RowKey: 'r' }),
    '404 Not Found',
    'TableNotFound',
    0,
  ],
  [
    'a query among changes',
    () => change('GET', '/raw()', ''),
    '400 Bad Request',
    'InvalidInput',
    0,
  ],
  [
    'no JSON',
    () => insert('p', '1') + change('POST', '/raw', '{'),
    '400 Bad Request',
    'InvalidInput',
    1,
  ],
  ['a bad key', () => insert('p', 'a/b'), '400 Bad Request', 'OutOfRangeInput', 0],
  [
    'a delete without a condition',
    () => change('DELETE', "/raw(PartitionKey='p',RowKey='r')", ''),
    '400 Bad Request',
    'MissingRequiredHeader',
    0,
  ],
  [
    'a replacement of nothing',
    () => change('PUT', "/raw(PartitionKey='p',RowKey='none')", {}, 'If-Match: *\r\n'),
    '404 Not Found',
    'ResourceNotFound',
    0,
  ],
] as const)('%s', async (_, changes, status, code, at) => {
  await account.tables('storage').createTable('raw');
  const { status: outer, text } = await send(changes());
  expect(outer).toBe(202);
  expect(text.match(/HTTP\/1.1 \d+ .*/g)).toEqual([`HTTP/1.1 ${status}`]);
  expect(text).toContain(`"code":"${code}"`);
  expect(text).toContain(`"value":"${at}:`);
});

test('one hundred changes pass, one more does not', async () => {
  await account.tables('storage').createTable('many');
  const changes = (count: number): string =>
    Array.from({ length: count }, (_, row) =>
      change('POST', '/many', { PartitionKey: 'p', RowKey: `${count}-${row}` }),
    ).join('');
  const passed = await send(changes(100));
  expect(passed.text.match(/HTTP\/1.1 201 Created/g)).toHaveLength(100);
  const refused = await send(changes(101));
  expect(refused.status).toBe(202);
  expect(refused.text.match(/HTTP\/1.1 \d+ .*/g)).toEqual(['HTTP/1.1 400 Bad Request']);
  expect(refused.text).toContain('"code":"InvalidInput"');
  expect(refused.text).toContain('exceeds the maximum 100 changes per change set');
});

test('a single query is outside of a change set', async () => {
  await account.tables('storage').createTable('queried');
  const table = account.table('storage', 'queried');
  await table.createEntity({ partitionKey: 'p', rowKey: 'r', a: 1 });
  const { text } = await sendRaw(account, {
    method: 'POST',
    path: '/$batch',
    headers: { 'content-type': 'multipart/mixed; boundary="b"' },
    body: "--b\nContent-Type: application/http\n\nGET /queried(PartitionKey='p',RowKey='r') HTTP/1.1\nAccept: application/json;odata=nometadata\n--b--",
  });
  expect(text).toContain('HTTP/1.1 200 OK');
  expect(text).toContain('"a":1');
});
