// Goal: the paths of a sample with their types and shares. Method: small samples.
import { expect, test } from 'vitest';
import { schemaOf } from './schema.ts';

test('paths, types, shares; bounded examples', () => {
  const long = 'x'.repeat(1000);
  expect(
    schemaOf([
      { a: 1, b: { c: long } },
      { a: 'x', tags: [{ n: 1 }, { n: 2 }] },
    ]),
  ).toEqual([
    { path: 'a', types: ['number', 'string'], share: 1, example: '1' },
    { path: 'b', types: ['object'], share: 0.5, example: '' },
    { path: 'b.c', types: ['string'], share: 0.5, example: 'x'.repeat(40) },
    { path: 'tags', types: ['list'], share: 0.5, example: '' },
    { path: 'tags[]', types: ['object'], share: 0.5, example: '' },
    { path: 'tags[].n', types: ['number'], share: 0.5, example: '1' },
  ]);
});

test('ten thousand properties are cut', () => {
  const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`p${at}`, at]));
  expect(schemaOf([wide]).length).toBe(2000);
});
