/** The index changes of a write of a wide item, and the part of them that is logged. */
import { append, type Bytes } from '../../../base/index.ts';
import type { Value } from '../../../value/index.ts';
import type { WideChange } from '../../commit/wide-writes.ts';
import type { Item } from '../../item/item.ts';
import { type IndexRun, ridText } from '../memory/index-run.ts';
import { asAdditions, encodeChanges } from '../stored/index-log.ts';
import type { Indexing } from './indexing.ts';
import { runOfTermPrefixes, type WideTerms } from './wide-terms.ts';

/** Applied in this order: removed entries, runs, added entries. */
export interface WideIndexChange {
  readonly removed: readonly string[];
  readonly runs: readonly IndexRun[];
  readonly added: readonly string[];
  readonly log: readonly Bytes[];
}

interface Rules {
  readonly indexing: Indexing;
  /** Whether all entries of the item are to be added, whatever the index has. */
  readonly isReindexed: boolean;
  /** Properties that the body finisher added. */
  readonly finisherProperties: Value;
  readonly isMoved: boolean;
}

/** @param item - the item that the index has, and the item after the write. */
export function wideIndexChange(
  { previous, before, after, difference }: WideChange,
  item: { readonly indexed: Item | undefined; readonly after: Item | undefined },
  { indexing, isReindexed, finisherProperties, isMoved }: Rules,
): WideIndexChange {
  const log: Bytes[] = [];
  const runs: IndexRun[] = [];
  let removed: readonly string[] = [];
  let termPrefixes = after?.termPrefixes ?? [];
  const { indexed } = item;
  if (previous !== undefined && before !== undefined) previous.indexEntryCount = before.count;
  if (indexed !== undefined && before !== undefined && isSame(indexed, previous)) {
    const isDifference = difference !== undefined && !isReindexed && !isMoved;
    const outdated = isDifference ? difference.removed : before;
    if (isDifference) termPrefixes = difference.added;
    runs.push(runOfTermPrefixes(outdated.termPrefixes, indexed.rid, false));
    append(log, outdated.removal);
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
  runs.push(runOfTermPrefixes(termPrefixes, rid, true));
  // A moved item has all its terms already; the entries of an item written here follow from it.
  if (isMoved) for (const entry of after.removal) log.push(asAdditions(entry));
  const end = ridText(rid);
  const added = isMoved
    ? []
    : indexing
        .finishedTermPrefixes(item.after, finisherProperties)
        .map((termPrefix) => termPrefix + end);
  item.after.indexEntryCount = after.count + added.length;
  return { removed, runs, added, log };
}

/** Adds all entries of an item that does not change. */
export function wideReindexing(item: Item, wide: WideTerms): WideIndexChange {
  return {
    removed: [],
    runs: [runOfTermPrefixes(wide.termPrefixes, item.rid, true)],
    added: [],
    log: wide.removal.map(asAdditions),
  };
}

function isSame(indexed: Item, previous: Item | undefined): boolean {
  return indexed.rid === previous?.rid && indexed.lsn === previous.lsn;
}
