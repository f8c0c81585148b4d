/**
 * Writes that become durable together. The group keeps the state of each item before it and after it, so that an item
 * that is written many times is stored once.
 */
import { append, type Bytes, compareBytes } from '../../base/index.ts';
import type { Batch, Entry, KeyRange } from '../../engine/index.ts';
import type { Value } from '../../value/index.ts';
import { rangesOfIndex } from '../index/declared/declared-indexes.ts';
import type { PostingLists } from '../index/memory/posting-lists.ts';
import { encodeChanges, type IndexChanges } from '../index/stored/index-log.ts';
import { encodeIndexState, type IndexState } from '../index/stored/index-state.ts';
import { difference, INDEX_RANGE, type Indexing, indexLogKey } from '../index/terms/indexing.ts';
import {
  type WideIndexChange,
  wideIndexChange,
  wideReindexing,
} from '../index/terms/wide-index-change.ts';
import type { WideTerms } from '../index/terms/wide-terms.ts';
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
import type { PendingChange } from './pending-change.ts';
import { addUniqueEntries } from './unique/unique-entries.ts';
import { uniqueRangeOfIndex } from './unique/unique-keys.ts';
import type { WideChange } from './wide-writes.ts';

const EMPTY: Bytes = new Uint8Array(0);

interface Deletion {
  readonly item: Item;
  readonly lsn: Lsn;
  readonly timestampSec: number;
}

export class CommitGroup {
  /** Each item once. */
  readonly pending: PendingChange[] = [];
  /** Each is called once: with undefined when the group is durable, or with the failure. */
  readonly completions: ((failure: Error | undefined) => void)[] = [];
  /** Bytes of bodies, to end a group before it gets too large. */
  bodyBytes = 0;
  /** Whether the group stores a shadow or a header. */
  hasInternal = false;
  /** LSN of the last command in the group. */
  lsn: Lsn = 0;
  /** Set where the group holds a step of an index build. */
  indexState: IndexState | undefined;
  /** Owners of unique values after the group, where the changes of its items alone do not tell them. */
  readonly owners = new Map<string, string | undefined>();
  /** Set where the group changes the range tombstones. */
  rangeTombstones: readonly RangeTombstone[] | undefined;
  indexLogNumber = 0;
  /** The policy of the entries. This and the next two fields are set by `toBatch`. */
  indexing: Indexing | undefined;
  indexChanges: IndexChanges = { added: [], removed: [] };
  /** Items whose entries are all new: they are found when the group is durable. */
  readonly indexedWhole: PendingChange[] = [];
  /** Set where a crash after this LSN does not lose index entries of earlier writes. */
  indexCheckpoint: Lsn | undefined;
  #clearsIndex = false;
  #end: { readonly failure: Error | undefined } | undefined;
  readonly #deletions: Deletion[] = [];
  /** Items to be indexed as they are, by rid. */
  readonly #reindexed = new Map<
    Rid,
    {
      readonly item: Item;
      readonly wide: WideTerms | undefined;
      /** The declared index that is built; undefined: all. */
      readonly index: number | undefined;
    }
  >();
  /** Index changes of wide items in the order of their writes; applied before `indexChanges`. */
  wideChanges: WideIndexChange[] = [];
  /** Keys to delete that belong to no item, such as expired tombstones. */
  readonly #removals: Bytes[] = [];
  readonly #removedIndexes: number[] = [];
  /** Entries to put that belong to no item, such as versions. */
  readonly #additions: Entry[] = [];
  /** Notes to put, by their keys as texts. */
  readonly notes = new Map<string, Entry>();
  /** True where versions are no longer kept: the stored ones are deleted. */
  clearsVersions = false;
  readonly #finisher: BodyFinisher;
  /** Decided changes, of this group and of those before it. */
  readonly #overlay: KeyMap<PendingChange>;

  constructor(finisher: BodyFinisher, overlay: KeyMap<PendingChange>) {
    this.#finisher = finisher;
    this.#overlay = overlay;
  }

  /** True for the first group under a new indexing policy: all entries of the old one are deleted. */
  get clearsIndex(): boolean {
    return this.#clearsIndex;
  }

  clearIndex(): void {
    this.#clearsIndex = true;
    // Terms that were found follow the old policy.
    for (const [rid, { item }] of this.#reindexed)
      this.#reindexed.set(rid, { item, wide: undefined, index: undefined });
  }

  get isEmpty(): boolean {
    return (
      this.completions.length === 0 &&
      this.#removals.length === 0 &&
      !this.clearsIndex &&
      !this.clearsVersions
    );
  }

  /** Notes that the item of `key` changes from `current` to `after`. */
  change(key: ItemKey, { current, after, value }: ItemChange, at: Stamped): PendingChange {
    const { isMoved, isCopied, isBulk } = at;
    let change = this.#overlay.get(key);
    if (change?.group !== this) {
      change = {
        key,
        group: this,
        before: current,
        indexed: indexable(current),
        isIndexed: false,
        after,
        value,
        terms: undefined,
        isMoved,
        isCopied,
        isBulk,
      };
      this.pending.push(change);
      this.#overlay.set(change);
    } else {
      change.after = after;
      change.isIndexed = false;
      change.value = value;
      change.terms = undefined;
      change.isMoved = isMoved;
      change.isCopied = isCopied;
      change.isBulk = isBulk;
    }
    this.bodyBytes += after?.body.length ?? 0;
    this.hasInternal ||= after?.isInternal === true;
    // An item that was created and deleted inside the group was never visible: it needs no tombstone.
    const isGone =
      current !== undefined && after === undefined && change.before?.rid === current.rid;
    // The tombstone of an item that was deleted elsewhere is moved as it is.
    if (isGone && !isMoved) this.#deletions.push({ item: current, ...at });
    return change;
  }

  /** Finds the terms of a new item while its decoded body is at hand: they take less memory than the body. */
  findTerms(change: PendingChange, indexing: Indexing, postings: PostingLists): void {
    const { before, after, value } = change;
    const isNew = before === undefined && after !== undefined && value !== undefined;
    if (!isNew || after.isInternal || indexing.options.isOff || indexing.unique !== undefined)
      return;
    change.terms = indexing.find(after, this.valueAfter(change), postings, true);
    change.value = undefined;
  }

  /** The decoded body of `after`, where the writer had it. Made on demand, since most groups wait for the disk. */
  valueAfter({ after, value }: PendingChange): Value {
    const { ofValue } = this.#finisher;
    if (after === undefined || value === undefined || ofValue === undefined) return value;
    return ofValue(value, after);
  }

  /** Adds all entries of an item that does not change, of one declared index or of all. */
  reindex(item: Item, wide: WideTerms | undefined, index: number | undefined): void {
    if (item.isInternal) return;
    this.#reindexed.set(item.rid, { item, wide, index });
    this.bodyBytes += item.body.length;
  }

  /** Notes the index changes of a write of a wide item, whose terms are found. */
  changeWide(change: PendingChange, wide: WideChange, indexing: Indexing): void {
    const { indexed } = change;
    const after = indexable(change.after);
    const isReindexed = indexed !== undefined && this.#reindexed.delete(indexed.rid);
    const finisherProperties = after && this.#finisher.ofValue?.({}, after);
    const rules = { indexing, isReindexed, finisherProperties, isMoved: change.isMoved };
    this.wideChanges.push(wideIndexChange(wide, { indexed, after }, rules));
    change.indexed = after;
    change.isIndexed = true;
  }

  /** Deletes the entries of a declared index. */
  removeIndex(id: number): void {
    this.#removedIndexes.push(id);
  }

  remove(key: Bytes): void {
    this.#removals.push(key);
  }

  add(entry: Entry): void {
    this.#additions.push(entry);
    this.bodyBytes += entry.value.length;
  }

  addNote(name: string, entry: Entry): void {
    this.notes.set(name, entry);
    this.bodyBytes += entry.value.length;
  }

  get deletionCount(): number {
    return this.#deletions.length;
  }

  /**
   * The group as one atomic batch, with counters and index log. Puts are mostly in the order of their keys, so that the
   * engine has less to sort.
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
    if (indexing.unique !== undefined)
      addUniqueEntries(indexing.unique, this, this.#reindexed.values(), { puts, deletes });
    for (const entry of indexLog) puts.push(entry);
    for (const { after } of this.pending)
      if (after !== undefined) puts.push({ key: logKey(after.lsn, after.rid), value: EMPTY });
    for (const entry of this.#additions) puts.push(entry);
    for (const { item, lsn, timestampSec } of this.#deletions)
      puts.push({
        key: tombstoneKey(lsn, item.rid),
        value: encodeTombstone({ timestampSec, primary: item.primary }),
      });
    for (const entry of this.notes.values()) puts.push(entry);
    const deleteRanges: KeyRange[] = [];
    if (this.clearsIndex) deleteRanges.push(INDEX_RANGE);
    for (const id of this.#removedIndexes)
      deleteRanges.push(...rangesOfIndex(id), uniqueRangeOfIndex(id));
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

  #logIndexChanges(indexing: Indexing, logged: Bytes[]): void {
    // Changes noted before follow a policy that is no longer valid.
    if (this.clearsIndex) this.wideChanges = [];
    const changes = this.#changeIndex(indexing);
    for (const { log } of this.wideChanges) append(logged, log);
    append(logged, encodeChanges(changes));
  }

  /** Finds the index changes; returns those that could not be derived from the items after a crash. */
  #changeIndex(indexing: Indexing): IndexChanges {
    const added: string[] = [];
    const removed: string[] = [];
    const logged: string[] = [];
    for (const change of this.pending) {
      const { before, isMoved, isCopied } = change;
      const after = indexable(change.after);
      if (change.isIndexed && !this.clearsIndex) continue;
      const isReindexed = before !== undefined && this.#reindexed.delete(before.rid);
      const indexed = this.clearsIndex ? undefined : change.indexed;
      if (indexed === undefined && after !== undefined && (!isMoved || isCopied)) {
        if (change.terms?.indexing !== indexing) change.terms = undefined;
        this.indexedWhole.push(change);
        continue;
      }
      const entries =
        after === undefined ? [] : entriesOf(indexing, after, this.valueAfter(change));
      const entryChanges = difference(
        indexed === undefined ? [] : entriesOf(indexing, indexed),
        entries,
      );
      append(removed, entryChanges.removed);
      // An item that the same group reindexes gets all the entries that it has after the group.
      const all = isReindexed ? entries : entryChanges.added;
      append(added, all);
      if (isMoved) append(logged, all);
    }
    for (const { item, wide, index } of this.#reindexed.values()) {
      if (index !== undefined) {
        const entries = indexing.declaredEntriesOf(item, index);
        append(added, entries);
        append(logged, entries);
        continue;
      }
      if (wide !== undefined) {
        this.wideChanges.push(wideReindexing(item, wide));
        continue;
      }
      const entries = indexing.entriesOf(item);
      append(added, entries);
      append(logged, entries);
    }
    this.indexChanges = { added, removed };
    return { added: logged, removed };
  }

  /** Calls back when the group has ended; at once where it already has. */
  whenFinished(complete: (failure: Error | undefined) => void): void {
    if (this.#end === undefined) this.completions.push(complete);
    else complete(this.#end.failure);
  }

  /** Answers those who wait, although the outcome is not known. */
  answer(failure: Error): void {
    const waiting = this.completions.splice(0);
    // A group without completions counts as empty.
    if (waiting.length > 0) this.completions.push(() => undefined);
    for (const complete of waiting) complete(failure);
  }

  finish(failure: Error | undefined): void {
    this.#end = { failure };
    for (const complete of this.completions) complete(failure);
  }
}

/** Shadows and headers have no entries, in no index. */
function indexable(item: Item | undefined): Item | undefined {
  return item?.isInternal === true ? undefined : item;
}

/** Stores the number of entries in the item, because a write is charged by it. */
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
  /** Whether the change happened in another partition, at this LSN or before. */
  readonly isMoved: boolean;
  readonly isCopied: boolean;
  readonly isBulk: boolean;
}
