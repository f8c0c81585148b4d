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
  /** As the query compares them: a document has one of them. */
  readonly words: readonly string[];
  /** As indexes have them, whatever the query tells apart: the score is by these. */
  readonly scored: readonly string[];
  readonly negated: readonly string[];
  readonly phrases: readonly string[];
  readonly negatedPhrases: readonly string[];
}

/** What indexes do not tell apart. */
const INSENSITIVE: Sensitivity = { isCaseSensitive: false, isDiacriticSensitive: false };

export class TextQuery {
  readonly #search: string;
  readonly #options: TextOptions;
  readonly #isSensitive: boolean;
  #fields: TextFields | undefined;
  #terms: Terms | undefined;

  constructor(search: string, options: TextOptions) {
    this.#search = search;
    this.#options = options;
    this.#isSensitive = options.isCaseSensitive || options.isDiacriticSensitive;
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
      scored: new Set<string>(),
      negated: new Set<string>(),
      phrases: [] as string[],
      negatedPhrases: [] as string[],
    };
    const wanted = (text: string): void => {
      for (const stem of stems(text, rules, this.#options)) terms.words.add(stem);
      for (const stem of stems(text, rules, INSENSITIVE)) terms.scored.add(stem);
    };
    for (const [, minus, phrase, word] of this.#search.matchAll(/(-?)"([^"]*)"?|(\S+)/g)) {
      if (phrase !== undefined) {
        if (phrase === '') continue;
        (minus === '-' ? terms.negatedPhrases : terms.phrases).push(this.#folded(phrase));
        if (minus !== '-') wanted(phrase);
      } else if (word?.startsWith('-') === true)
        for (const stem of stems(word.slice(1), rules, this.#options)) terms.negated.add(stem);
      else wanted(word as string);
    }
    const { words, scored, negated } = terms;
    return { ...terms, words: [...words], scored: [...scored], negated: [...negated] };
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
    for (const { text, weight } of texts) addScores(text, weight, rules, scores);
    let total = 0;
    for (const word of terms.scored) total += scores.get(word) ?? 0;
    if (total === 0 || !this.#passes(texts, rules, scores, terms)) return undefined;
    return total;
  }

  /** @param scores - the words of the document, as indexes have them. */
  #passes(
    texts: readonly { readonly text: string }[],
    rules: TextRules,
    scores: ReadonlyMap<string, number>,
    { words, negated, phrases, negatedPhrases }: Terms,
  ): boolean {
    const own = this.#isSensitive
      ? new Set(texts.flatMap(({ text }) => stems(text, rules, this.#options)))
      : scores;
    if (this.#isSensitive && !words.some((word) => own.has(word))) return false;
    if (negated.some((word) => own.has(word))) return false;
    if (phrases.length === 0 && negatedPhrases.length === 0) return true;
    const folded = texts.map(({ text }) => this.#folded(text));
    const has = (phrase: string): boolean => folded.some((text) => text.includes(phrase));
    return phrases.every(has) && !negatedPhrases.some(has);
  }
}

/** Stems of the words of a text that are no stop words. */
function stems(text: string, rules: TextRules, sensitivity: Sensitivity): readonly string[] {
  const found: string[] = [];
  for (const word of wordsOf(text)) {
    const small = word.toLowerCase();
    if (rules.isStopWord(small)) continue;
    const stem = sensitivity.isCaseSensitive ? caseStem(word, rules) : rules.stemOf(small);
    found.push(folded(stem, sensitivity));
  }
  return found;
}

/** MongoDB's measure: later finds of a word count half, words of a long text less, and a text that is one word more. */
function addScores(
  text: string,
  weight: number,
  rules: TextRules,
  scores: Map<string, number>,
): void {
  const found = new Map<string, { count: number; frequency: number; share: number }>();
  const all = stems(text, rules, INSENSITIVE);
  for (const stem of all) {
    const entry = found.get(stem) ?? { count: 0, frequency: 0, share: 2 };
    entry.count += 1;
    entry.share /= 2;
    entry.frequency += entry.share;
    found.set(stem, entry);
  }
  for (const [stem, { count, frequency }] of found) {
    const coefficient = (0.5 * count) / all.length + 0.5;
    const adjustment =
      text.length === stem.length && text.toLowerCase() === stem.toLowerCase() ? 1.1 : 1;
    scores.set(stem, (scores.get(stem) ?? 0) + weight * frequency * coefficient * adjustment);
  }
}
