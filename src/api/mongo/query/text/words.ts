/** Words of texts, and how searches fold them. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { type FieldPath, someWholeAt } from '../path.ts';
import { type TextRules, textRules } from './languages.ts';
import type { TextFields } from './text-query.ts';

export interface Sensitivity {
  readonly isCaseSensitive: boolean;
  readonly isDiacriticSensitive: boolean;
}

export function folded(
  text: string,
  { isCaseSensitive, isDiacriticSensitive }: Sensitivity,
): string {
  const cased = isCaseSensitive ? text : text.toLowerCase();
  return isDiacriticSensitive
    ? cased.normalize('NFC')
    : cased.normalize('NFD').replace(/\p{M}/gu, '');
}

/** The stem with the letters of the word as they are. */
export function caseStem(word: string, rules: TextRules): string {
  const stem = rules.stemOf(word.toLowerCase());
  return word.toLowerCase().startsWith(stem) ? word.slice(0, stem.length) : stem;
}

export function wordsOf(text: string): readonly string[] {
  return (
    text
      .match(/[\p{L}\p{N}\p{M}_']+/gu)
      ?.map((word) => word.replace(/^'+|'+$/g, ''))
      .filter((word) => word !== '') ?? []
  );
}

/** The rules of the language that a document names, or of the index. */
export function rulesOf(
  document: BsonDocument,
  { languageField, defaultLanguage }: TextFields,
): TextRules {
  const language = document.get(languageField);
  return (
    textRules(typeof language === 'string' ? language : defaultLanguage) ??
    (textRules('none') as TextRules)
  );
}

interface WeighedText {
  readonly text: string;
  readonly weight: number;
}

export function textsOf(
  document: BsonDocument,
  { weights, isEverything }: TextFields,
): readonly WeighedText[] {
  const texts: WeighedText[] = [];
  for (const [field, weight] of weights)
    someWholeAt(document, field.split('.') as FieldPath, (value) => {
      for (const each of isArray(value) ? value : [value])
        if (typeof each === 'string') texts.push({ text: each, weight });
      return false;
    });
  if (isEverything) collect(document, '', weights, texts);
  return texts;
}

function collect(
  value: Bson,
  path: string,
  weights: ReadonlyMap<string, number>,
  texts: WeighedText[],
): void {
  if (typeof value === 'string') {
    if (!weights.has(path)) texts.push({ text: value, weight: 1 });
  } else if (isArray(value)) for (const each of value) collect(each, path, weights, texts);
  else if (isDocument(value))
    for (const [name, inner] of value)
      collect(inner, path === '' ? name : `${path}.${name}`, weights, texts);
}
