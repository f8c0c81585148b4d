/**
 * Sets of values of a partition key, derived from a filter: all values, or a list of points and ranges within one type.
 * A set may be too large, never too small.
 */
import { compareValues, equalValues, type Value } from '../../../../value/index.ts';

/** An end of a range: a value, or the end of the numbers or texts. */
export type KeyBound =
  | { readonly kind: 'value'; readonly value: Value; readonly isInclusive: boolean }
  | { readonly kind: 'minNumber' | 'maxNumber' | 'maxString' };

export interface KeyInterval {
  readonly low: KeyBound;
  readonly high: KeyBound;
}

export type KeySet = 'all' | readonly KeyInterval[];

export function pointsOf(values: readonly Value[]): KeySet {
  return values.map((value) => {
    const bound: KeyBound = { kind: 'value', value, isInclusive: true };
    return { low: bound, high: bound };
  });
}

/** The values that pass a comparison with a constant; only numbers and strings narrow the set. */
export function comparedWith(operator: '<' | '<=' | '>' | '>=', value: Value): KeySet {
  if (typeof value !== 'number' && typeof value !== 'string') return 'all';
  const isNumber = typeof value === 'number';
  const bound: KeyBound = { kind: 'value', value, isInclusive: operator.endsWith('=') };
  if (operator.startsWith('>'))
    return [{ low: bound, high: { kind: isNumber ? 'maxNumber' : 'maxString' } }];
  const low: KeyBound = isNumber
    ? { kind: 'minNumber' }
    : { kind: 'value', value: '', isInclusive: true };
  return [{ low, high: bound }];
}

/** The value of a one-point interval, wrapped because it may be undefined. */
export function pointOf({ low, high }: KeyInterval): { readonly value: Value } | undefined {
  const isPoint =
    low.kind === 'value' && high.kind === 'value' && equalValues(low.value, high.value);
  return isPoint ? { value: low.value } : undefined;
}

export function intersection(a: KeySet, b: KeySet): KeySet {
  if (a === 'all') return b;
  if (b === 'all') return a;
  return a.flatMap((left) =>
    b.flatMap((right) => {
      const low = tighter(left.low, right.low, 1);
      const high = tighter(left.high, right.high, -1);
      return isEmpty(low, high) ? [] : [{ low, high }];
    }),
  );
}

/** The higher of two lower ends (sign 1), or the lower of two upper ends (sign -1). */
function tighter(a: KeyBound, b: KeyBound, sign: 1 | -1): KeyBound {
  const order = compareBounds(a, b);
  if (order !== 0) return sign * order > 0 ? a : b;
  return a.kind === 'value' && a.isInclusive ? b : a;
}

function isEmpty(low: KeyBound, high: KeyBound): boolean {
  const order = compareBounds(low, high);
  if (order !== 0) return order > 0;
  const isClosed =
    low.kind === 'value' && high.kind === 'value' && low.isInclusive && high.isInclusive;
  return !isClosed;
}

function compareBounds(a: KeyBound, b: KeyBound): number {
  if (a.kind === 'value' && b.kind === 'value') return compareValues(a.value, b.value);
  // A number is between the ends of the numbers, a string below the end of the strings.
  return positionOf(a) - positionOf(b);
}

function positionOf(bound: KeyBound): number {
  switch (bound.kind) {
    case 'minNumber':
      return 2;
    case 'maxNumber':
      return 4;
    case 'maxString':
      return 6;
    case 'value':
      if (typeof bound.value === 'number') return 3;
      if (typeof bound.value === 'string') return 5;
      return compareValues(bound.value, 0) < 0 ? 1 : 7;
  }
}
