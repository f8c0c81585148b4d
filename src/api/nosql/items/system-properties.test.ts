// Goal: finished bodies are the JSON that clients expect, byte for byte. Method: a golden text, then finish and parse.
import { expect, test } from 'vitest';
import { bytesToText, textToBytes } from '../../../base/index.ts';
import { DEFAULT_INDEXING_POLICY } from '../../../catalog/index.ts';
import { encodeItem, finishJson } from './system-properties.ts';

const container = {
  id: 'c',
  databaseRid: 1,
  rid: 2,
  etag: '"x"',
  timestampSec: 0,
  kind: 'fixed',
  partitionKey: { paths: ['/pk'], kind: 'Hash', version: 1 },
  encoding: 'json',
  indexingPolicy: DEFAULT_INDEXING_POLICY,
  uniqueKeys: [],
  policies: {},
  partitions: [],
  nextPartitionId: 0,
  routingVersion: 1,
} as const;

test('the system properties follow the others', () => {
  const finish = finishJson(container);
  const stamp = {
    rid: 5,
    version: { salt: 0, lsn: 1, operation: 0 },
    etag: '"00000000-0000-0000-0000-000000000001"',
    timestampSec: 1700000000,
    time: '',
  };
  const finished = finish(textToBytes('{"id":"ü"}'), stamp);
  expect(bytesToText(finished)).toBe(
    '{"id":"ü","_rid":"AAAAAYAAAAIFAAAAAAAAAA==","_self":"dbs/AAAAAQ==/colls/AAAAAYAAAAI=/docs/AAAAAYAAAAIFAAAAAAAAAA==/","_etag":"\\"00000000-0000-0000-0000-000000000001\\"","_attachments":"attachments/","_ts":1700000000}',
  );
  expect(JSON.parse(bytesToText(finished))._etag).toBe(stamp.etag);
});

test.each([
  ['{"id":"a","n":1}', '{"id":"a","n":1}'],
  [
    '{ "id" : "a" , "_etag":"x","_ts":1,"_rid":"","_self":"","_attachments":"","_lsn":2}',
    '{"id":"a"}',
  ],
  ['{"id":"a","__proto__":{"x":1},"_etag":""}', '{"id":"a","__proto__":{"x":1}}'],
  ['{"id":"a","_mine":1,"v":{"_etag":"kept"}}', '{"id":"a","_mine":1,"v":{"_etag":"kept"}}'],
])('%s is stored as %s', (sent, stored) => {
  const { body, value } = encodeItem(JSON.parse(sent));
  expect(bytesToText(body)).toBe(stored);
  const finish = finishJson(container);
  const stamp = {
    rid: 5,
    version: { salt: 0, lsn: 1, operation: 0 },
    etag: '"e"',
    timestampSec: 9,
    time: '',
  };
  expect(finish.ofValue?.(value, stamp)).toEqual(JSON.parse(bytesToText(finish(body, stamp))));
});
