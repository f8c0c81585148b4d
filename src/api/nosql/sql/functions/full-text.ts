/**
 * Full-text functions, computed of every text they are given: the stems of words in lower case are compared. Scores are
 * BM25 with the statistics that the rewritten query brings along.
 */
import {
  bm25,
  countContentWords,
  type TextLanguage,
  type TextStatistics,
  wordsOf,
} from '../../../../search/index.ts';
import { isList, type Value } from '../../../../value/index.ts';
import { define, type SystemFunction } from './function.ts';

const ANY_COUNT = Number.POSITIVE_INFINITY;

export function fullTextFunctions(language: TextLanguage): readonly SystemFunction[] {
  const words = (text: string) => wordsOf(text, language);
  return [
    define('FullTextContains', 2, (text, phrase) =>
      typeof text === 'string' && typeof phrase === 'string'
        ? countPhrase(words(text), words(phrase)) > 0
        : undefined,
    ),
    define('FullTextContainsAll', [2, ANY_COUNT], (text, ...phrases) => {
      const found = containedPhrases(text, phrases, language);
      return found?.every((isContained) => isContained);
    }),
    define('FullTextContainsAny', [2, ANY_COUNT], (text, ...phrases) => {
      const found = containedPhrases(text, phrases, language);
      return found?.some((isContained) => isContained);
    }),
    define('_FullTextWordCount', 1, (text) =>
      typeof text === 'string' ? countContentWords(text, language) : undefined,
    ),
    define('_FullTextScore', 5, (text, phrases, documentCount, wordCount, hitCounts) => {
      if (!isTextList(phrases) || !isNumberList(hitCounts)) return undefined;
      if (typeof documentCount !== 'number' || typeof wordCount !== 'number') return undefined;
      return fullTextScore(text, phrases, { documentCount, wordCount, hitCounts }, language);
    }),
  ];
}

/** Phrases of a scoring call: texts one by one, or one list of them. */
export function phraseList(args: readonly Value[]): readonly string[] | undefined {
  const flat = args.flatMap((value) => (isList(value) ? value : [value]));
  return isTextList(flat) ? flat : undefined;
}

/** BM25; without statistics every phrase weighs the same and every text has the average length. */
export function fullTextScore(
  text: Value,
  phrases: readonly string[],
  statistics: TextStatistics | undefined,
  language: TextLanguage,
): Value {
  if (typeof text !== 'string') return undefined;
  const words = wordsOf(text, language);
  const frequencies = phrases.map((phrase) => countPhrase(words, wordsOf(phrase, language)));
  return bm25(frequencies, countContentWords(text, language), statistics);
}

function containedPhrases(
  text: Value,
  args: readonly Value[],
  language: TextLanguage,
): readonly boolean[] | undefined {
  const phrases = phraseList(args);
  if (typeof text !== 'string' || !phrases) return undefined;
  const words = wordsOf(text, language);
  return phrases.map((phrase) => countPhrase(words, wordsOf(phrase, language)) > 0);
}

/** How often the words stand in the text one after the other. */
function countPhrase(words: readonly string[], phrase: readonly string[]): number {
  if (phrase.length === 0) return 0;
  let count = 0;
  for (let at = 0; at + phrase.length <= words.length; at++)
    if (phrase.every((word, offset) => words[at + offset] === word)) count++;
  return count;
}

function isTextList(value: Value | readonly Value[]): value is readonly string[] {
  return isList(value) && value.every((item) => typeof item === 'string');
}

function isNumberList(value: Value): value is readonly number[] {
  return isList(value) && value.every((item) => typeof item === 'number');
}
