/** Which index a sort is read from: one whose first fields the filter asks to equal values, and whose next are the sort's. */
import type { RowBounds } from '../../../partition/index.ts';
import type { Condition, Order } from '../../../query/index.ts';
import { type Bson, isDocument, parsePath } from '../../../value/index.ts';
import { isNumber } from '../bson/arithmetic.ts';
import type { Collection } from '../collections/collection.ts';
import { type Filter, nearOf, scriptedParts, textOf } from '../query/filter.ts';
import { arrayIndex } from '../query/path.ts';
import type { Sort, SortPart } from '../query/sort.ts';
import { filterCondition } from './filter-condition.ts';
import { hintedIndex } from './hinted.ts';
import { idBounds, idsIn, isIndexed, isInIdOrder } from './id-access.ts';
import { declaredIndexes, type MongoIndex } from './index-spec.ts';
import { compareSortKeys } from './sort-keys.ts';

type OrderPlan =
  /** By the keys of an unsharded collection. */
  | { readonly kind: 'id'; readonly rows: RowBounds; readonly isReversed: boolean }
  | {
      readonly kind: 'index';
      readonly index: MongoIndex;
      /** Fields with one value, before those of the order. */
      readonly pointCount: number;
      /** The rest of the index: the sort, and what follows it. */
      readonly parts: readonly SortPart[];
      readonly order: Order;
      /** Against the directions that the index was declared with. */
      readonly isBackwards: boolean;
    };

type IndexPlan = Extract<OrderPlan, { kind: 'index' }>;

/** Undefined where rows are sorted in memory. Texts are compared exactly. */
export function planOrder(
  collection: Collection,
  filter: Filter,
  { parts }: Pick<Sort, 'parts'>,
  hint: Bson | undefined,
): OrderPlan | undefined {
  const [first] = parts;
  const isPlain = parts.every(
    ({ meta, path }) => meta === undefined && path.every((step) => arrayIndex(step) === undefined),
  );
  const isSpecial =
    scriptedParts(filter).length > 0 ||
    nearOf(filter) !== undefined ||
    textOf(filter) !== undefined;
  if (first === undefined || !isPlain || isSpecial) return undefined;
  const isHinted = hint !== undefined && hint !== null && !(isDocument(hint) && hint.size === 0);
  const hinted = isHinted ? hintedIndex(collection, hint) : undefined;
  const isNatural = isHinted && hinted === undefined;
  if (isNatural) return undefined;
  const condition = filterCondition(filter);
  const usable = declaredIndexes(collection).filter(
    (index) => isOrdered(index) && (hinted === undefined || index.name === hinted.name),
  );
  let best: IndexPlan | undefined;
  for (const index of usable) {
    const plan = planOf(index, parts, condition);
    if (plan !== undefined && (best === undefined || plan.pointCount > best.pointCount))
      best = plan;
  }
  if (best !== undefined) return best;
  if (hinted !== undefined && hinted.name !== '_id_') return undefined;
  return idPlan(collection, filter, first, hinted !== undefined);
}

/** Whether the entries of an index have the order of a sort without a collation. */
function isOrdered({ definition, spec, key }: MongoIndex): boolean {
  return (
    definition.isVirtual !== true &&
    definition.collation === 'bson' &&
    spec.get('hidden') !== true &&
    !spec.has('collation') &&
    [...key].every(
      ([field, kind]) =>
        isNumber(kind) && field.split('.').every((step) => arrayIndex(step) === undefined),
    )
  );
}

function planOf(
  index: MongoIndex,
  sort: readonly SortPart[],
  condition: Condition,
): IndexPlan | undefined {
  const fields = index.definition.parts.map(({ path, isDescending }) => ({
    path: parsePath(path).map(String),
    isDescending,
  }));
  const points = pointsIn(condition);
  const texts = fields.map(({ path }) => path.join('.'));
  for (let count = fields.length - sort.length; count >= 0; count--) {
    const isPrefixed = texts.slice(0, count).every((text) => points.has(text));
    const isSame = sort.every(({ path }, at) => path.join('.') === texts[count + at]);
    if (!isPrefixed || !isSame) continue;
    const isBackwards = sort[0]?.isDescending !== fields[count]?.isDescending;
    const isDirected = sort.every(
      ({ isDescending }, at) => isDescending === (fields[count + at]?.isDescending !== isBackwards),
    );
    if (!isDirected) continue;
    const parts = fields.slice(count).map(({ path, isDescending }) => ({
      text: path.join('.'),
      path,
      isDescending: isDescending !== isBackwards,
    }));
    // Indexes are stored with an ascending first part.
    const isFlipped = fields[0]?.isDescending === true;
    const order: Order = {
      parts: parts.map(({ path, isDescending }) => ({ path, isDescending, isInEvery: true })),
      compare: compareSortKeys,
      index: {
        id: index.id,
        isReversed: isBackwards !== isFlipped,
        valueOf: (key) => key,
      },
    };
    return { kind: 'index', index, pointCount: count, parts, order, isBackwards };
  }
  return undefined;
}

/** The fields that the condition asks to equal one value. */
function pointsIn(condition: Condition): ReadonlySet<string> {
  const parts = condition.kind === 'all' ? condition.of : [condition];
  const points = new Set<string>();
  for (const part of parts)
    if ((part.kind === 'declared' || part.kind === 'term') && part.ranges.length === 1)
      if (part.ranges[0]?.isPoint === true) points.add(part.path.join('.'));
  return points;
}

/** In the order of the keys, unless an index may find few documents. */
function idPlan(
  collection: Collection,
  filter: Filter,
  { path, isDescending }: SortPart,
  isHinted: boolean,
): OrderPlan | undefined {
  if (path.join('.') !== '_id' || !isInIdOrder(collection)) return undefined;
  if (idsIn(filter) !== undefined || (!isHinted && isIndexed(collection, filter))) return undefined;
  return { kind: 'id', rows: idBounds(filter), isReversed: isDescending };
}
