// Goal: every patch operation does what the service documents, and refuses with its texts. Method: tables of a document,
// a patch and the result.
import { describe, expect, test } from 'vitest';
import { type DomainError, textToBytes } from '../../../base/index.ts';
import type { Item } from '../../../partition/index.ts';
import type { Value, ValueMap } from '../../../value/index.ts';
import { parsePatch, patchUpdate } from './patch.ts';

const encode = (item: ValueMap) => ({
  body: textToBytes(JSON.stringify(item)),
  value: item,
  ttlSec: 0,
});

function apply(document: ValueMap, body: Value): Value {
  const update = patchUpdate(parsePatch(body), { holds: undefined, finisher: encode });
  const item = { body: textToBytes(JSON.stringify(document)) } as unknown as Item;
  const first = JSON.stringify(update(item).value);
  // A decision may be made twice.
  expect(JSON.stringify(update(item).value)).toBe(first);
  return JSON.parse(first);
}

const refusal = (document: ValueMap, operations: Value): string => {
  try {
    return JSON.stringify(apply(document, operations));
  } catch (error) {
    return (error as DomainError).message;
  }
};

const add = (path: string, value: Value) => ({ op: 'add', path, value });
const set = (path: string, value: Value) => ({ op: 'set', path, value });
const replace = (path: string, value: Value) => ({ op: 'replace', path, value });
const remove = (path: string) => ({ op: 'remove', path });
const incr = (path: string, value: Value) => ({ op: 'incr', path, value });
const move = (from: string, path: string) => ({ op: 'move', from, path });

describe('operations', () => {
  test.each<[string, ValueMap, Value[], Value]>([
    ['add a property', {}, [add('/a', 1)], { a: 1 }],
    ['add over a property', { a: 1 }, [add('/a', [2])], { a: [2] }],
    ['add into an array shifts', { a: [1, 3] }, [add('/a/1', 2)], { a: [1, 2, 3] }],
    ['add right behind an array', { a: [1] }, [add('/a/1', 2)], { a: [1, 2] }],
    ['add with -', { a: [1] }, [add('/a/-', 2)], { a: [1, 2] }],
    ['set a property', { a: { b: 1 } }, [set('/a/c', null)], { a: { b: 1, c: null } }],
    ['set an element overwrites', { a: [1, 3] }, [set('/a/1', 2)], { a: [1, 2] }],
    ['replace', { a: { b: 1 } }, [replace('/a/b', 'x')], { a: { b: 'x' } }],
    ['replace an element', { a: [1, 2] }, [replace('/a/0', 9)], { a: [9, 2] }],
    ['replace a null', { a: null }, [replace('/a', 1)], { a: 1 }],
    ['remove', { a: 1, b: 2 }, [remove('/a')], { b: 2 }],
    ['remove an element', { a: [1, 2, 3] }, [remove('/a/1')], { a: [1, 3] }],
    ['increment', { a: 1 }, [incr('/a', 2.5)], { a: 3.5 }],
    ['increment down', { a: [1] }, [incr('/a/0', -2)], { a: [-1] }],
    ['increment what is missing', {}, [incr('/a', 2)], { a: 2 }],
    ['move', { a: 1, b: {} }, [move('/a', '/b/c')], { b: { c: 1 } }],
    ['move within an array', { a: [1, 2, 3] }, [move('/a/0', '/a/-')], { a: [2, 3, 1] }],
    ['names with slash and tilde', {}, [add('/a~1b~0c', 1)], { 'a/b~c': 1 }],
    ['names that are numbers', { a: { 0: 'x' } }, [set('/a/0', 1)], { a: { 0: 1 } }],
    [
      'operations see those before',
      {},
      [add('/a', {}), add('/a/b', 1), incr('/a/b', 1)],
      { a: { b: 2 } },
    ],
    ['upper case names of operations', {}, [{ op: 'Add', path: '/a', value: 1 }], { a: 1 }],
  ])('%s', (_, document, operations, expected) => {
    expect(apply(document, operations)).toEqual(expected);
    expect(apply(document, { operations, condition: null })).toEqual(expected);
  });

  test('__proto__ is a name like any other', () => {
    expect(refusal({}, [add('/__proto__/polluted', 1)])).toContain('no path found beyond');
    const patched = apply({}, [add('/__proto__', { polluted: 1 })]);
    expect(JSON.stringify(patched)).toBe('{"__proto__":{"polluted":1}}');
    expect(({} as { polluted?: number }).polluted).toBe(undefined);
    expect(refusal({}, [remove('/constructor')])).toContain('is absent');
  });
});

describe('refusals', () => {
  const absent = (path: string, how: string) =>
    `For Operation(1): Node(${path}) to be ${how} is absent. Note: it may also have been removed earlier in the transaction.`;
  const syntax = 'Invalid patch request: check syntax of patch specification.';
  test.each<[string, Value, string]>([
    ['replace missing', [replace('/x', 1)], absent('/x', 'replaced')],
    ['replace below missing', [replace('/x/y', 1)], absent('/x/y', 'replaced')],
    ['remove missing', [remove('/x')], absent('/x', 'removed')],
    ['move missing', [move('/x', '/y')], absent('/x', 'removed')],
    [
      'add below missing',
      [add('/x/y', 1)],
      "For Operation(1): Add Operation can only create a child object of an existing node(array or object) and cannot create path recursively, no path found beyond: '/'.",
    ],
    [
      'set below a number',
      [set('/ok', 1), set('/n/y', 1)],
      "For Operation(2): Set Operation can only create a child object of an existing node(array or object) and cannot create path recursively, no path found beyond: '/'.",
    ],
    [
      'add beyond an array',
      [add('/list/3', 1)],
      'For Operation(1): Index(3) to operate on is out of array bounds.',
    ],
    [
      'remove beyond',
      [remove('/list/2')],
      'For Operation(1): Index(2) to operate on is out of array bounds.',
    ],
    [
      'add at a name in an array',
      [add('/list/x', 1)],
      'For Operation(1): Index(x) to operate on is out of array bounds.',
    ],
    ['increment text', [incr('/s', 1)], 'For Operation(1): Node(/s) is not a number.'],
    ['increment by text', [incr('/n', '1')], syntax],
    ['no value', [{ op: 'add', path: '/a' }], syntax],
    ['no path', [{ op: 'remove' }], syntax],
    ['the root', [replace('/', {})], syntax],
    ['no slash', [set('a', 1)], syntax],
    ['bad escape', [set('/a~2', 1)], syntax],
    ['unknown operation', [{ op: 'test', path: '/a', value: 1 }], syntax],
    ['into itself', [move('/o', '/o/p')], syntax],
    ['no operations', [], syntax],
    ['no list', {}, syntax],
    ['a number', 1, syntax],
    ['the id', [set('/id', 'x')], 'Invalid patch request: Cannot patch system property id.'],
    ['the time', [remove('/_ts')], 'Invalid patch request: Cannot patch system property _ts.'],
    [
      'eleven',
      Array.from({ length: 11 }, () => set('/a', 1)),
      "The number of patch operations can't exceed '10'.",
    ],
  ])('%s', (_, operations, message) => {
    expect(refusal({ n: 1, s: 'x', list: [1, 2], o: { p: 1 } }, operations)).toBe(message);
  });
});
