// Goal: texts are split into words as the scores of the reference service show. Method: a table of texts and their
// words.
import { expect, test } from 'vitest';
import { textLanguage } from './text-libraries.ts';
import { countContentWords, tokenize } from './words.ts';

test.each([
  ['', [], 0],
  ['The quick, brown foxes running!', ['the', 'quick', 'brown', 'fox', 'run'], 4],
  ['1,977 at the 2010 census', ['1', '977', 'at', 'the', '2010', 'census'], 4],
  ['Arizona-Sonora', ['arizona', 'sonora'], 2],
  ['October 13, 1865 \u2013 1959', ['octob', '13', '1865', '\u2013', '1959'], 5],
  ['Z\u00fcrich snake_case', ['z\u00fcrich', 'snake', 'case'], 3],
])('%s', (text, words, count) => {
  expect(tokenize(text)).toEqual(words);
  expect(countContentWords(text)).toBe(count);
});

test.each([
  ['fr', 'Les chevaux mangeaient', ['le', 'cheval', 'mang'], 2],
  ['de', 'Die Häuser der Stadt', ['die', 'haus', 'der', 'stadt'], 2],
  ['es', 'Las canciones bonitas', ['las', 'cancion', 'bonit'], 2],
] as const)('%s: %s', (language, text, words, count) => {
  expect(tokenize(text, language)).toEqual(words);
  expect(countContentWords(text, language)).toBe(count);
});

test('languages are named by tags; an unknown one is English', () => {
  expect(['en-US', 'pt-BR', 'FR', 'xx', undefined].map(textLanguage)).toEqual([
    'en',
    'pt',
    'fr',
    'en',
    'en',
  ]);
});
