/** `$text`: words, phrases and negated words, looked for in the fields of the collection's text index. */
import { type Bson, type BsonDocument, bsonTypeOf, isDocument } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { entryWord } from './indexed-words.ts';
import { type TextRules, textRules } from './languages.ts';
import { caseStem, folded, rulesOf, type Sensitivity, textsOf, wordsOf } from './words.ts';

/** What of a text index a query needs. */
export interface TextFields {
  /** Empty with `isEverything`: all texts of a document. */
  readonly weights: ReadonlyMap<string, number>;
  readonly isEverything: boolean;
  readonly defaultLanguage: string;
  readonly languageField: string;
}

const OPTIONS: ReadonlySet<string> = new Set([
  '$search',
  '$language',
  '$caseSensitive',
  '$diacriticSensitive',
]);

export function parseText(sent: Bson): TextQuery {
  if (!isDocument(sent)) throw new MongoError('BadValue', '$text expects an object');
  const search = sent.get('$search');
  if (search === undefined) throw new MongoError('NoSuchKey', 'Missing expected field "$search"');
  if (typeof search !== 'string') throw wrongType('$search', search, 'string');
  const language = sent.get('$language');
  if (language !== undefined && typeof language !== 'string')
    throw wrongType('$language', language, 'string');
  const isCaseSensitive = flagIn(sent, '$caseSensitive');
  const isDiacriticSensitive = flagIn(sent, '$diacriticSensitive');
  for (const name of sent.keys())
    if (!OPTIONS.has(name)) throw new MongoError('BadValue', 'extra fields in $text');
  if (language !== undefined && language !== '' && textRules(language) === undefined)
    throw new MongoError(
      'BadValue',
      `$text: unsupported language: "${language}" for text index version 3`,
    );
  return new TextQuery(search, { language, isCaseSensitive, isDiacriticSensitive });
}

function flagIn(sent: BsonDocument, name: string): boolean {
  const value = sent.get(name);
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  throw wrongType(name, value, 'bool');
}

function wrongType(name: string, value: Bson, expected: string): MongoError {
  return new MongoError(
    'TypeMismatch',
    `"${name}" had the wrong type. Expected ${expected}, found ${bsonTypeOf(value)}`,
  );
}

interface TextOptions extends Sensitivity {
  readonly language: string | undefined;
}

interface Terms {
  readonly words: readonly string[];
  readonly negated: readonly string[];
  readonly phrases: readonly string[];
  readonly negatedPhrases: readonly string[];
}

export class TextQuery {
  readonly #search: string;
  readonly #options: TextOptions;
  #fields: TextFields | undefined;
  #terms: Terms | undefined;

  constructor(search: string, options: TextOptions) {
    this.#search = search;
    this.#options = options;
  }

  get isBound(): boolean {
    return this.#fields !== undefined;
  }

  /** Says where words are looked for. A query that is not bound matches nothing. */
  bind(fields: TextFields): void {
    this.#fields = fields;
    const rules = textRules(this.#options.language || fields.defaultLanguage) ?? textRules('none');
    this.#terms = this.#parse(rules as TextRules);
  }

  #parse(rules: TextRules): Terms {
    const terms = {
      words: new Set<string>(),
      negated: new Set<string>(),
      phrases: [] as string[],
      negatedPhrases: [] as string[],
    };
    for (const [, minus, phrase, word] of this.#search.matchAll(/(-?)"([^"]*)"?|(\S+)/g)) {
      if (phrase !== undefined) {
        if (phrase === '') continue;
        (minus === '-' ? terms.negatedPhrases : terms.phrases).push(this.#folded(phrase));
        if (minus !== '-') for (const stem of this.#stems(phrase, rules)) terms.words.add(stem);
        continue;
      }
      const isNegated = word?.startsWith('-') === true;
      const stems = this.#stems(isNegated ? (word as string).slice(1) : (word as string), rules);
      for (const stem of stems) (isNegated ? terms.negated : terms.words).add(stem);
    }
    return { ...terms, words: [...terms.words], negated: [...terms.negated] };
  }

  /** Stems of the words of a text that are no stop words. */
  #stems(text: string, rules: TextRules): readonly string[] {
    const stems: string[] = [];
    for (const word of wordsOf(text)) {
      const small = word.toLowerCase();
      if (rules.isStopWord(small)) continue;
      stems.push(
        this.#folded(this.#options.isCaseSensitive ? caseStem(word, rules) : rules.stemOf(small)),
      );
    }
    return stems;
  }

  #folded(text: string): string {
    return folded(text, this.#options);
  }

  /** The words of which a document must have one, as entries of an index have them; of a query that is bound. */
  get entryWords(): readonly string[] {
    return [...new Set(this.#terms?.words.map(entryWord))];
  }

  matches(document: BsonDocument): boolean {
    return this.score(document) !== undefined;
  }

  /** Undefined where the document does not match. */
  score(document: BsonDocument): number | undefined {
    const [fields, terms] = [this.#fields, this.#terms];
    if (fields === undefined || terms === undefined || terms.words.length === 0) return undefined;
    const texts = textsOf(document, fields);
    const rules = rulesOf(document, fields);
    const scores = new Map<string, number>();
    for (const { text, weight } of texts) this.#addScores(text, weight, rules, scores);
    if (terms.negated.some((word) => scores.has(word))) return undefined;
    const folded = texts.map(({ text }) => this.#folded(text));
    if (!terms.phrases.every((phrase) => folded.some((text) => text.includes(phrase))))
      return undefined;
    if (terms.negatedPhrases.some((phrase) => folded.some((text) => text.includes(phrase))))
      return undefined;
    let total = 0;
    for (const word of terms.words) total += scores.get(word) ?? 0;
    return total > 0 ? total : undefined;
  }

  #addScores(text: string, weight: number, rules: TextRules, scores: Map<string, number>): void {
    const found = new Map<string, { count: number; frequency: number; share: number }>();
    const stems = this.#stems(text, rules);
    for (const stem of stems) {
      const entry = found.get(stem) ?? { count: 0, frequency: 0, share: 2 };
      entry.count += 1;
      entry.share /= 2;
      entry.frequency += entry.share;
      found.set(stem, entry);
    }
    for (const [stem, { count, frequency }] of found) {
      const coefficient = (0.5 * count) / stems.length + 0.5;
      const adjustment =
        text.length === stem.length && text.toLowerCase() === stem.toLowerCase() ? 1.1 : 1;
      scores.set(stem, (scores.get(stem) ?? 0) + weight * frequency * coefficient * adjustment);
    }
  }
}
