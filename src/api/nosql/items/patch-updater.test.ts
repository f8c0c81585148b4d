// Goal: a patch can be decided wherever its bytes are sent. Method: the updater with a copy of the arguments.
import { expect, test } from 'vitest';
import { bytesToText, textToBytes } from '../../../base/index.ts';
import type { Item } from '../../../partition/index.ts';
import type { Value } from '../../../value/index.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { itemPatch, nosqlUpdaters } from './patch-updater.ts';

const view = {
  record: {
    partitionKey: { paths: ['/pk', '/sub'], kind: 'MultiHash', version: 2 },
    encoding: 'json',
    policies: {},
  },
} as unknown as ContainerView;

const stored = {
  body: textToBytes('{"id":"x","pk":"a","n":1,"_ts":5}'),
} as unknown as Item;

function patched(patch: Value, nowMs = 0): unknown {
  const { updater, args } = itemPatch(patch, { view, key: ['a', undefined], id: 'x' });
  const copy = Uint8Array.from(args);
  const outcome = nosqlUpdaters[updater]?.([stored], copy, { nowMs });
  return outcome?.kind === 'put' ? bytesToText(outcome.body) : outcome;
}

test('the arguments have the operations, the condition, the key and the policies', () => {
  const operations = [{ op: 'incr', path: '/n', value: 2 }];
  expect(patched(operations)).toBe('{"id":"x","pk":"a","n":3}');
  expect(patched({ operations, condition: 'from c where c.n = 1' })).toBe(
    '{"id":"x","pk":"a","n":3}',
  );
  expect(() => patched({ operations, condition: 'from c where c.n = 2' })).toThrow(
    'precondition is not met',
  );
  expect(() => patched([{ op: 'set', path: '/pk', value: 'b' }])).toThrow("doesn't match");
  expect(() => patched([{ op: 'set', path: '/sub', value: 'b' }])).toThrow("doesn't match");
});

test('a condition on the time sees that of the decision', () => {
  const operations = [{ op: 'set', path: '/n', value: 0 }];
  const condition = 'from c where GetCurrentTimestamp() = 77';
  expect(patched({ operations, condition }, 77)).toBe('{"id":"x","pk":"a","n":0}');
  expect(() => patched({ operations, condition }, 78)).toThrow('precondition is not met');
});

test('an invalid patch is refused before anything is sent', () => {
  expect(() => itemPatch({}, { view, key: ['a', undefined], id: 'x' })).toThrow('check syntax');
  const broken = {
    operations: [{ op: 'remove', path: '/n' }],
    condition: 'from c where',
  };
  expect(() => itemPatch(broken, { view, key: ['a', undefined], id: 'x' })).toThrow();
});
