/** What the write of a wide item changes in the index, and what of it goes to the index log. */
import { append, type Bytes } from '../../base/index.ts';
import type { Value } from '../../value/index.ts';
import type { WideChange } from '../commit/wide-writes.ts';
import type { Item } from '../item/item.ts';
import { asAdditions, encodeChanges } from './index-log.ts';
import { type IndexRun, ridText } from './index-run.ts';
import type { Indexing } from './indexing.ts';
import { runOfTermPrefixes, type WideTerms } from './wide-terms.ts';

/** In this order: entries are removed, then what the runs say, then entries are added. */
export interface WideIndexChange {
  readonly removed: readonly string[];
  readonly runs: readonly IndexRun[];
  readonly added: readonly string[];
  readonly log: readonly Bytes[];
}

interface Rules {
  readonly indexing: Indexing;
  /** All entries of the item are to be in the index, whatever is there. */
  readonly isReindexed: boolean;
  /** What sealing added to the item. */
  readonly sealed: Value;
  readonly isMoved: boolean;
}

/** @param item - what the index has now, and the item as it will be. */
export function wideIndexChange(
  { previous, before, after, difference }: WideChange,
  item: { readonly indexed: Item | undefined; readonly after: Item | undefined },
  { indexing, isReindexed, sealed, isMoved }: Rules,
): WideIndexChange {
  const log: Bytes[] = [];
  const runs: IndexRun[] = [];
  let removed: readonly string[] = [];
  let stems = after?.stems ?? [];
  const { indexed } = item;
  if (previous !== undefined && before !== undefined) previous.indexEntryCount = before.count;
  if (indexed !== undefined && before !== undefined && isSame(indexed, previous)) {
    const isShort = difference !== undefined && !isReindexed && !isMoved;
    const gone = isShort ? difference.removed : before;
    if (isShort) stems = difference.added;
    runs.push(runOfTermPrefixes(gone.stems, indexed.rid, false));
    append(log, gone.removal);
  } else if (indexed !== undefined) {
    removed = indexing.entriesOf(indexed);
    indexed.indexEntryCount = removed.length;
    append(log, encodeChanges({ added: [], removed }));
  }
  if (item.after === undefined) return { removed, runs, added: [], log };
  const { rid } = item.after;
  if (after === undefined) {
    const added = indexing.entriesOf(item.after);
    item.after.indexEntryCount = added.length;
    if (isMoved) append(log, encodeChanges({ added, removed: [] }));
    return { removed, runs, added, log };
  }
  runs.push(runOfTermPrefixes(stems, rid, true));
  // What was moved is complete as it is, and what is written here follows from the item.
  if (isMoved) for (const entry of after.removal) log.push(asAdditions(entry));
  const end = ridText(rid);
  const added = isMoved ? [] : indexing.sealedStems(item.after, sealed).map((stem) => stem + end);
  item.after.indexEntryCount = after.count + added.length;
  return { removed, runs, added, log };
}

/** The item stays as it is; all its entries come. */
export function wideReindexing(item: Item, wide: WideTerms): WideIndexChange {
  return {
    removed: [],
    runs: [runOfTermPrefixes(wide.stems, item.rid, true)],
    added: [],
    log: wide.removal.map(asAdditions),
  };
}

function isSame(indexed: Item, previous: Item | undefined): boolean {
  return indexed.rid === previous?.rid && indexed.lsn === previous.lsn;
}
