/**
 * A kind of index whose entries follow from documents by rules of MongoDB. Each kind makes entries and says where a
 * filter's documents have theirs, in one file, since the second is right only by the first.
 */
import type { Bytes } from '../../../../base/index.ts';
import type { ValueRange } from '../../../../query/index.ts';
import { type BsonDocument, Extended, type Value } from '../../../../value/index.ts';
import type { CompareBson } from '../../query/collation.ts';
import type { Filter } from '../../query/filter.ts';

/** The values of one entry. */
export type EntryValues = readonly Value[];

/** An index of a collection, as its kind needs it. */
export interface IndexKey {
  readonly key: BsonDocument;
  readonly spec: BsonDocument;
  /** The rules that its entries were made by from the first one on; missing for those of the first versions. */
  readonly entryRules?: number | undefined;
}

/** Indexes have these rules since the words that English texts leave out are those of MongoDB. */
export const ENTRY_RULES = 2;

/** What entries are made of. */
interface IndexedItem {
  /** The document in the shared model. */
  readonly value: Value;
  readonly body: Bytes;
}

export interface IndexKind {
  /** The entries of a document; undefined where there are too many. */
  entriesOf(item: IndexedItem): readonly EntryValues[] | undefined;
  /** Where every document that passes all parts has an entry; undefined where the index does not know. */
  search(parts: readonly Filter[], compare: CompareBson): EntrySearch | undefined;
}

export interface EntrySearch {
  /** Ranges of the first values of entries, those of the first value first; all but the last are points. */
  readonly values: readonly (readonly ValueRange[])[];
  /** Entries have no further values. */
  readonly isWhole: boolean;
}

/**
 * Entries of a document in one index. What has more has one entry instead that every search finds: a text of a
 * megabyte, or a hundred thousand paths, must not keep others waiting.
 */
export const ENTRIES_MAX = 2000;

/** The value of the entry of a document with too many. Documents that begin with it themselves are found too often. */
export const EVERYWHERE: Value = new Extended({ kind: 'minKey' });

/** Every list of the beginnings before every one of the ends; undefined where there are too many. */
export function combined(
  beginnings: readonly EntryValues[],
  ends: readonly EntryValues[],
  entriesMax = ENTRIES_MAX,
): readonly EntryValues[] | undefined {
  if (beginnings.length * ends.length > entriesMax) return undefined;
  return beginnings.flatMap((beginning) => ends.map((end) => [...beginning, ...end]));
}
