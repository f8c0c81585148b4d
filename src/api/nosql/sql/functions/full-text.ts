/**
 * Full-text functions in their exact, simple form: words in lower case are compared as they are, without stemming.
 * Scores are BM25 with the statistics that the rewritten query brings along.
 */
import { bm25, countContentWords, type TextStatistics, wordsOf } from '../../../../search/index.ts';
import { isList, type Value } from '../../../../value/index.ts';
import { define, type SystemFunction } from './function.ts';

const ANY_COUNT = Number.POSITIVE_INFINITY;

export const fullTextFunctions: readonly SystemFunction[] = [
  define('FullTextContains', 2, (text, phrase) =>
    typeof text === 'string' && typeof phrase === 'string'
      ? countPhrase(wordsOf(text), wordsOf(phrase)) > 0
      : undefined,
  ),
  define('FullTextContainsAll', [2, ANY_COUNT], (text, ...phrases) => {
    const found = containedPhrases(text, phrases);
    return found?.every((isContained) => isContained);
  }),
  define('FullTextContainsAny', [2, ANY_COUNT], (text, ...phrases) => {
    const found = containedPhrases(text, phrases);
    return found?.some((isContained) => isContained);
  }),
  define('_FullTextWordCount', 1, (text) =>
    typeof text === 'string' ? countContentWords(text) : undefined,
  ),
  define('_FullTextScore', 5, (text, phrases, documentCount, wordCount, hitCounts) => {
    if (!isTextList(phrases) || !isNumberList(hitCounts)) return undefined;
    if (typeof documentCount !== 'number' || typeof wordCount !== 'number') return undefined;
    return fullTextScore(text, phrases, { documentCount, wordCount, hitCounts });
  }),
  define('FullTextScore', [2, ANY_COUNT], (text, ...phrases) => {
    const list = phraseList(phrases);
    return list && fullTextScore(text, list, undefined);
  }),
  // Ranks exist among items only: outside ORDER BY RANK, which takes RRF apart, it has no value.
  define('RRF', [1, ANY_COUNT], () => undefined),
];

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
): Value {
  if (typeof text !== 'string') return undefined;
  const words = wordsOf(text);
  const frequencies = phrases.map((phrase) => countPhrase(words, wordsOf(phrase)));
  return bm25(frequencies, countContentWords(text), statistics);
}

function containedPhrases(text: Value, args: readonly Value[]): readonly boolean[] | undefined {
  const phrases = phraseList(args);
  if (typeof text !== 'string' || !phrases) return undefined;
  const words = wordsOf(text);
  return phrases.map((phrase) => countPhrase(words, wordsOf(phrase)) > 0);
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
