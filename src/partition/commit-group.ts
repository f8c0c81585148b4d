/**
 * Writes that become durable together. Per item it keeps what was stored before the group and what shall be after,
 * so that an item written many times in one group is stored once.
 */
import type { Bytes } from '../base/index.ts';
import type { Batch, Entry, KeyRange } from '../engine/index.ts';
import type { Value } from '../value/index.ts';
import { encodeChanges, type IndexChanges } from './index-memory.ts';
import { encodeIndexState, type IndexState } from './index-state.ts';
import { difference, INDEX_RANGE, type Indexing, indexLogKey } from './indexing.ts';
import type { Item, ItemKey, Lsn, Rid } from './item.ts';
import {
  INDEX_STATE_KEY,
  logKey,
  recordKey,
  ridBytes,
  STATE_KEY,
  tombstoneKey,
  VERSION_RANGE,
} from './keyspace.ts';
import { encodeState, type PartitionState } from './state.ts';
import { encodeTombstone } from './tombstone.ts';

const EMPTY: Bytes = new Uint8Array(0);

export interface Touched {
  readonly key: ItemKey;
  /** As stored when the group began. */
  readonly before: Item | undefined;
  after: Item | undefined;
  /** The decoded body of `after`, where the writer had it. */
  value: Value;
}

interface Deletion {
  readonly item: Item;
  readonly lsn: Lsn;
  readonly timestampSec: number;
}

export class CommitGroup {
  readonly touched = new Map<string, Touched>();
  /** Called once each with undefined when durable, or with the reason why not. */
  readonly completions: ((failure: Error | undefined) => void)[] = [];
  /** Bytes of bodies, to cut a group before it gets too long. */
  bodyBytes = 0;
  /** LSN of the last intent in the group. */
  lsn: Lsn = 0;
  /** Set where the group moves the building of the index on. */
  indexState: IndexState | undefined;
  indexLogNumber = 0;
  /** Known once the group is a batch. */
  indexChanges: IndexChanges = { added: [], removed: [] };
  /** True for the first group under a new indexing policy: what the old one left goes. */
  clearsIndex = false;
  readonly #deletions: Deletion[] = [];
  /** Items to be indexed as they are, by rid. */
  readonly #reindexed = new Map<Rid, Item>();
  /** Keys that are only removed, such as expired tombstones. */
  readonly #removals: Bytes[] = [];
  /** Entries that only come, such as versions. */
  readonly #additions: Entry[] = [];
  /** True where versions are no longer kept: those there are go. */
  clearsVersions = false;

  get isEmpty(): boolean {
    return (
      this.completions.length === 0 &&
      this.#removals.length === 0 &&
      !this.clearsIndex &&
      !this.clearsVersions
    );
  }

  /** Notes that `key` goes from `current` to `after` at `lsn`. */
  change(key: ItemKey, { current, after, value }: ItemChange, at: Stamped): void {
    const touched = this.touched.get(key.text);
    if (touched === undefined) this.touched.set(key.text, { key, before: current, after, value });
    else Object.assign(touched, { after, value });
    this.bodyBytes += after?.body.length ?? 0;
    const before = touched === undefined ? current : touched.before;
    // An item that came and went inside the group was never visible: nobody needs to learn of its end.
    const isGone = current !== undefined && after === undefined && before?.rid === current.rid;
    // Of one that went elsewhere the tombstone is moved as it is.
    if (isGone && !at.isMoved) this.#deletions.push({ item: current, ...at });
  }

  /** Indexes an item as it is. */
  reindex(item: Item): void {
    this.#reindexed.set(item.rid, item);
    this.bodyBytes += item.body.length;
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

  /** The group as one atomic batch, with the counters and index entries that go with it. */
  toBatch(state: PartitionState, indexing: Indexing): Batch {
    const deletes: Bytes[] = [...this.#removals];
    const puts: Entry[] = [...this.#additions];
    for (const touched of this.touched.values()) this.#itemEntries(touched, puts, deletes);
    if (!indexing.options.isOff) this.indexChanges = this.#indexChanges(indexing);
    for (const value of encodeChanges(this.indexChanges)) {
      state.indexLogNumber++;
      puts.push({ key: indexLogKey(state.indexLogNumber), value });
    }
    this.indexLogNumber = state.indexLogNumber;
    puts.push({ key: STATE_KEY, value: encodeState(state) });
    for (const { item, lsn, timestampSec } of this.#deletions)
      puts.push({
        key: tombstoneKey(lsn, item.rid),
        value: encodeTombstone({ timestampSec, primary: item.primary }),
      });
    if (this.indexState !== undefined)
      puts.push({ key: INDEX_STATE_KEY, value: encodeIndexState(this.indexState) });
    const deleteRanges: KeyRange[] = [];
    if (this.clearsIndex) deleteRanges.push(INDEX_RANGE);
    if (this.clearsVersions) deleteRanges.push(VERSION_RANGE);
    return { deleteRanges, deletes, puts };
  }

  #itemEntries({ key, before, after }: Touched, puts: Entry[], deletes: Bytes[]): void {
    const isReplaced = before !== undefined && after !== undefined && before.rid === after.rid;
    if (before !== undefined) {
      deletes.push(logKey(before.lsn, before.rid));
      if (!isReplaced) deletes.push(recordKey(before.rid));
      if (after === undefined) deletes.push(key.primary);
    }
    if (after !== undefined) {
      puts.push({ key: recordKey(after.rid), value: after.record });
      puts.push({ key: logKey(after.lsn, after.rid), value: EMPTY });
      if (!isReplaced) puts.push({ key: key.primary, value: ridBytes(after.rid) });
    }
  }

  #indexChanges(indexing: Indexing): IndexChanges {
    const added: string[] = [];
    const removed: string[] = [];
    for (const { before, after, value } of this.touched.values()) {
      const entries = after === undefined ? [] : entriesOf(indexing, after, value);
      // What is to be indexed anew in this same group is indexed as it is after the group.
      const isReindexed = before !== undefined && this.#reindexed.delete(before.rid);
      if (before === undefined || this.clearsIndex) {
        added.push(...entries);
      } else {
        const changes = difference(entriesOf(indexing, before), entries);
        removed.push(...changes.removed);
        added.push(...(isReindexed ? entries : changes.added));
      }
    }
    for (const item of this.#reindexed.values()) added.push(...indexing.entriesOf(item));
    return { added, removed };
  }

  finish(failure: Error | undefined): void {
    for (const complete of this.completions) complete(failure);
  }
}

/** Leaves their number with the item: a write costs by it. */
function entriesOf(indexing: Indexing, item: Item, value?: Value): readonly string[] {
  const entries = indexing.entriesOf(item, value);
  item.indexEntryCount = entries.length;
  return entries;
}

export interface ItemChange {
  readonly current: Item | undefined;
  readonly after: Item | undefined;
  readonly value: Value;
}

export interface Stamped {
  readonly lsn: Lsn;
  readonly timestampSec: number;
  /** The change happened in another partition, at this LSN or before. */
  readonly isMoved: boolean;
}
