/**
 * Stems and stop words of the languages that full text policies name, by `snowball-stemmers` and `stopword`. Loaded when the
 * first text is looked at: most servers never do.
 */
import { createRequire } from 'node:module';

/** As policies name them, without the region. */
export type TextLanguage = 'de' | 'en' | 'es' | 'fr' | 'it' | 'pt';

interface StemmerModule {
  newStemmer(name: string): { stem(word: string): string };
}

/** Words by ISO 639-3 codes. */
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

/** `en-US` and the like; English where a policy names another language or none. */
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
