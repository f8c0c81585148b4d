/**
 * Writes that become durable together. Per item it keeps what was stored before the group and what shall be after,
 * so that an item written many times in one group is stored once.
 */
import { append, type Bytes, compareBytes } from '../../base/index.ts';
import type { Batch, Entry, KeyRange } from '../../engine/index.ts';
import type { Value } from '../../value/index.ts';
import { encodeChanges, type IndexChanges } from '../index/index-log.ts';
import { encodeIndexState, type IndexState } from '../index/index-state.ts';
import { difference, INDEX_RANGE, type Indexing, indexLogKey } from '../index/indexing.ts';
import type { PostingLists, Terms } from '../index/posting-lists.ts';
import {
  type WideIndexChange,
  wideIndexChange,
  wideReindexing,
} from '../index/wide-index-change.ts';
import type { WideTerms } from '../index/wide-terms.ts';
import type { BodyFinisher, Item, ItemKey, Lsn, Rid } from '../item/item.ts';
import {
  INDEX_CHECKPOINT_KEY,
  INDEX_STATE_KEY,
  logKey,
  RANGE_TOMBSTONES_KEY,
  recordKey,
  ridBytes,
  STATE_KEY,
  tombstoneKey,
  VERSION_RANGE,
} from '../item/keyspace.ts';
import { encodeTombstone } from '../item/tombstone.ts';
import type { RangeTombstone } from '../lifetime/invisible-items.ts';
import { encodeRangeTombstones } from '../lifetime/range-tombstones.ts';
import { encodeState, type PartitionState } from '../state.ts';
import type { KeyMap } from './key-map.ts';
import { type UniqueKeys, uniqueChanges } from './unique-keys.ts';
import type { WideChange } from './wide-writes.ts';

const EMPTY: Bytes = new Uint8Array(0);

/** An item that a group changes: what is decided of it, until the group is durable. */
export interface PendingChange {
  readonly key: ItemKey;
  readonly group: CommitGroup;
  /** As stored when the group began. */
  readonly before: Item | undefined;
  /** What the index has of it with the changes noted so far; `isIndexed`: that is `after`. */
  indexed: Item | undefined;
  isIndexed: boolean;
  after: Item | undefined;
  /** The decoded body of `after` before it was sealed, where the writer had it. */
  value: Value;
  /** Where the entries of `after` belong, where all of them are new and found already; then the value is not needed. */
  terms: Terms | undefined;
  /** Whether `after` was written elsewhere and only moved here. */
  isMoved: boolean;
  /** Whether `after` is one of very many: see `isBulk`. */
  isBulk: boolean;
}

interface Deletion {
  readonly item: Item;
  readonly lsn: Lsn;
  readonly timestampSec: number;
}

export class CommitGroup {
  /** Each item once. */
  readonly pending: PendingChange[] = [];
  /** Called once each with undefined when durable, or with the reason why not. */
  readonly completions: ((failure: Error | undefined) => void)[] = [];
  /** Bytes of bodies, to cut a group before it gets too long. */
  bodyBytes = 0;
  /** LSN of the last intent in the group. */
  lsn: Lsn = 0;
  /** Set where the group moves the building of the index on. */
  indexState: IndexState | undefined;
  /** Set where the group changes what is erased. */
  rangeTombstones: readonly RangeTombstone[] | undefined;
  indexLogNumber = 0;
  /** The policy of its entries. This and the next two are known once the group is a batch. */
  indexing: Indexing | undefined;
  indexChanges: IndexChanges = { added: [], removed: [] };
  /** Items of which all entries are new: those are found when the group is durable. */
  readonly indexedWhole: PendingChange[] = [];
  /** Set where the entries of all writes up to an LSN need not be found again after a crash. */
  indexCheckpoint: Lsn | undefined;
  #clearsIndex = false;
  #end: { readonly failure: Error | undefined } | undefined;
  readonly #deletions: Deletion[] = [];
  /** Items to be indexed as they are, by rid. */
  readonly #reindexed = new Map<
    Rid,
    { readonly item: Item; readonly wide: WideTerms | undefined }
  >();
  /** What changes in the index with the writes of wide items, in their order and before all else. */
  wideChanges: WideIndexChange[] = [];
  /** Keys that are only removed, such as expired tombstones. */
  readonly #removals: Bytes[] = [];
  /** Entries that only come, such as versions. */
  readonly #additions: Entry[] = [];
  /** True where versions are no longer kept: those there are go. */
  clearsVersions = false;
  readonly #finisher: BodyFinisher;
  /** What is decided, by this group or one before it. */
  readonly #overlay: KeyMap<PendingChange>;

  constructor(seal: BodyFinisher, overlay: KeyMap<PendingChange>) {
    this.#finisher = seal;
    this.#overlay = overlay;
  }

  /** True for the first group under a new indexing policy: what the old one left goes. */
  get clearsIndex(): boolean {
    return this.#clearsIndex;
  }

  clearIndex(): void {
    this.#clearsIndex = true;
    // What was found follows the old policy.
    for (const [rid, { item }] of this.#reindexed)
      this.#reindexed.set(rid, { item, wide: undefined });
  }

  get isEmpty(): boolean {
    return (
      this.completions.length === 0 &&
      this.#removals.length === 0 &&
      !this.clearsIndex &&
      !this.clearsVersions
    );
  }

  /** Notes that `key` goes from `current` to `after` at `lsn`. */
  change(key: ItemKey, { current, after, value }: ItemChange, at: Stamped): PendingChange {
    const { isMoved, isBulk } = at;
    let touched = this.#overlay.get(key);
    if (touched?.group !== this) {
      touched = {
        key,
        group: this,
        before: current,
        indexed: current,
        isIndexed: false,
        after,
        value,
        terms: undefined,
        isMoved,
        isBulk,
      };
      this.pending.push(touched);
      this.#overlay.set(touched);
    } else {
      touched.after = after;
      touched.isIndexed = false;
      touched.value = value;
      touched.terms = undefined;
      touched.isMoved = isMoved;
      touched.isBulk = isBulk;
    }
    this.bodyBytes += after?.body.length ?? 0;
    // An item that came and went inside the group was never visible: nobody needs to learn of its end.
    const isGone =
      current !== undefined && after === undefined && touched.before?.rid === current.rid;
    // Of one that went elsewhere the tombstone is moved as it is.
    if (isGone && !isMoved) this.#deletions.push({ item: current, ...at });
    return touched;
  }

  /** Finds the entries of a new item while its decoded body is at hand: kept until it is durable, they take less. */
  findTerms(touched: PendingChange, indexing: Indexing, postings: PostingLists): void {
    const { before, after, value } = touched;
    const isNew = before === undefined && after !== undefined && value !== undefined;
    if (!isNew || indexing.options.isOff || indexing.unique !== undefined) return;
    touched.terms = indexing.find(after, this.valueAfter(touched), postings, true);
    touched.value = undefined;
  }

  /** The decoded body of what an item became, where the writer had it. Made when it is needed: most groups wait long. */
  valueAfter({ after, value }: PendingChange): Value {
    const { ofValue } = this.#finisher;
    if (after === undefined || value === undefined || ofValue === undefined) return value;
    return ofValue(value, after);
  }

  /** Indexes an item as it is. */
  reindex(item: Item, wide: WideTerms | undefined): void {
    this.#reindexed.set(item.rid, { item, wide });
    this.bodyBytes += item.body.length;
  }

  /** Notes what changes in the index with a write just noted, of which the entries are found. */
  changeWide(touched: PendingChange, change: WideChange, indexing: Indexing): void {
    const { indexed, after } = touched;
    const isReindexed = indexed !== undefined && this.#reindexed.delete(indexed.rid);
    const sealed = after && this.#finisher.ofValue?.({}, after);
    const rules = { indexing, isReindexed, sealed, isMoved: touched.isMoved };
    this.wideChanges.push(wideIndexChange(change, { indexed, after }, rules));
    touched.indexed = after;
    touched.isIndexed = true;
  }

  remove(key: Bytes): void {
    this.#removals.push(key);
  }

  add(entry: Entry): void {
    this.#additions.push(entry);
    this.bodyBytes += entry.value.length;
  }

  get deletionCount(): number {
    return this.#deletions.length;
  }

  /**
   * The group as one atomic batch, with the counters and index entries that go with it. Puts are in the order of their keys
   * as far as that is known without looking: the engine has less to sort.
   */
  toBatch(state: PartitionState, indexing: Indexing): Batch {
    this.indexing = indexing;
    const logged: Bytes[] = [];
    if (!indexing.options.isOff) this.#logIndexChanges(indexing, logged);
    const indexLog = logged.map((value) => ({ key: indexLogKey(++state.indexLogNumber), value }));
    this.indexLogNumber = state.indexLogNumber;
    const deletes: Bytes[] = [...this.#removals];
    const puts: Entry[] = [{ key: STATE_KEY, value: encodeState(state) }];
    if (this.indexState !== undefined)
      puts.push({ key: INDEX_STATE_KEY, value: encodeIndexState(this.indexState) });
    if (this.indexCheckpoint !== undefined)
      puts.push({ key: INDEX_CHECKPOINT_KEY, value: ridBytes(this.indexCheckpoint) });
    if (this.rangeTombstones !== undefined)
      puts.push({ key: RANGE_TOMBSTONES_KEY, value: encodeRangeTombstones(this.rangeTombstones) });
    this.#itemEntries(puts, deletes);
    if (indexing.unique !== undefined) this.#uniqueEntries(indexing.unique, puts, deletes);
    for (const entry of indexLog) puts.push(entry);
    for (const { after } of this.pending)
      if (after !== undefined) puts.push({ key: logKey(after.lsn, after.rid), value: EMPTY });
    for (const entry of this.#additions) puts.push(entry);
    for (const { item, lsn, timestampSec } of this.#deletions)
      puts.push({
        key: tombstoneKey(lsn, item.rid),
        value: encodeTombstone({ timestampSec, primary: item.primary }),
      });
    const deleteRanges: KeyRange[] = [];
    if (this.clearsIndex) deleteRanges.push(INDEX_RANGE);
    if (this.clearsVersions) deleteRanges.push(VERSION_RANGE);
    return { deleteRanges, deletes, puts };
  }

  /** Records, then primary keys. */
  #itemEntries(puts: Entry[], deletes: Bytes[]): void {
    const named: { readonly key: ItemKey; readonly rid: Rid }[] = [];
    let isAscending = true;
    let last: Bytes = EMPTY;
    for (const { key, before, after } of this.pending) {
      const isReplaced = before !== undefined && after !== undefined && before.rid === after.rid;
      if (before !== undefined) {
        deletes.push(logKey(before.lsn, before.rid));
        if (!isReplaced) deletes.push(recordKey(before.rid));
        if (after === undefined) deletes.push(key.primary);
      }
      if (after === undefined) continue;
      puts.push({ key: recordKey(after.rid), value: after.record });
      if (isReplaced) continue;
      named.push({ key, rid: after.rid });
      isAscending &&= compareBytes(last, key.primary) < 0;
      last = key.primary;
    }
    if (!isAscending) named.sort((a, b) => compareBytes(a.key.primary, b.key.primary));
    for (const { key, rid } of named) puts.push({ key: key.primary, value: ridBytes(rid) });
  }

  #uniqueEntries(unique: UniqueKeys, puts: Entry[], deletes: Bytes[]): void {
    for (const touched of this.pending) {
      const { key, before, after } = touched;
      const old = before === undefined ? [] : unique.entriesOf(before);
      const now = after === undefined ? [] : unique.entriesOf(after, this.valueAfter(touched));
      const { added, removed } = uniqueChanges(old, now);
      for (const entry of removed) deletes.push(Buffer.from(entry, 'latin1'));
      for (const entry of added)
        puts.push({ key: Buffer.from(entry, 'latin1'), value: key.primary });
    }
  }

  #logIndexChanges(indexing: Indexing, logged: Bytes[]): void {
    // All that was noted follows a policy that is void.
    if (this.clearsIndex) this.wideChanges = [];
    const changes = this.#changeIndex(indexing);
    for (const { log } of this.wideChanges) append(logged, log);
    append(logged, encodeChanges(changes));
  }

  /** Finds what changes in the index; answers the part of it that the items themselves could not tell after a crash. */
  #changeIndex(indexing: Indexing): IndexChanges {
    const added: string[] = [];
    const removed: string[] = [];
    const foreign: string[] = [];
    for (const touched of this.pending) {
      const { before, after, isMoved } = touched;
      if (touched.isIndexed && !this.clearsIndex) continue;
      const isReindexed = before !== undefined && this.#reindexed.delete(before.rid);
      const indexed = this.clearsIndex ? undefined : touched.indexed;
      if (indexed === undefined && after !== undefined && !isMoved) {
        if (touched.terms?.indexing !== indexing) touched.terms = undefined;
        this.indexedWhole.push(touched);
        continue;
      }
      const entries =
        after === undefined ? [] : entriesOf(indexing, after, this.valueAfter(touched));
      const changes = difference(
        indexed === undefined ? [] : entriesOf(indexing, indexed),
        entries,
      );
      append(removed, changes.removed);
      // What is to be indexed anew in this same group is indexed as it is after the group.
      const fresh = isReindexed ? entries : changes.added;
      append(added, fresh);
      if (isMoved) append(foreign, fresh);
    }
    for (const { item, wide } of this.#reindexed.values()) {
      if (wide !== undefined) {
        this.wideChanges.push(wideReindexing(item, wide));
        continue;
      }
      const entries = indexing.entriesOf(item);
      append(added, entries);
      append(foreign, entries);
    }
    this.indexChanges = { added, removed };
    return { added: foreign, removed };
  }

  /** Tells whoever rests on the group how it ended; at once where it has. */
  whenFinished(complete: (failure: Error | undefined) => void): void {
    if (this.#end === undefined) this.completions.push(complete);
    else complete(this.#end.failure);
  }

  finish(failure: Error | undefined): void {
    this.#end = { failure };
    for (const complete of this.completions) complete(failure);
  }
}

/** Leaves their number with the item: a write costs by it. */
function entriesOf(indexing: Indexing, item: Item, value?: Value): readonly string[] {
  const entries = indexing.entriesOf(item, value);
  item.indexEntryCount = entries.length;
  return entries;
}

interface ItemChange {
  readonly current: Item | undefined;
  readonly after: Item | undefined;
  readonly value: Value;
}

export interface Stamped {
  readonly lsn: Lsn;
  readonly timestampSec: number;
  /** The change happened in another partition, at this LSN or before. */
  readonly isMoved: boolean;
  readonly isBulk: boolean;
}
