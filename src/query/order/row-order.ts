/**
 * The order of rows: by their keys, then by the rid of their item in the direction of the first key (of the index that
 * the dialect has chosen), then by their number within the item. In the cosmos collation all arrays are equal, and so are all objects, because an index holds
 * only their kind.
 */
import { compareValues, isList, isMap, type Value } from '../../value/index.ts';
import type { Order } from '../executable-query.ts';

/** A row's place among all others. */
export interface RowPlace {
  readonly keys: readonly Value[];
  readonly rid: number;
  /** The number of the row within its item. */
  readonly row: number;
}

export type ComparePlaces = (a: RowPlace, b: RowPlace) => number;

export function placeComparison(order: Order): ComparePlaces {
  const { parts, index } = order;
  const compareKeys = keyComparison(order);
  const signs = parts.map(({ isDescending }) => (isDescending ? -1 : 1));
  const ridSign = index === undefined ? (signs[0] ?? 1) : index.isReversed ? -1 : 1;
  return (a, b) => {
    for (let at = 0; at < signs.length; at++) {
      const difference = compareKeys(a.keys[at], b.keys[at]);
      if (difference !== 0) return difference * (signs[at] as number);
    }
    if (a.rid !== b.rid) return a.rid < b.rid ? -ridSign : ridSign;
    return a.row - b.row;
  };
}

function keyComparison({ collation, compare }: Order): (a: Value, b: Value) => number {
  return compare ?? (collation === 'bson' ? compareBson : compareCosmos);
}

function compareBson(a: Value, b: Value): number {
  return compareValues(a, b, 'bson');
}

function compareCosmos(a: Value, b: Value): number {
  if (isList(a) && isList(b)) return 0;
  if (isMap(a) && isMap(b)) return 0;
  return compareValues(a, b);
}

/** The keys by which a position names a row: where all arrays are equal, and all objects, one of them is enough. */
export function positionKeys(
  { collation, compare }: Order,
  keys: readonly Value[],
): readonly Value[] {
  if (compare !== undefined || collation === 'bson') return keys;
  if (!keys.some((key) => isList(key) || isMap(key))) return keys;
  return keys.map((key) => (isList(key) ? [] : isMap(key) ? {} : key));
}

/** True where two rows have the same keys. Rows that show only their keys are equal then. */
export function isRepeated(row: RowPlace, before: RowPlace | undefined): boolean {
  return before?.keys.every((key, at) => isSameKey(key, row.keys[at])) === true;
}

/** Arrays and objects are never the same: an equal place in the order does not make them equal. */
function isSameKey(a: Value, b: Value): boolean {
  return !isList(a) && !isMap(a) && compareValues(a, b) === 0;
}
