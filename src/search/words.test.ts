// Goal: texts fall into words as the reference service's scores tell. Method: a table of texts and their words.
import { expect, test } from 'vitest';
import { countContentWords, wordsOf } from './words.ts';

test.each([
  ['', [], 0],
  ['The quick, brown fox!', ['the', 'quick', 'brown', 'fox'], 3],
  ['1,977 at the 2010 census', ['1', '977', 'at', 'the', '2010', 'census'], 4],
  ['Arizona-Sonora', ['arizona', 'sonora'], 2],
  ['October 13, 1865 \u2013 1959', ['october', '13', '1865', '\u2013', '1959'], 5],
  ['Z\u00fcrich snake_case', ['z\u00fcrich', 'snake', 'case'], 3],
])('%s', (text, words, count) => {
  expect(wordsOf(text)).toEqual(words);
  expect(countContentWords(text)).toBe(count);
});
