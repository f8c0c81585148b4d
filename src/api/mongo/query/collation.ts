/** Collations: texts in the order of a language, by ICU. */
import {
  type Bson,
  type BsonDocument,
  BsonSymbol,
  bsonTypeOf,
  compareBson,
  isArray,
  isDocument,
  typeRank,
} from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';
import { wholeOf } from '../fields/numbers.ts';

export type CompareBson = (a: Bson | undefined, b: Bson | undefined) => number;

/** Undefined stands for the simple collation: texts by their code points. */
export interface Collation {
  /** With every option, as `listIndexes` shows it. */
  readonly described: BsonDocument;
  readonly compare: CompareBson;
  readonly compareTexts: (a: string, b: string) => number;
}

const STRENGTHS = ['base', 'accent', 'variant'] as const;
const VERSION = '57.1';

const OPTIONS: ReadonlySet<string> = new Set([
  'locale',
  'caseLevel',
  'caseFirst',
  'strength',
  'numericOrdering',
  'alternate',
  'maxVariable',
  'normalization',
  'backwards',
  'version',
]);

/** Undefined for none and for the simple one. Throws BadValue and its kind. */
export function parseCollation(sent: BsonDocument | undefined): Collation | undefined {
  if (sent === undefined || sent.size === 0) return undefined;
  for (const name of sent.keys())
    if (!OPTIONS.has(name))
      throw new MongoError(
        'IDLUnknownField',
        `BSON field 'collation.${name}' is an unknown field.`,
      );
  const locale = textIn(sent, 'locale');
  if (locale === undefined)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field 'collation.locale' is missing but a required field",
    );
  if (sent.get('backwards') === null) throw wrongType('backwards', null, 'bool');
  const options = parseOptions(sent, locale);
  const version = textIn(sent, 'version');
  if (version !== undefined && version !== VERSION)
    throw new MongoError(
      'IncompatibleCollationVersion',
      `Requested collation version '${version}' is not the one of this server: '${VERSION}'`,
    );
  // The simple one has no use for the other options.
  if (locale === 'simple') return undefined;
  checkTogether(options);
  return collationOf(locale, options);
}

export const SIMPLE: BsonDocument = new Map([['locale', 'simple']]);

/** Whether two collations with all their options are one; undefined is the simple one. */
export function sameCollation(a: BsonDocument | undefined, b: BsonDocument | undefined): boolean {
  const [left, right] = [parseCollation(a), parseCollation(b)];
  return compareBson(left?.described ?? null, right?.described ?? null) === 0;
}

interface Options {
  readonly strength: number;
  readonly caseLevel: boolean;
  readonly caseFirst: 'upper' | 'lower' | 'off';
  readonly numericOrdering: boolean;
  readonly alternate: 'non-ignorable' | 'shifted';
  readonly maxVariable: 'punct' | 'space';
  readonly normalization: boolean;
  readonly backwards: boolean;
}

/** What ICU's data of a language say where the options do not. */
const LOCALE_DEFAULTS: Readonly<Record<string, Partial<Options>>> = {
  da: { caseFirst: 'upper' },
  fr_CA: { backwards: true },
  mt: { caseFirst: 'upper' },
  th: { alternate: 'shifted' },
};

function parseOptions(sent: BsonDocument, locale: string): Options {
  const defaults = Object.hasOwn(LOCALE_DEFAULTS, locale) ? LOCALE_DEFAULTS[locale] : undefined;
  return {
    strength: strengthIn(sent),
    caseLevel: flagIn(sent, 'caseLevel') ?? false,
    caseFirst: oneOf(sent, 'caseFirst', ['off', 'upper', 'lower'] as const, defaults?.caseFirst),
    numericOrdering: flagIn(sent, 'numericOrdering') ?? false,
    alternate: oneOf(sent, 'alternate', ['non-ignorable', 'shifted'] as const, defaults?.alternate),
    maxVariable: oneOf(sent, 'maxVariable', ['punct', 'space'] as const),
    normalization: flagIn(sent, 'normalization') ?? false,
    backwards: flagIn(sent, 'backwards') ?? defaults?.backwards ?? false,
  };
}

function checkTogether(options: Options): void {
  if (options.backwards === true && options.strength === 1)
    throw bad(`'backwards' is invalid with 'strength' of 1`);
  if (options.caseFirst !== 'off' && !options.caseLevel && options.strength < 3)
    throw bad(`'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2`);
}

function collationOf(locale: string, options: Options): Collation {
  const { strength, caseLevel, caseFirst, numericOrdering, alternate } = options;
  const tag = tagOf(locale);
  const sensitivity =
    caseLevel && strength === 1 ? 'case' : strength >= 4 ? 'variant' : STRENGTHS[strength - 1];
  const collator = new Intl.Collator(tag, {
    numeric: numericOrdering,
    caseFirst: caseFirst === 'off' ? 'false' : caseFirst,
    ignorePunctuation: alternate === 'shifted' && options.maxVariable === 'punct',
    sensitivity: sensitivity as 'variant',
  });
  const described = new Map<string, Bson>([
    ['locale', locale],
    ['caseLevel', caseLevel],
    ['caseFirst', caseFirst],
    ['strength', strength],
    ['numericOrdering', numericOrdering],
    ['alternate', alternate],
    ['maxVariable', options.maxVariable],
    ['normalization', options.normalization],
    ['backwards', options.backwards],
    ['version', VERSION],
  ]);
  const compared = textsCompared(collator, options, quaternaryOrder(locale, options));
  const ignoresSpaces = alternate === 'shifted' && options.maxVariable === 'space';
  const compareTexts = ignoresSpaces
    ? (a: string, b: string): number => compared(a.replace(SPACES, ''), b.replace(SPACES, ''))
    : compared;
  const collation = { described, compareTexts, compare: compareWith(compareTexts) };
  BEHIND.set(collation.compare, collation);
  return collation;
}

const BEHIND = new WeakMap<CompareBson, Collation>();

/** The collation whose order this is; undefined for the simple order. */
export function collationBehind(compare: CompareBson): Collation | undefined {
  return BEHIND.get(compare);
}

/** Spaces, without those that do not break. */
const SPACES = /[^\S\u00a0\u2007\u202f]+/gu;

/** Identical texts only differ at strength 5; case alone at strength 2 with a case level. */
function textsCompared(
  collator: Intl.Collator,
  { strength, caseLevel, backwards }: Options,
  quaternary: Order | undefined,
): Order {
  const order: Order = (a, b) => {
    const first = collator.compare(a, b);
    if (first !== 0) return first;
    if (caseLevel && strength === 2) return caseOrder(a, b);
    const fourth = quaternary?.(a, b) ?? 0;
    if (fourth !== 0 || strength < 5) return fourth;
    const [left, right] = [a.normalize('NFD'), b.normalize('NFD')];
    return left < right ? -1 : left > right ? 1 : 0;
  };
  if (!backwards || strength < 2) return order;
  const { locale, numeric, ignorePunctuation } = collator.resolvedOptions();
  const base = new Intl.Collator(locale, { numeric, ignorePunctuation, sensitivity: 'base' });
  // Accents are compared from the end of the text.
  return (a, b) => base.compare(a, b) || collator.compare(reversed(a), reversed(b)) || order(a, b);
}

type Order = (a: string, b: string) => number;

/** The weight of letters at the fourth level: above every punctuation mark. */
const LETTER = '';

/** What the fourth level tells apart: punctuation that the other levels ignore, and the two scripts of Japanese. */
function quaternaryOrder(locale: string, { strength, alternate }: Options): Order | undefined {
  if (strength < 4) return undefined;
  if (locale === 'ja') return (a, b) => compareWeights(kanaOf(a), kanaOf(b), compareCodes);
  if (alternate !== 'shifted') return undefined;
  const plain = new Intl.Collator(locale.split('@')[0]?.replaceAll('_', '-'));
  const shifted = new Intl.Collator('en', { ignorePunctuation: true });
  const weightsOf = (text: string): string[] =>
    [...text]
      .filter((letter) => plain.compare(letter, '') !== 0)
      .map((letter) => (shifted.compare(letter, '') === 0 ? letter : LETTER));
  return (a, b) =>
    compareWeights(weightsOf(a), weightsOf(b), (x, y) =>
      x === LETTER || y === LETTER
        ? Number(x === LETTER) - Number(y === LETTER)
        : plain.compare(x, y),
    );
}

function kanaOf(text: string): string[] {
  return [...text.normalize('NFC')].map((letter) =>
    /\p{Script=Katakana}/u.test(letter) ? '1' : '0',
  );
}

function compareCodes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareWeights(a: readonly string[], b: readonly string[], compare: Order): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const order = compare(a[at] as string, b[at] as string);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function reversed(text: string): string {
  return [...text.normalize('NFC')].reverse().join('');
}

/** Small letters come first. */
function caseOrder(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [x, y] = [isUpper(left[at] as string), isUpper(right[at] as string)];
    if (x !== y) return x ? 1 : -1;
  }
  return 0;
}

function isUpper(letter: string): boolean {
  return letter !== letter.toLowerCase();
}

/** The order of all values with texts in the order of the collation, at every depth. */
function compareWith(compareTexts: (a: string, b: string) => number): CompareBson {
  const compare: CompareBson = (a, b) => {
    const rank = typeRank(a);
    const order = rank - typeRank(b);
    if (order !== 0 || a === undefined || b === undefined) return order;
    if (isText(a) && isText(b)) return compareTexts(textOf(a), textOf(b));
    if (isArray(a) && isArray(b)) return compareLists(a, b, compare);
    if (isDocument(a) && isDocument(b)) return compareDocuments(a, b, compare);
    return compareBson(a, b);
  };
  return compare;
}

function isText(value: Bson): value is string | BsonSymbol {
  return typeof value === 'string' || value instanceof BsonSymbol;
}

function textOf(value: string | BsonSymbol): string {
  return typeof value === 'string' ? value : value.text;
}

function compareLists(a: readonly Bson[], b: readonly Bson[], compare: CompareBson): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const order = compare(a[at], b[at]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareDocuments(a: BsonDocument, b: BsonDocument, compare: CompareBson): number {
  const right = b.entries();
  for (const [name, value] of a) {
    const next = right.next();
    if (next.done === true) return 1;
    const [otherName, other] = next.value;
    const order =
      typeRank(value) - typeRank(other) || compareBson(name, otherName) || compare(value, other);
    if (order !== 0) return order;
  }
  return right.next().done === true ? 0 : -1;
}

/** ICU's name of a locale: `de@collation=phonebook` and `zh_Hant` among them. */
function tagOf(locale: string): string {
  const [sent = '', keyword] = locale.split('@collation=');
  // ICU's data of Canadian French order accents from the end, which `backwards` does here.
  const name = sent === 'fr_CA' ? 'fr' : sent;
  const type = keyword === undefined ? '' : `-u-co-${TYPES[keyword] ?? keyword}`;
  const tag = `${name.replaceAll('_', '-')}${type}`;
  try {
    const [known] = Intl.Collator.supportedLocalesOf(tag);
    if (known !== undefined && !locale.includes('\0')) return tag;
  } catch {
    // Not even a tag.
  }
  throw bad(`Field 'locale' is invalid in: { locale: "${locale}" }`);
}

const TYPES: Readonly<Record<string, string>> = {
  phonebook: 'phonebk',
  traditional: 'trad',
  dictionary: 'dict',
};

function textIn(sent: BsonDocument, name: string): string | undefined {
  const value = sent.get(name) ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw wrongType(name, value, 'string');
}

function flagIn(sent: BsonDocument, name: string): boolean | undefined {
  const value = sent.get(name) ?? undefined;
  if (value === undefined || typeof value === 'boolean') return value;
  throw wrongType(name, value, 'bool');
}

function strengthIn(sent: BsonDocument): number {
  const value = sent.get('strength') ?? undefined;
  if (value === undefined) return 3;
  if (!isNumber(value)) throw wrongType('strength', value, 'int');
  const strength = wholeOf(value);
  if (!(strength >= 1 && strength <= 5))
    throw new MongoError(
      'BadValue',
      `Enumeration value '${doubleOf(value)}' for field 'collation.strength' is not a valid value.`,
    );
  return strength;
}

function oneOf<T extends string>(
  sent: BsonDocument,
  name: string,
  allowed: readonly [T, ...T[]],
  fallback: T = allowed[0],
): T {
  const value = textIn(sent, name);
  if (value === undefined) return fallback;
  const found = allowed.find((each) => each === value);
  if (found === undefined)
    throw bad(`Enumeration value '${value}' for field 'collation.${name}' is not a valid value.`);
  return found;
}

function wrongType(name: string, value: Bson, expected: string): MongoError {
  return new MongoError(
    'TypeMismatch',
    `BSON field 'collation.${name}' is the wrong type '${bsonTypeOf(value)}', expected type '${expected}'`,
  );
}

function bad(message: string): MongoError {
  return new MongoError('BadValue', message);
}
