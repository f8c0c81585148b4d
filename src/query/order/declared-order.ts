/**
 * The order of an index that the dialect has chosen, with several entries of items that have several values. A row
 * belongs to one of them, the one of its sort keys; where no item has several, all entries belong to rows.
 */
import { andThen, type MaybePromise } from '../../base/index.ts';
import { printPath } from '../../value/index.ts';
import { hasEntries } from '../candidates/has-entries.ts';
import type { Condition } from '../condition/condition.ts';
import { limitsOf } from '../condition/limits.ts';
import type { Order, OrderIndex } from '../executable-query.ts';
import type { CompositeOrder, IndexInOrder, ItemReader } from '../reader.ts';
import type { OrderedEntries } from './ordered-rows.ts';

/** The dialect sorts the rows itself: some partition has not the chosen index, or a sort is cheaper. */
export class NotInOrder extends Error {}

/** Undefined where the index is not ready, or where it has not all items in order. */
export function declaredEntries(
  reader: ItemReader,
  order: Order,
  index: OrderIndex,
  condition: Condition,
): MaybePromise<OrderedEntries | undefined> {
  const parts = order.parts as readonly CompositeOrder[];
  const found = reader.indexInOrder?.(index.id, parts, limitsOf(condition));
  if (found === undefined) return undefined;
  const has = (range: IndexInOrder['marks']) => hasEntries(reader, range);
  return andThen(has(found.marks), (isMarked) => {
    if (!isMarked) return entriesOf(found, parts, undefined);
    return andThen(has(found.unordered), (isUnordered) => {
      if (isUnordered) return undefined;
      return andThen(has(found.several), (isSeveral) =>
        entriesOf(found, parts, { index, isSeveral }),
      );
    });
  });
}

/** @param marked - undefined where no item has several values under some part of the index. */
function entriesOf(
  found: IndexInOrder,
  parts: readonly CompositeOrder[],
  marked: { readonly index: OrderIndex; readonly isSeveral: boolean } | undefined,
): OrderedEntries {
  const { match, applied, limited, all, entryOf } = found;
  // The least of several values may lie outside of the limits that another one keeps.
  const isLimited = marked?.isSeveral !== true;
  const paths = applied.map(({ path }) => path);
  const ordered = printPath(parts[0]?.path ?? []);
  return {
    prefix: match.prefix,
    parts: parts.map(({ path }, at) => ({ path, isDescending: match.isDescending[at] === true })),
    isReverse: match.isReversed,
    composite: match,
    text: 'declared index',
    applied: isLimited ? paths : paths.filter((path) => printPath(path) !== ordered),
    ranges: isLimited ? limited : all,
    entryOf:
      marked &&
      (({ keys, rid }) =>
        entryOf(
          keys.map((key) => marked.index.valueOf(key)),
          rid,
        )),
  };
}
