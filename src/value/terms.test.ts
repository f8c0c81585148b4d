// Goal: every leaf is found once, under the path an index would look for. Method: table of values and printed terms.
import { expect, it } from 'vitest';
import { printPath } from './path.ts';
import { walkTerms } from './terms.ts';
import { Extended, type Value } from './value.ts';

const date = new Extended({ kind: 'date', ms: 1 });

it.each<[Value, readonly (readonly [string, Value])[]]>([
  [5, [['', 5]]],
  [undefined, []],
  [{}, [['', {}]]],
  [
    { a: 1, b: { c: null } },
    [
      ['/a', 1],
      ['/b/c', null],
    ],
  ],
  [{ a: undefined, b: 1 }, [['/b', 1]]],
  [
    { tags: ['x', 'y'] },
    [
      ['/tags/[]', 'x'],
      ['/tags/[]', 'y'],
    ],
  ],
  [
    { a: [[1], []] },
    [
      ['/a/[]/[]', 1],
      ['/a/[]', []],
    ],
  ],
  [
    { a: [{ b: 1 }, { b: {} }] },
    [
      ['/a/[]/b', 1],
      ['/a/[]/b', {}],
    ],
  ],
  [{ 'b c': date }, [['/"b c"', date]]],
  [JSON.parse('{"__proto__":1}'), [['/__proto__', 1]]],
])('%j', (value, expected) => {
  const terms: [string, Value][] = [];
  walkTerms(value, (path, leaf) => terms.push([printPath(path), leaf]));
  expect(terms).toEqual(expected);
});
