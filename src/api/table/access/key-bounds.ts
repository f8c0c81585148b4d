/** The part of a table that a signature is limited to: entities between two keys. */
import { allOf, type Condition, comparedTo, term } from '../../../query/index.ts';
import { compareTexts } from '../../../value/index.ts';
import { TableError } from '../errors.ts';
import type { Key, KeyBounds } from './access.ts';

export function isWithin(bounds: KeyBounds, { partitionKey, rowKey }: Key): boolean {
  const { startPartitionKey, startRowKey, endPartitionKey, endRowKey } = bounds;
  if (startPartitionKey !== undefined) {
    const order = compareTexts(partitionKey, startPartitionKey);
    if (order < 0) return false;
    if (order === 0 && startRowKey !== undefined && compareTexts(rowKey, startRowKey) < 0)
      return false;
  }
  if (endPartitionKey !== undefined) {
    const order = compareTexts(partitionKey, endPartitionKey);
    if (order > 0) return false;
    if (order === 0 && endRowKey !== undefined && compareTexts(rowKey, endRowKey) > 0) return false;
  }
  return true;
}

/** Throws a 403 for an entity outside the bounds. */
export function boundsCheck(bounds: KeyBounds | undefined, key: Key): void {
  if (bounds !== undefined && !isWithin(bounds, key)) throw new TableError('AuthorizationFailure');
}

/** The part that an index can check: the partition keys. */
export function boundsCondition({ startPartitionKey, endPartitionKey }: KeyBounds): Condition {
  const path = ['PartitionKey'];
  return allOf(
    ...(startPartitionKey === undefined ? [] : [term(path, [comparedTo('>=', startPartitionKey)])]),
    ...(endPartitionKey === undefined ? [] : [term(path, [comparedTo('<=', endPartitionKey)])]),
  );
}
