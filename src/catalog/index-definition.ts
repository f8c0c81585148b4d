/** Indexes that are declared one by one, each with an id for life and a build of its own. */
import type { IndexFilterTest } from '../partition/index.ts';
import type { Collation } from '../value/index.ts';
import type { IndexingPolicy } from './indexing-policy.ts';

export interface IndexDefinition {
  readonly id: number;
  /** Declared by the home API, or by its policies: a composite index, a unique key. */
  readonly origin: 'declared' | 'composite' | 'uniqueKey';
  /** As the home API calls it. */
  readonly name?: string;
  readonly parts: readonly IndexPart[];
  readonly collation: Collation;
  /** Elements of arrays count as values. */
  readonly isMultikey: boolean;
  /** Items that have none of the values are left out. */
  readonly isSparse: boolean;
  /** Other items are left out. */
  readonly filter?: readonly IndexFilterTest[];
  /** No two items of a partition key have the same values. */
  readonly unique?: 'partitionKey';
  /** Items expire so long after the date at the first part. */
  readonly expireAfterSec?: number;
  /** It is kept, and queries do not use it. */
  readonly isHidden?: boolean;
  /** As the home API describes it; nothing below reads this. */
  readonly details?: string;
  /**
   * Its entries are what the home API computes of items, not the values at its parts. The name is from the version
   * before, which kept no entries of such an index, and looked at every item instead.
   */
  readonly isVirtual?: true;
  /**
   * The home API says which values are unique. Absent: those of the entries are, as in indexes of the version before,
   * which keep their unique entries for life.
   */
  readonly isUniqueByHome?: true;
  /** The rules by which the home API computed its entries from the first one on; it knows what they lack. */
  readonly entryRules?: number;
}

interface IndexPart {
  readonly path: string;
  readonly isDescending: boolean;
}

/** An index before it has an id. */
export type NewIndex = Omit<IndexDefinition, 'id'>;

/** The indexes of a container, and the id that the next one gets. */
export interface IndexDefinitions {
  readonly indexes: readonly IndexDefinition[];
  readonly nextIndexId: number;
}

export const NO_INDEXES: IndexDefinitions = { indexes: [], nextIndexId: 1 };

/** The definitions with one more. */
export function withIndex(
  { indexes, nextIndexId }: IndexDefinitions,
  index: NewIndex,
): IndexDefinitions {
  return { indexes: [...indexes, { ...index, id: nextIndexId }], nextIndexId: nextIndexId + 1 };
}

/** The definitions for these policies. Indexes that stay keep their ids, so that they are not built again. */
export function withPolicyIndexes(
  current: IndexDefinitions,
  { compositeIndexes = [] }: IndexingPolicy,
  uniqueKeys: readonly { readonly paths: readonly string[] }[],
): IndexDefinitions {
  const plain = { collation: 'cosmos', isMultikey: false, isSparse: false } as const;
  const wanted: NewIndex[] = [
    ...compositeIndexes.map((parts) => ({
      ...plain,
      origin: 'composite' as const,
      parts: parts.map(({ path, order }) => ({ path, isDescending: order === 'descending' })),
    })),
    ...uniqueKeys.map(({ paths }) => ({
      ...plain,
      origin: 'uniqueKey' as const,
      parts: paths.map((path) => ({ path, isDescending: false })),
      unique: 'partitionKey' as const,
    })),
  ];
  const left = [...current.indexes];
  const kept = left.filter(({ origin }) => origin === 'declared');
  let result: IndexDefinitions = { ...current, indexes: kept };
  for (const index of wanted) {
    const at = left.findIndex((old) => isSameIndex(old, index));
    const [old] = at < 0 ? [] : left.splice(at, 1);
    result =
      old === undefined
        ? withIndex(result, index)
        : { ...result, indexes: [...result.indexes, old] };
  }
  return result;
}

/** Whether two definitions have the same entries. */
export function isSameIndex(a: NewIndex, b: NewIndex): boolean {
  return JSON.stringify(content(a)) === JSON.stringify(content(b));
}

function content(index: NewIndex) {
  const { origin, parts, collation, isMultikey, isSparse, filter, unique, details } = index;
  const described = details === undefined ? [] : [details];
  return [
    origin,
    parts,
    collation,
    isMultikey,
    isSparse,
    filter ?? null,
    unique ?? null,
    ...described,
  ];
}
