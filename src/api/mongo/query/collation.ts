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
  const options = parseOptions(sent);
  const version = textIn(sent, 'version');
  if (version !== undefined && version !== VERSION)
    throw new MongoError(
      'IncompatibleCollationVersion',
      `Requested collation version '${version}' is not the one of this server: '${VERSION}'`,
    );
  if (locale === 'simple') {
    if (sent.size > 1) throw bad(`Collation spec '{ locale: "simple" }' cannot have other options`);
    return undefined;
  }
  return collationOf(locale, options);
}

interface Options {
  readonly strength: number;
  readonly caseLevel: boolean;
  readonly caseFirst: 'upper' | 'lower' | 'off';
  readonly numericOrdering: boolean;
  readonly alternate: 'non-ignorable' | 'shifted';
  readonly maxVariable: 'punct' | 'space';
  readonly normalization: boolean;
  readonly backwards: boolean | undefined;
}

function parseOptions(sent: BsonDocument): Options {
  const options = {
    strength: strengthIn(sent),
    caseLevel: flagIn(sent, 'caseLevel') ?? false,
    caseFirst: oneOf(sent, 'caseFirst', ['off', 'upper', 'lower'] as const),
    numericOrdering: flagIn(sent, 'numericOrdering') ?? false,
    alternate: oneOf(sent, 'alternate', ['non-ignorable', 'shifted'] as const),
    maxVariable: oneOf(sent, 'maxVariable', ['punct', 'space'] as const),
    normalization: flagIn(sent, 'normalization') ?? false,
    backwards: flagIn(sent, 'backwards'),
  };
  if (options.backwards === true && options.strength === 1)
    throw bad(`'backwards' is invalid with 'strength' of 1`);
  if (options.caseFirst !== 'off' && !options.caseLevel && options.strength < 3)
    throw bad(`'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2`);
  return options;
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
  const isBackwards = options.backwards ?? locale === 'fr_CA';
  const described = new Map<string, Bson>([
    ['locale', locale],
    ['caseLevel', caseLevel],
    ['caseFirst', caseFirst],
    ['strength', strength],
    ['numericOrdering', numericOrdering],
    ['alternate', alternate],
    ['maxVariable', options.maxVariable],
    ['normalization', options.normalization],
    ['backwards', isBackwards],
    ['version', VERSION],
  ]);
  const compared = textsCompared(collator, options, isBackwards);
  const ignoresSpaces = alternate === 'shifted' && options.maxVariable === 'space';
  const compareTexts = ignoresSpaces
    ? (a: string, b: string): number => compared(a.replace(/\s+/gu, ''), b.replace(/\s+/gu, ''))
    : compared;
  return { described, compareTexts, compare: compareWith(compareTexts) };
}

/** Identical texts only differ at strength 5; case alone at strength 2 with a case level. */
function textsCompared(
  collator: Intl.Collator,
  { strength, caseLevel, alternate }: Options,
  isBackwards: boolean,
): (a: string, b: string) => number {
  const order = (a: string, b: string): number => {
    const first = collator.compare(a, b);
    if (first !== 0) return first;
    if (caseLevel && strength === 2) return caseOrder(a, b);
    if (strength === 5 || (strength === 4 && alternate === 'shifted'))
      return a < b ? -1 : a > b ? 1 : 0;
    return 0;
  };
  if (!isBackwards || strength < 2) return order;
  const base = new Intl.Collator(collator.resolvedOptions().locale, { sensitivity: 'base' });
  // Accents are compared from the end of the text.
  return (a, b) => {
    const first = base.compare(a, b);
    if (first !== 0) return first;
    return collator.compare(reversed(a), reversed(b)) || order(a, b);
  };
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
  const [name = '', keyword] = locale.split('@collation=');
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
): T {
  const value = textIn(sent, name);
  if (value === undefined) return allowed[0];
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
