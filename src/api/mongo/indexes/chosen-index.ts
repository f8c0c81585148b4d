/**
 * The index by which the documents of a filter are found, as far as the filter says: explanations, counts of use and
 * keys of documents agree on it. A partition may still look at every document, where it has few.
 */
import { type Bson, type BsonDocument, compareBson, isDocument } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import type { CompareBson } from '../query/collation.ts';
import { conjuncts, type Filter, nearOf } from '../query/filter.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { compileFilter } from '../query/filter-test.ts';
import type { Sort } from '../query/sort.ts';
import { usedIndexes } from './computed/computed-indexes.ts';
import { implies } from './computed/implied-filter.ts';
import { hintedIndex } from './hinted.ts';
import { idBounds, idsIn, isInIdOrder } from './id-access.ts';
import { declaredIndexes, ID_INDEX, type MongoIndex } from './index-spec.ts';
import { planOrder } from './order-plan.ts';

/** The id of the index of `_id`, which is none of those that are declared. */
export const ID_INDEX_ID = 0;

type ChosenIndex = Pick<MongoIndex, 'id' | 'key'>;

const OF_ID: ChosenIndex = { id: ID_INDEX_ID, key: ID_INDEX.get('key') as BsonDocument };

interface ChoiceOptions {
  readonly compare?: CompareBson | undefined;
  readonly hint?: Bson | undefined;
  readonly sort?: Pick<Sort, 'parts'> | undefined;
}

/** Undefined where every document is looked at. */
export function chosenIndex(
  collection: Collection,
  filter: Filter,
  { compare = compareBson, hint, sort }: ChoiceOptions,
): ChosenIndex | undefined {
  const hinted = hint === undefined ? undefined : hintedIndex(collection, hint);
  if (hinted !== undefined) return { id: ID_INDEX_ID, ...hinted };
  const isPlain = compare === compareBson;
  if (isPlain && isInIdOrder(collection) && namesIds(filter)) return OF_ID;
  const order = isPlain && sort !== undefined && planOrder(collection, filter, sort, hint);
  if (order) return order.kind === 'index' ? order.index : OF_ID;
  if (declaredIndexes(collection).length === 0) return undefined;
  return (
    nearIndex(collection, filter) ??
    usedIndexes(collection, conjuncts(filter), compare)[0]?.index ??
    fieldIndex(collection, filter)
  );
}

function namesIds(filter: Filter): boolean {
  if (idsIn(filter) !== undefined) return true;
  const { from, to } = idBounds(filter);
  if (from !== undefined || to !== undefined) return true;
  return conjuncts(filter).some(
    (part) => part.kind === 'field' && part.test.kind === 'eq' && part.path.join('.') === '_id',
  );
}

/** The index of places by which documents come in the order of their distance. */
export function nearIndex(collection: Collection, filter: Filter): MongoIndex | undefined {
  const found = nearOf(filter);
  if (found === undefined) return undefined;
  const path = found.path.join('.');
  const kinds = found.near.unit === 'plane' ? ['2d'] : ['2dsphere', '2d'];
  return declaredIndexes(collection).find(
    ({ key, spec }) => kinds.includes(key.get(path) as string) && spec.get('hidden') !== true,
  );
}

/** The first index whose first field the filter is about. */
export function fieldIndex(
  collection: Collection,
  filter: Filter,
  isAllowed: (index: MongoIndex) => boolean = () => true,
): MongoIndex | undefined {
  const parts = conjuncts(filter);
  const fields = new Set(
    parts.flatMap((part) => (part.kind === 'field' ? [part.path.join('.')] : [])),
  );
  return declaredIndexes(collection).find((index) => {
    const [first = ''] = index.key.keys();
    const isVisible = isAllowed(index) && index.spec.get('hidden') !== true;
    return isVisible && fields.has(first) && hasAll(index, parts);
  });
}

/** Whether an index that leaves documents out has all that pass. */
function hasAll({ key, spec }: MongoIndex, parts: readonly Filter[]): boolean {
  const partial = spec.get('partialFilterExpression');
  if (isDocument(partial) && !implies(parts, parseFilter(partial), compareBson)) return false;
  if (spec.get('sparse') !== true) return true;
  return parts.some(
    (part) =>
      part.kind === 'field' && key.has(part.path.join('.')) && !compileFilter(part)(new Map()),
  );
}
