// Goal: no filter, batch or URL, however broken, does anything but pass or be refused by code. Method: seeded random texts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseBatch } from '../../../src/api/table/batch/batch-request.ts';
import { TableError } from '../../../src/api/table/errors.ts';
import {
  conditionOf,
  parseFilter,
  partitionKeysOf,
  testOf,
} from '../../../src/api/table/odata/index.ts';
import { parseTarget } from '../../../src/api/table/target.ts';
import { type Random, seededRandom } from '../../../src/base/index.ts';
import { type Account, startAccount } from './harness.ts';
import { sendRaw } from './raw-request.ts';

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
const random: Random = seededRandom(seed);
console.log(`seed ${seed}`);

const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;

/** Pieces of the language, put together without regard for its grammar; and some that only look like it. */
const FILTER_PIECES = [
  'a',
  'PartitionKey',
  'RowKey',
  'Timestamp',
  'eq',
  'ne',
  'gt',
  'lt',
  'and',
  'or',
  'not',
  '(',
  ')',
  ' ',
  ' ',
  "'x'",
  "''''",
  "'",
  '5',
  '5L',
  '-1.5e3',
  '1e999',
  'true',
  'False',
  "datetime'2020-01-01T00:00:00Z'",
  "datetime'x'",
  "guid'73ffd264-44b3-4c69-90e8-e7d1dfc035d4'",
  "X'00ff'",
  "X'0'",
  '%',
  '\u0000',
  'ü',
  '𐀀',
  '99999999999999999999',
  '.',
];
const BATCH_PIECES = [
  '--b',
  '--b--',
  '--c',
  '--c--',
  '\r\n',
  '\r\n',
  '\n',
  '\r\n\r\n',
  'Content-Type: multipart/mixed; boundary=c',
  'Content-Type: application/http',
  'POST /t HTTP/1.1',
  "PATCH /t(PartitionKey='p',RowKey='r') HTTP/1.1",
  'GET /t() HTTP/1.1',
  'If-Match: *',
  'x',
  ':',
  '{"PartitionKey":"p","RowKey":"r"}',
  '{',
  '\u0000',
  'HTTP/1.1',
];
const URL_PIECES = [
  '/',
  'devstoreaccount1',
  't',
  'Tables',
  '(',
  ')',
  "'",
  "''",
  'PartitionKey=',
  'RowKey=',
  ',',
  '?',
  '&',
  '=',
  '%',
  '%27',
  '%zz',
  '$batch',
  '$filter',
  'comp',
  'acl',
  '+',
  '%00',
  'x',
];

function text(pieces: readonly string[], most: number): string {
  const count = random.below(most);
  return Array.from({ length: count }, () => pick(pieces)).join('');
}

/** The response, or undefined for an expected refusal; anything else fails the test. */
function refusedOr<T>(attempt: () => T, input: string): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (!(error instanceof TableError)) throw new Error(`${JSON.stringify(input)}: ${error}`);
    return undefined;
  }
}

test('filters', () => {
  let understood = 0;
  for (let round = 0; round < 20_000; round++) {
    const input = text(FILTER_PIECES, 12);
    const filter = refusedOr(() => parseFilter(input), input);
    if (filter === undefined) continue;
    understood++;
    conditionOf(filter);
    partitionKeysOf(filter);
    expect(typeof testOf(filter)({ PartitionKey: 'p', RowKey: 'r', a: 5 })).toBe('boolean');
  }
  expect(understood).toBeGreaterThan(50);
});

test('deep and long filters', () => {
  expect(refusedOr(() => parseFilter('('.repeat(10_000)), '(…')).toBeUndefined();
  expect(refusedOr(() => parseFilter('not '.repeat(5_000)), 'not …')).toBeUndefined();
  const long = Array.from({ length: 1000 }, (_, at) => `a eq ${at}`).join(' or ');
  expect(parseFilter(long).kind).toBe('or');
});

test('batches', () => {
  for (let round = 0; round < 20_000; round++) {
    const input = text(BATCH_PIECES, 20);
    refusedOr(() => parseBatch('multipart/mixed; boundary=b', input), input);
  }
});

test('URLs', () => {
  for (let round = 0; round < 20_000; round++) {
    const input = `/${text(URL_PIECES, 14)}`;
    refusedOr(() => parseTarget(input), input);
  }
});

let account: Account;
beforeAll(async () => {
  account = await startAccount();
  await account.tables('storage').createTable('ttt');
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

test('the server itself responds to all of it', async () => {
  for (let round = 0; round < 300; round++) {
    const filter = encodeURIComponent(text(FILTER_PIECES, 12).replaceAll('\u0000', ''));
    const batch = text(BATCH_PIECES, 20);
    const body = text(
      ['{', '}', '"a"', ':', ',', '5', '1.0', 'null', '"PartitionKey":"p"', '"RowKey":"r"'],
      12,
    );
    const responses = await Promise.all([
      sendRaw(account, { path: `/ttt()?$filter=${filter}` }),
      sendRaw(account, { method: 'POST', path: '/ttt', body }),
      sendRaw(account, {
        method: 'POST',
        path: '/$batch',
        body: batch,
        headers: { 'content-type': 'multipart/mixed; boundary=b' },
      }),
    ]);
    for (const { status } of responses)
      expect([200, 201, 202, 400, 404, 405, 409]).toContain(status);
  }
});
