// Goal: names and keys travel as the API wants them. Method: tables.
import { expect, test } from 'vitest';
import { containerPath, keyHeader, keyOfItem, parseKeyValue } from './names.ts';

test('a container is DB/CONTAINER', () => {
  expect(containerPath('a/b c')).toEqual(['dbs', 'a', 'colls', 'b c']);
  for (const name of ['a', 'a/', '/b', 'a/b/c']) expect(() => containerPath(name)).toThrow(name);
});

test.each([
  ['5', 5],
  ['"5"', '5'],
  ['null', null],
  ['red', 'red'],
  ['{x', '{x'],
])('%s is the key %j', (text, value) => {
  expect(parseKeyValue(text)).toEqual(value);
});

test.each([
  [{ a: { b: 1 } }, ['/a/b'], [1]],
  [{ a: null }, ['/a', '/b'], [null, {}]],
  [{ 'x y': 'z' }, ['/"x y"'], ['z']],
  [7, ['/a'], [{}]],
])('%j by %j', (item, paths, key) => {
  expect(keyOfItem(item, paths)).toEqual(key);
});

test('a header holds ASCII only', () => {
  expect(keyHeader(['Zürich 😀'])).toEqual({
    'x-ms-documentdb-partitionkey': '["Z\\u00fcrich \\ud83d\\ude00"]',
  });
});
