/** The rows of an ordered query that clients merge: resource id, sort keys and payload. */
import type { Expression, Query, Select } from '../language/ast.ts';
import { list, object, property } from '../language/ast-builders.ts';

export function orderedRow(
  item: Expression,
  keys: readonly Expression[],
  payload: Expression,
): Select['selection'] {
  return {
    kind: 'list',
    items: [
      { expression: property(item, '_rid') },
      { expression: list(keys.map((key) => object({ item: key }))), alias: 'orderByItems' },
      { expression: payload, alias: 'payload' },
    ],
  };
}

/** True for a DISTINCT query over such rows, whose resource ids do not count as a difference. */
export function isDistinctInOrder({ select, orderBy, groupBy }: Query): boolean {
  const { selection, isDistinct } = select;
  if (!isDistinct || orderBy === undefined || orderBy.isRank || groupBy) return false;
  if (selection.kind !== 'list' || selection.items.length !== 3) return false;
  const [rid, keys, payload] = selection.items;
  return (
    rid?.expression.kind === 'property' &&
    rid.expression.name === '_rid' &&
    keys?.alias === 'orderByItems' &&
    payload?.alias === 'payload'
  );
}
