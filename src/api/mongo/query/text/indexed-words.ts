/** The words by which an index finds a document. */
import type { BsonDocument } from '../../../../value/index.ts';
import type { TextRules } from './languages.ts';
import type { TextFields } from './text-query.ts';
import { caseStem, folded, rulesOf, type Sensitivity, textsOf, wordsOf } from './words.ts';

/** Characters of all texts of a document that are looked at; a few milliseconds. */
const TEXT_UNITS_MAX = 128 * 1024;

/** The ways in which searches compare. */
const WAYS: readonly Sensitivity[] = [
  { isCaseSensitive: false, isDiacriticSensitive: false },
  { isCaseSensitive: false, isDiacriticSensitive: true },
  { isCaseSensitive: true, isDiacriticSensitive: false },
  { isCaseSensitive: true, isDiacriticSensitive: true },
];
const PLAIN = /^[a-z0-9_]+$/;

/** A word of any way of comparing, as entries have it: what is the same in that way is the same here. */
export function entryWord(word: string): string {
  return folded(word, WAYS[0] as Sensitivity);
}

/** Undefined where there are more, or where the texts are very long. */
export function indexedWords(
  document: BsonDocument,
  fields: TextFields,
  wordsMax: number,
): readonly string[] | undefined {
  const rules = rulesOf(document, fields);
  const found = new Set<string>();
  const seen = new Set<string>();
  let units = 0;
  for (const { text } of textsOf(document, fields)) {
    units += text.length;
    if (units > TEXT_UNITS_MAX) return undefined;
    for (const word of wordsOf(text)) {
      if (seen.has(word)) continue;
      seen.add(word);
      for (const key of entryWordsOf(word, rules)) found.add(key);
      if (found.size > wordsMax) return undefined;
    }
  }
  return [...found];
}

/** The word as each way of comparing has it; they are nearly always one. */
function entryWordsOf(word: string, rules: TextRules): readonly string[] {
  const small = word.toLowerCase();
  if (rules.isStopWord(small)) return [];
  const stem = rules.stemOf(small);
  if (PLAIN.test(word) && PLAIN.test(stem)) return [stem];
  const cased = caseStem(word, rules);
  return WAYS.map((way) => entryWord(folded(way.isCaseSensitive ? cased : stem, way)));
}
