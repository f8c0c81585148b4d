// Goal: scores of texts are MongoDB's, whatever the query tells apart. Method: queries on one document each; the
// expected numbers are worked out by its formula.
import { describe, expect, test } from 'vitest';
import { parseText } from './text-query.ts';

const FIELDS = {
  isEverything: false,
  defaultLanguage: 'english',
  languageField: 'language',
};

function scoreOf(
  search: string,
  texts: Readonly<Record<string, string>>,
  weights: Readonly<Record<string, number>> = { a: 1 },
  options: Readonly<Record<string, boolean | string>> = {},
): number | undefined {
  const query = parseText(new Map(Object.entries({ $search: search, ...options })));
  query.bind({ ...FIELDS, weights: new Map(Object.entries(weights)) });
  return query.score(new Map(Object.entries(texts)));
}

describe('scores', () => {
  test.each([
    ['one word of a text with others', 'fig', 'fig pie', 0.75],
    ['a text that is the word', 'fig', 'Fig', 1.1],
    ['a word that is not its stem', 'coffee', 'coffee', 1],
    ['later finds count half', 'fig', 'fig fig fig', 1.75],
    ['words that are left out do not count', 'fig', 'the fig and its pie', 0.75],
    ['every word of the search adds', 'fig pie', 'fig pie', 1.5],
    ['nothing', 'fig', 'pie', undefined],
    ['a phrase adds its words', '"fig pie"', 'fig pie', 1.5],
    ['a word that is denied', 'fig -pie', 'fig pie', undefined],
  ])('%s', (_, search, text, score) => {
    expect(scoreOf(search, { a: text })).toBe(score);
  });

  test('weights multiply, and fields add', () => {
    expect(scoreOf('fig', { a: 'fig pie', b: 'fig pie' }, { a: 10, b: 2 })).toBe(9);
  });

  test('a search that tells cases apart has the scores of one that does not', () => {
    const sensitive = { $caseSensitive: true };
    expect(scoreOf('Fig', { a: 'Fig fig' }, { a: 1 }, sensitive)).toBe(1.5);
    expect(scoreOf('Fig', { a: 'fig fig' }, { a: 1 }, sensitive)).toBe(undefined);
    const accents = { $diacriticSensitive: true };
    expect(
      scoreOf('caf\u00e9', { a: 'caf\u00e9 cafe' }, { a: 1 }, { ...accents, $language: 'none' }),
    ).toBe(1.5);
    expect(scoreOf('caf\u00e9', { a: 'cafe' }, { a: 1 }, { ...accents, $language: 'none' })).toBe(
      undefined,
    );
  });
});

test('well, make and can are words of English that are looked for', () => {
  expect(scoreOf('well-known', { a: 'well done' })).toBe(0.75);
  expect(scoreOf('make', { a: 'makes' })).toBe(1);
  expect(scoreOf("don't", { a: "don't" })).toBe(undefined);
});
