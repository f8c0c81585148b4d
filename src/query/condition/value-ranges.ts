/**
 * Ranges of encoded values, and the algebra on lists of them. A range is made for a comparison and holds at least the
 * values that satisfy it; it is exact except where a key holds a text only in part.
 */
import { type Bytes, compareBytes, concatBytes, KEY_TEXT_BYTES_MAX } from '../../base/index.ts';
import {
  Extended,
  isExactTuple,
  KEY_TAGS,
  KeyWriter,
  keyTagOf,
  type Value,
} from '../../value/index.ts';

/** Encoded values (value/tuple.ts), [start, end). */
export interface ValueRange {
  readonly start: Bytes;
  readonly end: Bytes;
  /** True for exactly one value: the index entries of its items are in rid order. */
  readonly isPoint: boolean;
}

export type Comparison = '<' | '<=' | '>' | '>=';

const writer = new KeyWriter();
const { cosmos } = KEY_TAGS;

/** A byte behind every entry of a value and before the next value: a rid follows the value and begins with zero. */
const LAST = Uint8Array.of(0xff);

/** A text of at most so many units is whole in a key: a unit takes three bytes at most. */
const WHOLE_UNITS_MAX = Math.floor(KEY_TEXT_BYTES_MAX / 3) - 1;

/** The range of one value. Arrays and objects are indexed by kind only. */
export function equalTo(value: Value): ValueRange {
  if (typeof value === 'object' && value !== null && !(value instanceof Extended))
    return ofType(Array.isArray(value) ? [] : {});
  const start = encode(value);
  return { start, end: concatBytes(start, LAST), isPoint: true };
}

/** All values of the same type as the example. */
export function ofType(example: Value): ValueRange {
  const tag = keyTagOf(example);
  return { start: Uint8Array.of(tag), end: Uint8Array.of(tag + 1), isPoint: false };
}

/** Every defined value. */
export function everyValue(): ValueRange {
  return {
    start: Uint8Array.of(cosmos.minKey),
    end: Uint8Array.of(cosmos.maxKey + 1),
    isPoint: false,
  };
}

/** Values of the constant's type on one side of it. */
export function comparedTo(comparison: Comparison, constant: Value): ValueRange {
  if (typeof constant === 'boolean') return comparedToBoolean(comparison, constant);
  const kind = ofType(constant);
  if (typeof constant === 'string' && constant.length > WHOLE_UNITS_MAX)
    return comparedToLong(comparison, constant);
  const at = encode(constant);
  // Keys that hold a binary or a pattern only in part are not in its order.
  if (constant instanceof Extended && !isExactTuple(at)) return kind;
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

/** A key holds a long text only in part, so the range includes all texts that share the part. */
function comparedToLong(comparison: Comparison, constant: string): ValueRange {
  const near = startingWith(constant);
  const all = ofType('');
  return comparison === '<' || comparison === '<='
    ? { start: all.start, end: near.end, isPoint: false }
    : { start: near.start, end: all.end, isPoint: false };
}

/** The order is false < true; each has a tag of its own. */
function comparedToBoolean(comparison: Comparison, constant: boolean): ValueRange {
  const holds = (value: boolean): boolean =>
    comparison === '<'
      ? !value && constant
      : comparison === '<='
        ? !value || constant
        : comparison === '>'
          ? value && !constant
          : value || !constant;
  const low = holds(false) ? cosmos.false : cosmos.true;
  const high = holds(true) ? cosmos.true + 1 : cosmos.false + 1;
  return { start: Uint8Array.of(low), end: Uint8Array.of(Math.max(low, high)), isPoint: false };
}

/**
 * Texts that begin with this one. For a prefix longer than what a key keeps of a text the range is too wide, never too
 * narrow; half a surrogate pair at the end is dropped, because it also begins texts that have the whole pair there.
 */
export function startingWith(prefix: string): ValueRange {
  const whole = prefix.slice(0, WHOLE_UNITS_MAX).replace(/[\ud800-\udbff]$/, '');
  const start = writer.reset().textPrefix(whole).take();
  return { start, end: concatBytes(start, LAST), isPoint: false };
}

/** True where the entries of a value hold all of it, so that equal entries are equal values. */
export function isWholeInKey(value: Value): boolean {
  if (typeof value === 'string') return value.length <= WHOLE_UNITS_MAX;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

function encode(value: Value): Bytes {
  return writer.reset().value(value).take();
}

/** The values of any of the ranges, as ascending ranges that neither overlap nor touch. */
export function unionOfRanges(ranges: readonly ValueRange[]): readonly ValueRange[] {
  if (ranges.length < 2) return ranges.filter(hasValues);
  const sorted = ranges.filter(hasValues).sort((a, b) => compareBytes(a.start, b.start));
  const union: ValueRange[] = [];
  for (const range of sorted) {
    const last = union.at(-1);
    if (last === undefined || compareBytes(range.start, last.end) > 0) union.push(range);
    else if (compareBytes(range.end, last.end) > 0)
      union[union.length - 1] = { start: last.start, end: range.end, isPoint: false };
  }
  return union;
}

/** The values that are in both lists of ranges. Both must be ascending without overlaps, and so is the result. */
export function intersectionOfRanges(
  left: readonly ValueRange[],
  right: readonly ValueRange[],
): readonly ValueRange[] {
  const common: ValueRange[] = [];
  let [l, r] = [0, 0];
  for (;;) {
    const [a, b] = [left[l], right[r]];
    if (a === undefined || b === undefined) return common;
    const byEnd = compareBytes(a.end, b.end);
    const start = compareBytes(a.start, b.start) >= 0 ? a.start : b.start;
    const end = byEnd <= 0 ? a.end : b.end;
    if (compareBytes(start, end) < 0)
      common.push({ start, end, isPoint: isPointOf(a, start, end) || isPointOf(b, start, end) });
    if (byEnd <= 0) l++;
    else r++;
  }
}

/** True where the bounds are those of a range with one value, and not of a part of it. */
function isPointOf(range: ValueRange, start: Bytes, end: Bytes): boolean {
  return (
    range.isPoint && compareBytes(range.start, start) === 0 && compareBytes(range.end, end) === 0
  );
}

function hasValues({ start, end }: ValueRange): boolean {
  return compareBytes(start, end) < 0;
}
