/** Languages of text indexes: how words are reduced to stems, and which are left out. */
import { stemmerNamed, stopWordsOf } from '../../../../search/index.ts';
import { ENGLISH_STOP_WORDS } from './english-stop-words.ts';

export interface TextRules {
  readonly name: string;
  stemOf(word: string): string;
  isStopWord(word: string): boolean;
}

/** Names and codes as MongoDB takes them, the stemmer, and the code of the list of stop words. */
const LANGUAGES: readonly (readonly [name: string, code: string, list: string])[] = [
  ['danish', 'da', 'dan'],
  ['dutch', 'nl', 'nld'],
  ['english', 'en', 'eng'],
  ['finnish', 'fi', 'fin'],
  ['french', 'fr', 'fra'],
  ['german', 'de', 'deu'],
  ['hungarian', 'hu', 'hun'],
  ['italian', 'it', 'ita'],
  ['norwegian', 'nb', 'nob'],
  ['portuguese', 'pt', 'por'],
  ['romanian', 'ro', 'ron'],
  ['russian', 'ru', 'rus'],
  ['spanish', 'es', 'spa'],
  ['swedish', 'sv', 'swe'],
  ['turkish', 'tr', 'tur'],
];

const NONE: TextRules = { name: 'none', stemOf: (word) => word, isStopWord: () => false };

/** Stems of one language that are remembered. */
const STEMS_MAX = 20_000;

const loaded = new Map<string, TextRules>();

/** Undefined for a name that MongoDB does not know. */
export function textRules(name: string): TextRules | undefined {
  const wanted = name.toLowerCase();
  if (wanted === 'none') return NONE;
  const found = LANGUAGES.find(([full, code]) => full === wanted || code === wanted);
  if (found === undefined) return undefined;
  const rules = loaded.get(found[0]) ?? load(found[0], found[2]);
  loaded.set(found[0], rules);
  return rules;
}

function load(name: string, list: string): TextRules {
  const stem = stemmerNamed(name);
  const stopWords = new Set(name === 'english' ? ENGLISH_STOP_WORDS : stopWordsOf(list));
  const stems = new Map<string, string>();
  return {
    name,
    isStopWord: (word) => stopWords.has(word),
    stemOf(word) {
      const known = stems.get(word);
      if (known !== undefined) return known;
      if (stems.size >= STEMS_MAX) stems.clear();
      const made = stem(word);
      stems.set(word, made);
      return made;
    },
  };
}
