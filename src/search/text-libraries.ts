/**
 * Stems and stop words of the languages of full text policies, from `snowball-stemmers` and `stopword`. Loaded with
 * the first text, because most servers have none.
 */
import { createRequire } from 'node:module';

/** Languages as in policies, without the region. */
export type TextLanguage = 'de' | 'en' | 'es' | 'fr' | 'it' | 'pt';

interface StemmerModule {
  newStemmer(name: string): { stem(word: string): string };
}

/** Lists of stop words by ISO 639-3 codes. */
type StopWordModule = Readonly<Record<string, readonly string[]>>;

const NAMES: Readonly<Record<TextLanguage, { readonly stemmer: string; readonly code: string }>> = {
  de: { stemmer: 'german', code: 'deu' },
  en: { stemmer: 'english', code: 'eng' },
  es: { stemmer: 'spanish', code: 'spa' },
  fr: { stemmer: 'french', code: 'fra' },
  it: { stemmer: 'italian', code: 'ita' },
  pt: { stemmer: 'portuguese', code: 'por' },
};

const require = createRequire(import.meta.url);

/** The language of a tag such as `en-US`; English for other languages and for none. */
export function textLanguage(tag: unknown): TextLanguage {
  const language = typeof tag === 'string' ? tag.slice(0, 2).toLowerCase() : '';
  return language in NAMES ? (language as TextLanguage) : 'en';
}

export function loadStemmer(language: TextLanguage): (word: string) => string {
  return stemmerNamed(NAMES[language].stemmer);
}

export function loadStopWords(language: TextLanguage): ReadonlySet<string> {
  return stopWordsOf(NAMES[language].code);
}

/** The stemmer of any language that the library has, by its English name. */
export function stemmerNamed(name: string): (word: string) => string {
  const { newStemmer } = require('snowball-stemmers') as StemmerModule;
  const stemmer = newStemmer(name);
  return (word) => stemmer.stem(word);
}

/** The stop words of a language by its ISO 639-3 code; none where the library has no list. */
export function stopWordsOf(code: string): ReadonlySet<string> {
  const lists = require('stopword') as StopWordModule;
  return new Set(lists[code]);
}
