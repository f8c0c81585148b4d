// Goal: finished bodies are the JSON that clients expect, byte for byte. Method: a golden text, then finish and parse.
import { expect, test } from 'vitest';
import { bytesToText, textToBytes } from '../../../base/index.ts';
import { encodeItem, finishJson } from './system-properties.ts';
import { containerRecord } from './test-kit.ts';

const STAMP = {
  rid: 5,
  version: { salt: 0, lsn: 1, operation: 0 },
  etag: '"00000000-0000-0000-0000-000000000001"',
  timestampSec: 1700000000,
  time: '',
};

test('the system properties follow the others', () => {
  const finish = finishJson(containerRecord());
  const finished = finish(textToBytes('{"id":"ü"}'), STAMP);
  expect(bytesToText(finished)).toBe(
    '{"id":"ü","_rid":"AAAAAYAAAAIFAAAAAAAAAA==","_self":"dbs/AAAAAQ==/colls/AAAAAYAAAAI=/docs/AAAAAYAAAAIFAAAAAAAAAA==/","_etag":"\\"00000000-0000-0000-0000-000000000001\\"","_attachments":"attachments/","_ts":1700000000}',
  );
  expect(JSON.parse(bytesToText(finished))._etag).toBe(STAMP.etag);
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
  const finish = finishJson(containerRecord());
  expect(finish.ofValue?.(value, STAMP)).toEqual(JSON.parse(bytesToText(finish(body, STAMP))));
});
