/**
 * What a query asks of the values under paths: a superset of the items that match, in terms an index understands.
 * Dialects build conditions from their filters; what they cannot express is `anything`.
 */
import { type Bytes, concatBytes, KEY_TEXT_BYTES_MAX } from '../../base/index.ts';
import { KEY_TAGS, KeyWriter, keyTagOf, type Path, type Value } from '../../value/index.ts';

export type Condition =
  | { readonly kind: 'anything' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'all'; readonly of: readonly Condition[] }
  | { readonly kind: 'any'; readonly of: readonly Condition[] }
  | TermCondition
  | TextCondition;

/** The text under the path holds the phrases. Only a full text index can tell. */
export interface TextCondition {
  readonly kind: 'text';
  readonly path: Path;
  readonly phrases: readonly string[];
  readonly needs: 'all' | 'any';
}

/** Some value under the path lies in one of the ranges and passes the test. */
export interface TermCondition {
  readonly kind: 'term';
  /** May have EACH steps: then any element will do. */
  readonly path: Path;
  readonly ranges: readonly ValueRange[];
  /** Looked at before the item is loaded: for what an index can tell but ranges cannot say, such as CONTAINS. */
  readonly test?: (value: Value) => boolean;
}

/** Encoded values (value/tuple.ts), [start, end). */
export interface ValueRange {
  readonly start: Bytes;
  readonly end: Bytes;
  /** Exactly one value: its items come in rid order. */
  readonly isPoint: boolean;
}

export const ANYTHING: Condition = { kind: 'anything' };
export const NOTHING: Condition = { kind: 'nothing' };

const writer = new KeyWriter();
const { cosmos } = KEY_TAGS;

/** Equal to the value. Arrays and objects are indexed by kind only. */
export function equalTo(value: Value): ValueRange {
  if (typeof value === 'object' && value !== null) return ofKind(Array.isArray(value) ? [] : {});
  const start = encode(value);
  return { start, end: concatBytes(start, LAST), isPoint: true };
}

/** Follows no value, precedes every other: rids come after a value and begin with a zero byte. */
const LAST = Uint8Array.of(0xff);

/** All values of the same type as this one. */
export function ofKind(example: Value): ValueRange {
  const tag = keyTagOf(example);
  return { start: Uint8Array.of(tag), end: Uint8Array.of(tag + 1), isPoint: false };
}

/** Every defined value. */
export function everyValue(): ValueRange {
  return {
    start: Uint8Array.of(cosmos.null),
    end: Uint8Array.of(cosmos.maxKey + 1),
    isPoint: false,
  };
}

export type Comparison = '<' | '<=' | '>' | '>=';

/** Values of the constant's type on one side of it. */
export function comparedTo(comparison: Comparison, constant: Value): ValueRange {
  if (typeof constant === 'boolean') return comparedToBoolean(comparison, constant);
  const kind = ofKind(constant);
  if (typeof constant === 'string' && constant.length > WHOLE_UNITS_MAX)
    return comparedToLong(comparison, constant);
  const at = encode(constant);
  const behind = concatBytes(at, LAST);
  switch (comparison) {
    case '<':
      return { start: kind.start, end: at, isPoint: false };
    case '<=':
      return { start: kind.start, end: behind, isPoint: false };
    case '>':
      return { start: behind, end: kind.end, isPoint: false };
    case '>=':
      return { start: at, end: kind.end, isPoint: false };
  }
}

/** A key holds a long text only in part: the range goes to the end of what it shares with others. */
function comparedToLong(comparison: Comparison, constant: string): ValueRange {
  const near = startingWith(constant);
  const all = ofKind('');
  return comparison === '<' || comparison === '<='
    ? { start: all.start, end: near.end, isPoint: false }
    : { start: near.start, end: all.end, isPoint: false };
}

/** false < true; each has a tag of its own. */
function comparedToBoolean(comparison: Comparison, constant: boolean): ValueRange {
  const isFrom = (value: boolean): boolean =>
    comparison === '<'
      ? !value && constant
      : comparison === '<='
        ? !value || constant
        : comparison === '>'
          ? value && !constant
          : value || !constant;
  const low = isFrom(false) ? cosmos.false : cosmos.true;
  const high = isFrom(true) ? cosmos.true + 1 : cosmos.false + 1;
  return { start: Uint8Array.of(low), end: Uint8Array.of(Math.max(low, high)), isPoint: false };
}

/** Texts up to this many units are whole in a key: a unit takes three bytes at most. */
const WHOLE_UNITS_MAX = Math.floor(KEY_TEXT_BYTES_MAX / 3) - 1;

/**
 * Texts that begin with this one. Beyond what a key keeps of a text the range is too wide, never too narrow; half a
 * surrogate pair at the end also begins texts that have the whole pair there.
 */
export function startingWith(prefix: string): ValueRange {
  const whole = prefix.slice(0, WHOLE_UNITS_MAX).replace(/[\ud800-\udbff]$/, '');
  const start = writer.reset().textPrefix(whole).take();
  return { start, end: concatBytes(start, LAST), isPoint: false };
}

/** True where the entries of a value hold all of it, so that equal entries are equal values. */
export function isHeldWhole(value: Value): boolean {
  if (typeof value === 'string') return value.length <= WHOLE_UNITS_MAX;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

function encode(value: Value): Bytes {
  return writer.reset().value(value).take();
}

export function allOf(...conditions: readonly Condition[]): Condition {
  const limiting: Condition[] = [];
  for (const condition of conditions)
    for (const part of condition.kind === 'all' ? condition.of : [condition]) {
      if (part.kind === 'nothing') return NOTHING;
      if (part.kind !== 'anything') limiting.push(part);
    }
  if (limiting.length === 0) return ANYTHING;
  return limiting.length === 1 ? (limiting[0] as Condition) : { kind: 'all', of: limiting };
}

export function anyOf(...conditions: readonly Condition[]): Condition {
  const of = conditions.flatMap((c) => (c.kind === 'any' ? c.of : [c]));
  if (of.some(({ kind }) => kind === 'anything')) return ANYTHING;
  const possible = of.filter(({ kind }) => kind !== 'nothing');
  if (possible.length === 0) return NOTHING;
  return possible.length === 1 ? (possible[0] as Condition) : { kind: 'any', of: possible };
}

export function term(
  path: Path,
  ranges: readonly ValueRange[],
  test?: (value: Value) => boolean,
): Condition {
  if (ranges.length === 0) return NOTHING;
  return { kind: 'term', path, ranges, ...(test === undefined ? {} : { test }) };
}
