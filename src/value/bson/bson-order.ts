/**
 * MongoDB's order of all values, the one that sorts, range filters, `$min` and groups use.
 *
 *   minKey < undefined, missing < null < number < text, symbol < object < array < binary < objectId < bool < date
 *   < timestamp < regex < pointer < code < code with scope < maxKey
 *
 * Numbers of all four kinds are on one line with NaN first. Objects compare property by property: type, name, value.
 */
import { compareBytes } from '../../base/index.ts';
import { compareNumbers, type NumberValue } from '../key/number-key.ts';
import { compareTexts } from '../order.ts';
import { Extended, type ExtendedPayload, UUID_SUBTYPE } from '../value.ts';
import {
  type Bson,
  BsonCode,
  type BsonDocument,
  BsonPointer,
  BsonSymbol,
  type BsonType,
  bsonTypeOf,
  Double,
} from './bson.ts';

const RANKS: Readonly<Record<BsonType, number>> = {
  minKey: -1,
  undefined: 0,
  null: 5,
  int: 10,
  long: 10,
  double: 10,
  decimal: 10,
  string: 15,
  symbol: 15,
  object: 20,
  array: 25,
  binData: 30,
  objectId: 35,
  bool: 40,
  date: 45,
  timestamp: 47,
  regex: 50,
  dbPointer: 55,
  javascript: 60,
  javascriptWithScope: 65,
  maxKey: 127,
};

/** The place of the value's type; values of one place are compared with each other by range filters. */
export function typeRank(value: Bson | undefined): number {
  return value === undefined ? RANKS.undefined : RANKS[bsonTypeOf(value)];
}

/** Negative, zero or positive. A missing value is `undefined`. */
export function compareBson(a: Bson | undefined, b: Bson | undefined): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const rank = typeRank(a);
  const order = rank - typeRank(b);
  if (order !== 0 || a === undefined || b === undefined) return order;
  switch (rank) {
    case RANKS.int:
      return compareNumeric(a, b);
    case RANKS.string:
      return compareTexts(textOf(a), textOf(b));
    case RANKS.object:
      return compareDocuments(a as BsonDocument, b as BsonDocument);
    case RANKS.array:
      return compareArrays(a as readonly Bson[], b as readonly Bson[]);
    case RANKS.bool:
      return Number(a) - Number(b);
    default:
      return compareOthers(a, b);
  }
}

export function equalBson(a: Bson | undefined, b: Bson | undefined): boolean {
  return a === b || compareBson(a, b) === 0;
}

/** The number on the number line of the value model; undefined if the value is none. */
export function numberOf(value: Bson | undefined): NumberValue | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof Double) return value.value;
  if (typeof value === 'bigint') return new Extended({ kind: 'int64', value }) as NumberValue;
  if (
    value instanceof Extended &&
    (value.payload.kind === 'decimal' || value.payload.kind === 'int64')
  )
    return value as NumberValue;
  return undefined;
}

function compareNumeric(a: Bson, b: Bson): number {
  return compareNumbers(numberOf(a) as NumberValue, numberOf(b) as NumberValue);
}

function textOf(value: Bson): string {
  return value instanceof BsonSymbol ? value.text : (value as string);
}

function compareDocuments(a: BsonDocument, b: BsonDocument): number {
  const right = b.entries();
  for (const [name, value] of a) {
    const next = right.next();
    if (next.done === true) return 1;
    const [otherName, other] = next.value;
    const order =
      typeRank(value) - typeRank(other) ||
      compareTexts(name, otherName) ||
      compareBson(value, other);
    if (order !== 0) return order;
  }
  return right.next().done === true ? 0 : -1;
}

function compareArrays(a: readonly Bson[], b: readonly Bson[]): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const order = compareBson(a[at], b[at]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareOthers(a: Bson, b: Bson): number {
  if (a instanceof Extended && b instanceof Extended) return comparePayloads(a.payload, b.payload);
  if (a instanceof BsonCode && b instanceof BsonCode)
    return (
      compareTexts(a.source, b.source) ||
      compareDocuments(a.scope ?? new Map(), b.scope ?? new Map())
    );
  if (a instanceof BsonPointer && b instanceof BsonPointer)
    return compareTexts(a.namespace, b.namespace) || compareBytes(a.id, b.id);
  return 0;
}

function comparePayloads(a: ExtendedPayload, b: ExtendedPayload): number {
  if (a.kind === 'objectId' && b.kind === 'objectId') return compareBytes(a.bytes, b.bytes);
  if (a.kind === 'date' && b.kind === 'date') return a.ms - b.ms;
  if (a.kind === 'timestamp' && b.kind === 'timestamp') return a.high - b.high || a.low - b.low;
  if (a.kind === 'regex' && b.kind === 'regex')
    return compareTexts(a.source, b.source) || compareTexts(a.flags, b.flags);
  if ((a.kind === 'binary' || a.kind === 'uuid') && (b.kind === 'binary' || b.kind === 'uuid'))
    return (
      a.bytes.length - b.bytes.length ||
      subtypeOf(a) - subtypeOf(b) ||
      compareBytes(a.bytes, b.bytes)
    );
  return 0;
}

function subtypeOf(payload: ExtendedPayload): number {
  return payload.kind === 'binary' ? payload.subtype : UUID_SUBTYPE;
}
