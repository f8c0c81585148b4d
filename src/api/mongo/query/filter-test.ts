/** Compiles a filter to a function of a document. */
import { EvaluationBudget, spend } from '../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  BsonSymbol,
  bsonTypeOf,
  compareBson,
  Double,
  Extended,
  equalBson,
  isArray,
  isDocument,
  numberOf,
  typeRank,
} from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { DOCUMENT_EVALUATION } from '../limits.ts';
import type { CompareBson } from './collation.ts';
import type { BitsWanted, Comparison, FieldTest, Filter } from './filter.ts';
import { nearDistance } from './geo/near.ts';
import { truncatedToLong } from './numbers.ts';
import { someAt, someWholeAt, splitPath } from './path.ts';
import { compileRegex } from './regex.ts';
import { ValueLookup } from './value-lookup.ts';

export type DocumentTest = (document: BsonDocument) => boolean;
type ValueTest = (value: Bson | undefined) => boolean;

/** @param compare - the order of the collation. */
export function compileFilter(filter: Filter, compare?: CompareBson): DocumentTest {
  switch (filter.kind) {
    case 'always':
      return () => filter.matches;
    case 'computed':
      return filter.test;
    case 'scripted':
      // A decision in a partition cannot wait for an answer: the document had one when it was found.
      return filter.calls.isRunnable ? filter.test : () => true;
    case 'text': {
      const { query } = filter;
      // A decision in a partition knows no text index; the document was found by one.
      return (document) => !query.isBound || query.matches(document);
    }
    case 'field':
      return compileField(filter.path, filter.test, compare);
    case 'and': {
      const { lookups, others } = allTests(filter.of, compare);
      const tests = lookups.concat(others.map((part) => compileFilter(part, compare)));
      return (document) => tests.every((test) => counted(test, document));
    }
    default: {
      const tests = filter.of.map((part) => compileFilter(part, compare));
      const wants = filter.kind === 'or';
      return (document) => tests.some((test) => counted(test, document)) === wants;
    }
  }
}

/** From this many on, the values that one field must have are looked up. */
const LOOKUP_MIN = 16;

/** The values that one field must all have, as `$all` asks for them, are found in one walk through an array. */
function allTests(
  parts: readonly Filter[],
  compare: CompareBson = compareBson,
): { readonly lookups: readonly DocumentTest[]; readonly others: readonly Filter[] } {
  if (parts.length < LOOKUP_MIN || compare !== compareBson) return { lookups: [], others: parts };
  const byPath = Map.groupBy(parts, (part) =>
    part.kind === 'field' && part.test.kind === 'eq' && part.test.value !== null
      ? part.path.join('.')
      : undefined,
  );
  const lookups: DocumentTest[] = [];
  const others: Filter[] = [];
  for (const [path, same] of byPath)
    if (path === undefined || same.length < LOOKUP_MIN) for (const part of same) others.push(part);
    else lookups.push(allTest(splitPath(path), same));
  return { lookups, others };
}

function allTest(path: readonly string[], parts: readonly Filter[]): DocumentTest {
  const wanted = new ValueLookup();
  for (const part of parts)
    if (part.kind === 'field' && part.test.kind === 'eq') wanted.add(part.test.value);
  return (document) => {
    const found = new Set<string>();
    return someAt(document, path, (value) => {
      const key = wanted.keyOf(value);
      if (key !== undefined) found.add(key);
      return found.size === wanted.size;
    });
  };
}

/** Parts of a filter are work: see `withinLimits`. */
function counted(test: DocumentTest, document: BsonDocument): boolean {
  spend(1);
  return test(document);
}

/** The same test, refused where one document takes it longer than others may wait. */
export function withinLimits(test: DocumentTest): DocumentTest {
  const budget = new EvaluationBudget(DOCUMENT_EVALUATION);
  return (document) => {
    const outer = budget.enter();
    try {
      return test(document);
    } finally {
      budget.leave(outer);
    }
  };
}

function compileField(
  path: readonly string[],
  test: FieldTest,
  compare: CompareBson | undefined,
): DocumentTest {
  switch (test.kind) {
    case 'never':
      return () => false;
    case 'not': {
      const tests = test.of.map((inner) => compileField(path, inner, compare));
      return (document) => !tests.every((inner) => inner(document));
    }
    case 'exists': {
      const { wants } = test;
      return (document) => someWholeAt(document, path, (value) => value !== undefined) === wants;
    }
    case 'size':
    case 'elementMatches':
    case 'elementPasses': {
      const passes = valueTest(test, compare);
      return (document) => someWholeAt(document, path, passes);
    }
    default: {
      const passes = valueTest(test, compare);
      return (document) => someAt(document, path, passes);
    }
  }
}

/** Tests one value that a path led to. */
function valueTest(test: FieldTest, compare: CompareBson | undefined): ValueTest {
  switch (test.kind) {
    case 'in':
      return inTest(test.values, test.regexes, compare);
    case 'not': {
      const tests = test.of.map((inner) => valueTest(inner, compare));
      return (value) => !tests.every((inner) => inner(value));
    }
    case 'exists':
      return (value) => (value !== undefined) === test.wants;
    case 'type':
      return (value) => value !== undefined && test.types.has(bsonTypeOf(value));
    case 'regex':
      return regexTest(test.source, test.flags);
    case 'mod':
      return modTest(test.divisor, test.remainder);
    case 'size':
      return (value) => isArray(value) && value.length === test.length;
    case 'bits':
      return bitsTest(test.positions, test.wants);
    case 'geo':
      return test.test;
    case 'near':
      return (value) => nearDistance(test.near, value) !== undefined;
    case 'elementMatches':
      return elementMatches(test.filter, compare);
    case 'elementPasses': {
      const tests = test.tests.map((inner) => valueTest(inner, compare));
      return (value) =>
        isArray(value) && value.some((element) => tests.every((inner) => inner(element)));
    }
    case 'never':
      return () => false;
    default:
      return comparisonTest(test.kind, test.value, compare);
  }
}

function comparisonTest(
  kind: Comparison,
  operand: Bson,
  compare: CompareBson = compareBson,
): ValueTest {
  if (kind === 'eq') return equalityTest(operand, compare);
  if (isNaNumber(operand))
    return kind === 'gte' || kind === 'lte' ? (value) => isNaNumber(value) : () => false;
  const accepts = ACCEPTS[kind];
  // Null is in one bracket with missing values.
  if (operand === null)
    return kind === 'gte' || kind === 'lte' ? (value) => (value ?? null) === null : () => false;
  if (isBeyondTypes(operand)) return (value) => accepts(compare(value, operand));
  const rank = typeRank(operand);
  return (value) => {
    if (value === undefined || typeRank(value) !== rank || isNaNumber(value)) return false;
    return accepts(compare(value, operand));
  };
}

const ACCEPTS: Readonly<Record<Exclude<Comparison, 'eq'>, (order: number) => boolean>> = {
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
};

/** Whether values of every type, and missing ones, are on one side of this one. */
export function isBeyondTypes(value: Bson): boolean {
  return (
    value instanceof Extended &&
    (value.payload.kind === 'minKey' || value.payload.kind === 'maxKey')
  );
}

function isNaNumber(value: Bson | undefined): boolean {
  if (value instanceof Double) return Number.isNaN(value.value);
  return (
    value instanceof Extended &&
    value.payload.kind === 'decimal' &&
    value.payload.digits.endsWith('NaN')
  );
}

function equalityTest(operand: Bson, compare: CompareBson): ValueTest {
  if (operand === null) return (value) => value === null || value === undefined;
  if (compare !== compareBson)
    return (value) => value !== undefined && compare(value, operand) === 0;
  if (typeof operand === 'string') return (value) => value === operand || isSymbol(value, operand);
  return (value) => value !== undefined && equalBson(value, operand);
}

function isSymbol(value: Bson | undefined, text: string): boolean {
  return value instanceof BsonSymbol && value.text === text;
}

/** Values are looked up in sets, so that long lists stay fast: texts and whole numbers as they are. */
function inTest(
  values: readonly Bson[],
  regexes: readonly Bson[],
  compare: CompareBson = compareBson,
): ValueTest {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const lookup = new ValueLookup();
  const others: ValueTest[] = [];
  for (const value of values)
    if (typeof value === 'string' && compare === compareBson) texts.add(value);
    else if (typeof value === 'number') numbers.add(value);
    else if (value !== null && compare === compareBson) lookup.add(value);
    else others.push(equalityTest(value, compare));
  for (const value of regexes) {
    const { payload } = value as Extended;
    if (payload.kind === 'regex') others.push(regexTest(payload.source, payload.flags));
  }
  return (value) => {
    const text = value instanceof BsonSymbol ? value.text : value;
    if (typeof text === 'string' && texts.has(text)) return true;
    const number = numbers.size === 0 ? undefined : numberOf(value);
    if (number !== undefined && numbers.has(Number(doubleOf(value as Bson)))) {
      const exact = doubleOf(value as Bson);
      if (equalBson(value, new Double(exact))) return true;
    }
    if (lookup.keyOf(value) !== undefined) return true;
    return others.some((test) => {
      spend(1);
      return test(value);
    });
  };
}

function regexTest(source: string, flags: string): ValueTest {
  const regex = compileRegex(source, flags);
  return (value) => {
    if (typeof value === 'string') return regex.test(value);
    if (value instanceof BsonSymbol) return regex.test(value.text);
    return (
      value instanceof Extended &&
      value.payload.kind === 'regex' &&
      value.payload.source === source &&
      value.payload.flags === flags
    );
  };
}

function modTest(divisor: bigint, remainder: bigint): ValueTest {
  return (value) => {
    if (value === undefined || !isNumber(value)) return false;
    const whole = truncatedToLong(value);
    return whole !== undefined && whole % divisor === remainder;
  };
}

function bitsTest(positions: readonly number[], wants: BitsWanted): ValueTest {
  return (value) => {
    const bitAt = bitsOf(value);
    if (bitAt === undefined) return false;
    switch (wants) {
      case 'allSet':
        return positions.every((at) => bitAt(at));
      case 'allClear':
        return positions.every((at) => !bitAt(at));
      case 'anySet':
        return positions.some((at) => bitAt(at));
      default:
        return positions.some((at) => !bitAt(at));
    }
  };
}

/** The bits of a whole number, its sign without end, or of bytes; undefined for other values. */
function bitsOf(value: Bson | undefined): ((at: number) => boolean) | undefined {
  if (
    value instanceof Extended &&
    (value.payload.kind === 'binary' || value.payload.kind === 'uuid')
  ) {
    const { bytes } = value.payload;
    return (at) => (((bytes[at >> 3] ?? 0) >> (at & 7)) & 1) === 1;
  }
  if (value === undefined || !isNumber(value)) return undefined;
  const whole = truncatedToLong(value);
  if (whole === undefined || !equalBson(whole, value)) return undefined;
  return (at) => ((whole >> BigInt(Math.min(at, 64))) & 1n) === 1n;
}

function elementMatches(filter: Filter, compare: CompareBson | undefined): ValueTest {
  const matches = compileFilter(filter, compare);
  return (value) =>
    isArray(value) &&
    value.some((element) => {
      if (isDocument(element)) return matches(element);
      return isArray(element) && matches(new Map(element.map((entry, at) => [String(at), entry])));
    });
}
