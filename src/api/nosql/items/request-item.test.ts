// Goal: an item is stored as it was sent exactly where its text is canonical. Method: a table of bodies; the stored
// bytes are compared with the result of parsing and printing.
import { expect, test } from 'vitest';
import { bytesToText, textToBytes } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import { HomeApis } from '../../../service/index.ts';
import { ContainerViews } from '../containers/container-view.ts';
import { checkedItem } from './item-input.ts';
import { requestItem } from './request-item.ts';
import { withoutSystemProperties } from './system-properties.ts';
import { containerRecord } from './test-kit.ts';

const NESTED_KEY = { paths: ['/in/pk'], kind: 'Hash', version: 2 } as const;
const database = { id: 'd', rid: 1, etag: '"x"', timestampSec: 0 };

function viewOf(changes: Partial<ContainerRecord> = {}) {
  return new ContainerViews(new HomeApis([])).of(
    database,
    containerRecord({ partitionKey: NESTED_KEY, ...changes }),
  );
}

test.each([
  ['{"id":"a","in":{"pk":"k"},"ttl":60,"l":[1,0.5]}', true],
  ['{"in":{"x":1,"pk":"k"},"id":"ü"}', true],
  ['{"id":"a", "in":{"pk":"k"}}', false],
  ['{"id":"a","in":{"pk":"k"},"id":"b"}', false],
  ['{"id":"a","in":{"pk":"k"},"n":1.0,"s":"\\u00e9"}', false],
  ['{"id":"a","in":{"pk":"k"},"7":1}', false],
  ['{"id":"a","in":{"pk":"k"},"_ts":1,"_etag":"x"}', false],
])('%s', (text, isKept) => {
  const view = viewOf();
  const sent = requestItem(textToBytes(text), view);
  expect(sent.text !== undefined).toBe(isKept);
  const stored = checkedItem(sent.item, {
    view,
    key: ['k'],
    addressed: undefined,
    text: sent.text,
  });
  const whole = JSON.parse(text);
  expect(bytesToText(stored.body)).toBe(JSON.stringify(withoutSystemProperties(whole)));
  expect(stored.id).toBe(whole.id);
  expect(stored.ttlSec).toBe(whole.ttl ?? 0);
});

test('another partition key than the one named is refused', () => {
  const view = viewOf();
  const { item, text } = requestItem(textToBytes('{"id":"a","in":{"pk":"k"}}'), view);
  expect(() => checkedItem(item, { view, key: ['x'], addressed: undefined, text })).toThrow(
    /doesn't match/,
  );
});

test('an item of a container with unique keys is parsed, because its values are compared', () => {
  const view = viewOf({ uniqueKeys: [{ paths: ['/n'] }] });
  expect(requestItem(textToBytes('{"id":"a","in":{"pk":"k"}}'), view).text).toBeUndefined();
});
