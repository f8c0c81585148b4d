/**
 * Full text functions, computed from the texts themselves: they compare the stems of words in lower case. Scores are
 * BM25 with the statistics in the rewritten query.
 */
import { spend } from '../../../../base/index.ts';
import {
  bm25,
  countContentWords,
  type TextLanguage,
  type TextStatistics,
  tokenize,
} from '../../../../search/index.ts';
import { isList, type Value } from '../../../../value/index.ts';
import { define, type SystemFunction } from './function.ts';

const ANY_COUNT = Number.POSITIVE_INFINITY;

export function fullTextFunctions(language: TextLanguage): readonly SystemFunction[] {
  const words = (text: string) => stemmedWords(text, language);
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
      typeof text === 'string' ? contentWords(text, language) : undefined,
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
  for (const value of args) if (isList(value)) spend(value.length);
  const flat = args.flatMap((value) => (isList(value) ? value : [value]));
  return isTextList(flat) ? flat : undefined;
}

/** The BM25 score; without statistics every phrase has the same weight and every text the average length. */
export function fullTextScore(
  text: Value,
  phrases: readonly string[],
  statistics: TextStatistics | undefined,
  language: TextLanguage,
): Value {
  if (typeof text !== 'string') return undefined;
  const words = stemmedWords(text, language);
  const frequencies = phrases.map((phrase) => countPhrase(words, stemmedWords(phrase, language)));
  return bm25(frequencies, contentWords(text, language), statistics);
}

function containedPhrases(
  text: Value,
  args: readonly Value[],
  language: TextLanguage,
): readonly boolean[] | undefined {
  const phrases = phraseList(args);
  if (typeof text !== 'string' || !phrases) return undefined;
  const words = stemmedWords(text, language);
  return phrases.map((phrase) => countPhrase(words, stemmedWords(phrase, language)) > 0);
}

/** The cost is charged up front: tokenizing cannot be interrupted, and a stem costs as much as many letters. */
function stemmedWords(text: string, language: TextLanguage): readonly string[] {
  spend(5 * text.length);
  return tokenize(text, language);
}

export function contentWords(text: string, language: TextLanguage): number {
  spend(text.length);
  return countContentWords(text, language);
}

/** Counts the occurrences of the phrase. */
function countPhrase(words: readonly string[], phrase: readonly string[]): number {
  if (phrase.length === 0) return 0;
  spend(words.length);
  let count = 0;
  for (let at = 0; at + phrase.length <= words.length; at++)
    if (words[at] === phrase[0] && isPhraseAt(words, phrase, at)) count++;
  return count;
}

function isPhraseAt(words: readonly string[], phrase: readonly string[], at: number): boolean {
  let matched = 1;
  while (matched < phrase.length && words[at + matched] === phrase[matched]) matched++;
  spend(matched);
  return matched === phrase.length;
}

function isTextList(value: Value | readonly Value[]): value is readonly string[] {
  return isList(value) && value.every((item) => typeof item === 'string');
}

function isNumberList(value: Value): value is readonly number[] {
  return isList(value) && value.every((item) => typeof item === 'number');
}
