// Goal: paths are read strictly and print back. Method: tables of text and steps, good and bad.
import { describe, expect, it } from 'vitest';
import {
  ARRAY_ELEMENT,
  type Path,
  parsePartitionKeyPath,
  parsePath,
  parseScopedPath,
  printPath,
  readPath,
} from './path.ts';
import { Extended } from './value.ts';

describe('parsePath', () => {
  it.each<[string, Path]>([
    ['/', []],
    ['', []],
    ['/a', ['a']],
    ['/a/b', ['a', 'b']],
    ['/a/"b c"/[]/?', ['a', 'b c', ARRAY_ELEMENT]],
    ["/'b/c'/d", ['b/c', 'd']],
    ['/"say \\"hi\\" \\\\"', ['say "hi" \\']],
    ['/"[]"/"*"', ['[]', '*']],
    ['/tags/[]/name/?', ['tags', ARRAY_ELEMENT, 'name']],
    ['/*', []],
    ['/größe', ['größe']],
  ])('%s', (text, path) => {
    expect(parsePath(text)).toEqual(path);
  });

  it.each(['a', '/a/', '//a', '/a b', '/"a', '/"a"b', '/*/a', '/?/a', '/a[0]', '/a*'])(
    'refuses %s',
    (text) => {
      expect(() => parsePath(text)).toThrow('not valid');
    },
  );

  it('returns the scope', () => {
    expect(parseScopedPath('/a/*')).toEqual({ path: ['a'], scope: 'subtree' });
    expect(parseScopedPath('/a/?')).toEqual({ path: ['a'], scope: 'value' });
    expect(parseScopedPath('/*')).toEqual({ path: [], scope: 'subtree' });
  });
});

it.each<[Path, string]>([
  [['a', 'b'], '/a/b'],
  [['b c', ARRAY_ELEMENT], '/"b c"/[]'],
  [['say "hi" \\'], '/"say \\"hi\\" \\\\"'],
  [['', '*', '?', '[]'], '/""/"*"/"?"/"[]"'],
  [['_etag', 'a-b', '$pk'], '/_etag/a-b/$pk'],
])('%j prints as %s and reads back', (path, text) => {
  expect(printPath(path)).toBe(text);
  expect(parsePath(text)).toEqual(path);
});

describe('parsePartitionKeyPath', () => {
  it.each<[string, Path]>([
    ['/department', ['department']],
    ['/properties/name', ['properties', 'name']],
    ['/"department name"', ['department name']],
    ["/'$pk'", ['$pk']],
    ['/_partitionKey', ['_partitionKey']],
    ['/id', ['id']],
  ])('%s', (text, path) => {
    expect(parsePartitionKeyPath(text)).toEqual(path);
  });

  it.each(['', '/', 'id', '/a/', '/a/?', '/a/*', '/*', '/a/[]', '/a b', '/a@b', '//a', '/a,b'])(
    'refuses %j',
    (text) => {
      expect(parsePartitionKeyPath(text)).toBeUndefined();
    },
  );
});

describe('readPath', () => {
  it.each([
    [{ a: { b: 1 } }, ['a', 'b'], 1],
    [{ a: { b: 1 } }, [], { a: { b: 1 } }],
    [{ a: { b: 1 } }, ['a', 'c'], undefined],
    [{ a: 1 }, ['a', 'b'], undefined],
    [{ a: [1] }, ['a', '0'], undefined],
    [{ a: 'text' }, ['a', 'length'], undefined],
    [{}, ['constructor'], undefined],
    [{ a: null }, ['a', 'b'], undefined],
    [JSON.parse('{"__proto__":{"x":1}}'), ['__proto__', 'x'], 1],
    [new Extended({ kind: 'minKey' }), ['payload'], undefined],
  ])('%j at %j', (value, path, expected) => {
    expect(readPath(value, path)).toEqual(expected);
  });

  it('refuses ARRAY_ELEMENT', () => {
    expect(() => readPath([1], [ARRAY_ELEMENT])).toThrow('ARRAY_ELEMENT');
  });
});
