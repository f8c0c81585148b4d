// Goal: the key header means what its JSON says, with and without the JSON parser. Method: a table, then random strings.
import { expect, test } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import { parsePartitionKey } from './partition-key-header.ts';

test.each([
  ['[]', []],
  ['["a"]', ['a']],
  ['[""]', ['']],
  ['[" "]', [' ']],
  ['["a\\"b"]', ['a"b']],
  ['["\\u9c40"]', ['鱀']],
  ['["a","b"]', ['a', 'b']],
  ['["a]"]', ['a]']],
  [' [ "a" ] ', ['a']],
  ['[null]', [null]],
  ['[true,false]', [true, false]],
  ['[1.5]', [1.5]],
  ['[{}]', [undefined]],
  ['["a",{},null]', ['a', undefined, null]],
])('%s', (header, values) => {
  expect(parsePartitionKey(header)).toEqual(values);
});

test('minus zero is zero: JSON writes them the same', () => {
  expect(Object.is(parsePartitionKey('[-0]')[0], 0)).toBe(true);
});

test.each([
  '',
  '[',
  '"a"',
  '{}',
  'null',
  '["a"',
  '[{"a":1}]',
  '[[]]',
  '[1e999]',
  '[1,2,3,4]',
  '["a"]]',
])('%s is refused', (header) => {
  expect(() => parsePartitionKey(header)).toThrow(/is invalid/);
});

const SEED = 7;
test(`any text as JSON, seed ${SEED}`, () => {
  const random = seededRandom(SEED);
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: random.below(8) }, () =>
      String.fromCharCode(random.below(3) === 0 ? random.below(0xd800) : 0x20 + random.below(0x60)),
    ).join('');
    expect(parsePartitionKey(JSON.stringify([text])), `seed ${SEED}, round ${round}`).toEqual([
      text,
    ]);
  }
});
