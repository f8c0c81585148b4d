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
  const { newStemmer } = require('snowball-stemmers') as StemmerModule;
  const stemmer = newStemmer(NAMES[language].stemmer);
  return (word) => stemmer.stem(word);
}

export function loadStopWords(language: TextLanguage): ReadonlySet<string> {
  const lists = require('stopword') as StopWordModule;
  return new Set(lists[NAMES[language].code]);
}
