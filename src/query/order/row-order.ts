/**
 * The order of rows: by their keys, then by the rid of their item in the direction of the first key, then as the item gave
 * them. Arrays are all alike, and so are objects: an index tells only that it is one.
 */
import { compareValues, isList, isMap, type Value } from '../../value/index.ts';
import type { Order } from '../executable-query.ts';

/** A row's place among all others. */
export interface RowPlace {
  readonly keys: readonly Value[];
  readonly rid: number;
  /** Which of the rows of its item. */
  readonly row: number;
}

export type ComparePlaces = (a: RowPlace, b: RowPlace) => number;

export function placeComparison({ parts }: Order): ComparePlaces {
  const signs = parts.map(({ isDescending }) => (isDescending ? -1 : 1));
  const ridSign = signs[0] ?? 1;
  return (a, b) => {
    for (let at = 0; at < signs.length; at++) {
      const difference = compareKeys(a.keys[at], b.keys[at]);
      if (difference !== 0) return difference * (signs[at] as number);
    }
    if (a.rid !== b.rid) return a.rid < b.rid ? -ridSign : ridSign;
    return a.row - b.row;
  };
}

function compareKeys(a: Value, b: Value): number {
  if (isList(a) && isList(b)) return 0;
  if (isMap(a) && isMap(b)) return 0;
  return compareValues(a, b);
}

/** True where two rows have the same keys and so, in an order of all that they show, are the same. */
export function isRepeated(row: RowPlace, before: RowPlace | undefined): boolean {
  return before?.keys.every((key, at) => isSame(key, row.keys[at])) === true;
}

/** Arrays and objects have one place in the order whatever they hold. */
function isSame(a: Value, b: Value): boolean {
  return !isList(a) && !isMap(a) && compareValues(a, b) === 0;
}
