/** The condition that an item has entries of a computed index, whose values the home API knows. */
import { type Bytes, concatBytes, EMPTY_BYTES, ENTRY_KEPT_BYTES } from '../../base/index.ts';
import { DECLARED } from '../../value/index.ts';
import { ANYTHING, type Condition, term } from './condition.ts';
import type { ValueRange } from './value-ranges.ts';

/** Ranges of one condition: each is read, and lists of values multiply. */
const RANGES_MAX = 2000;
/** Id and end of an entry, which its values leave room for. */
const OTHER_BYTES = 16;

/**
 * An item has an entry whose first values lie in these ranges, those of the first value first. All but the last have
 * one value each. `anything` where that is too much to read.
 * @param isWhole - entries have no further values, so that those of one value are in rid order.
 * @param others - ranges of entries that are found in any case. These have one value, whether those of `values` are
 *   whole or not: their rids are in order, in front of longer entries that begin with the same value.
 */
export function entryCondition(
  id: number,
  values: readonly (readonly ValueRange[])[],
  isWhole: boolean,
  others: readonly ValueRange[] = [],
): Condition {
  let beginnings: readonly Bytes[] = [EMPTY_BYTES];
  for (const points of values.slice(0, -1)) {
    if (beginnings.length * points.length > RANGES_MAX) return ANYTHING;
    beginnings = beginnings.flatMap((beginning) =>
      points.map(({ start }) => concatBytes(beginning, start)),
    );
  }
  const last = values.at(-1) ?? [];
  if (beginnings.length * last.length > RANGES_MAX) return ANYTHING;
  const ranges = beginnings.flatMap((beginning) =>
    last.map(({ start, end, isPoint }) => ({
      start: concatBytes(beginning, start),
      end: concatBytes(beginning, end),
      isPoint: isPoint && isWhole,
    })),
  );
  // Entries have no more bytes of their values.
  const isKept = ({ start, end }: ValueRange): boolean =>
    Math.max(start.length, end.length) + OTHER_BYTES <= ENTRY_KEPT_BYTES;
  return ranges.every(isKept) ? term([DECLARED, String(id)], [...ranges, ...others]) : ANYTHING;
}
