// Goal: a path means one thing however it is written. Method: a table of paths and what they name.
import { expect, test } from 'vitest';
import { parseTarget } from './target.ts';

test.each([
  ['/', '', false, [], ''],
  ['', '', false, [], ''],
  ['/dbs', 'dbs', true, [], ''],
  ['/dbs/', 'dbs', true, [], ''],
  ['/dbs?x=1', 'dbs', true, [], ''],
  ['/dbs/a', 'dbs', false, ['a'], 'dbs/a'],
  ['/dbs/a?x=/y', 'dbs', false, ['a'], 'dbs/a'],
  ['//dbs//a//colls', 'dbs/colls', true, ['a'], 'dbs/a'],
  ['/dbs/a%20b/colls/%E9%B1%80', 'dbs/colls', false, ['a b', '鱀'], 'dbs/a b/colls/鱀'],
  ['/dbs/a/colls/b/docs', 'dbs/colls/docs', true, ['a', 'b'], 'dbs/a/colls/b'],
  ['/dbs/a/colls/b/docs?x=1', 'dbs/colls/docs', true, ['a', 'b'], 'dbs/a/colls/b'],
  ['/dbs/a/colls/b/docs/c?d', 'dbs/colls/docs', false, ['a', 'b', 'c?d'], 'dbs/a/colls/b/docs/c?d'],
  [
    '/dbs/a/colls/b/docs/c%2520',
    'dbs/colls/docs',
    false,
    ['a', 'b', 'c%20'],
    'dbs/a/colls/b/docs/c%20',
  ],
  [
    '/dbs/a/colls/b/docs/c%2Fd',
    'dbs/colls/docs',
    false,
    ['a', 'b', 'c/d'],
    'dbs/a/colls/b/docs/c/d',
  ],
  ['/offers/AbCd', 'offers', false, ['AbCd'], 'offers/AbCd'],
])('%s', (url, shape, isFeed, ids, link) => {
  expect(parseTarget(url)).toEqual({ shape, isFeed, ids, link });
});

test.each(['/dbs/%', '/dbs/%E0%A4%A', '/dbs/%ff', `/${'a/'.repeat(11)}`])(
  '%s is refused',
  (url) => {
    expect(() => parseTarget(url)).toThrow(expect.objectContaining({ code: 'invalidInput' }));
  },
);
