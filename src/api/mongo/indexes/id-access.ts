/** What a filter says about `_id`: documents that are named one by one, or a range of keys. */
import type { RowBounds } from '../../../partition/index.ts';
import { type Bson, compareBson, Extended, isArray, isDocument } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { conjuncts, type Filter } from '../query/filter.ts';
import { usedIndexes } from './computed/computed-indexes.ts';
import { indexValue } from './filter-condition.ts';
import { declaredIndexes } from './index-spec.ts';

/** Lists with more are found by a look at all documents. */
const IDS_MAX = 10_000;

/** The `_id`s that the filter lists, ascending, each once; undefined where it lists none. */
export function idsIn(filter: Filter): readonly Bson[] | undefined {
  for (const part of conjuncts(filter)) {
    if (part.kind !== 'field' || part.path.join('.') !== '_id' || part.test.kind !== 'in') continue;
    const { values, regexes } = part.test;
    if (regexes.length > 0 || values.length > IDS_MAX) continue;
    // No document has an array as its `_id`.
    const possible = values.filter((value) => !isArray(value));
    if (possible.some(isUnclear)) continue;
    const sorted = possible.toSorted(compareBson);
    return sorted.filter((value, at) => at === 0 || compareBson(value, sorted[at - 1]) !== 0);
  }
  return undefined;
}

/** Values whose keys may not be those of all equal values. */
function isUnclear(value: Bson): boolean {
  if (value === null) return false;
  const isBinary = value instanceof Extended && /^(binary|uuid)$/.test(value.payload.kind);
  return !isBinary && !isDocument(value) && indexValue(value) === undefined;
}

/** The range of keys that the filter allows; a second bound of one side is tested only. */
export function idBounds(filter: Filter): RowBounds {
  let bounds: RowBounds = {};
  for (const part of conjuncts(filter)) {
    if (part.kind !== 'field' || part.path.join('.') !== '_id') continue;
    const { test } = part;
    if (test.kind !== 'gt' && test.kind !== 'gte' && test.kind !== 'lt' && test.kind !== 'lte')
      continue;
    const value = indexValue(test.value);
    if (value === undefined) continue;
    const bound = { values: [value === 0 ? 0 : value], isInclusive: test.kind.endsWith('e') };
    bounds = test.kind.startsWith('g') ? { from: bound, ...bounds } : { to: bound, ...bounds };
  }
  return bounds;
}

/** Whether documents lie in the order of their `_id`. */
export function isInIdOrder({ options, shardKey }: Collection): boolean {
  return shardKey === undefined && !options.has('timeseries');
}

/** Whether the natural order is that of `_id`. */
export function isClustered(collection: Collection): boolean {
  return collection.options.has('clusteredIndex') && isInIdOrder(collection);
}

/** Whether an index may find few documents for the filter. */
export function isIndexed(collection: Collection, filter: Filter): boolean {
  if (filter.kind === 'or') return true;
  const fields = new Set(
    conjuncts(filter).flatMap((part) => (part.kind === 'field' ? [part.path.join('.')] : [])),
  );
  const isPlain = declaredIndexes(collection).some(
    ({ key, definition, spec }) =>
      definition.isVirtual !== true &&
      spec.get('hidden') !== true &&
      fields.has([...key.keys()][0] as string),
  );
  return isPlain || usedIndexes(collection, conjuncts(filter), compareBson).length > 0;
}
