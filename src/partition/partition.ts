/**
 * One physical partition: the items of a range of the hash space in one store, with one owner.
 * Reads answer from what is durable; writes go through the committer.
 */
import {
  andThen,
  type Bytes,
  DomainError,
  isPromise,
  type MaybePromise,
  RANGE_TOMBSTONES_MAX,
  SlicedWork,
} from '../base/index.ts';
import type { Snapshot } from '../engine/index.ts';
import type { CommitGroup } from './commit/commit-group.ts';
import { Committer } from './commit/committer.ts';
import { type ConflictTracker, ConflictTrackers } from './commit/conflict-tracker.ts';
import type { WriteResult } from './commit/effect.ts';
import type { WriteCommand } from './commit/write-command.ts';
import type { History } from './history/history.ts';
import type { MovedEntry } from './history/moved-history.ts';
import { importCommand, type MovedState } from './history/moved-state.ts';
import { PartitionChanges } from './history/partition-changes.ts';
import { buildIndex, reindexing } from './index/index-builder.ts';
import type { IndexState } from './index/index-state.ts';
import type { Indexing } from './index/indexing.ts';
import { ItemsWithout } from './index/items-without.ts';
import { PartitionIndex } from './index/partition-index.ts';
import { type Item, type ItemKey, type Lsn, RID_COUNTER_BITS, type Rid } from './item/item.ts';
import type { InvisibleItems, RangeTombstone } from './lifetime/invisible-items.ts';
import type { ItemVisibility } from './lifetime/item-visibility.ts';
import type { SweepStep } from './lifetime/sweeper.ts';
import type { PartitionOptions } from './open-partition.ts';
import { PartitionReader } from './partition-reader.ts';
import type { EpkRange, ItemPage, ItemScan } from './read/scan.ts';
import { StoredItems } from './read/stored-items.ts';
import { countKeys, type KeyCount, type KeySize, scanKeySizes } from './sizes/key-size-scan.ts';
import type { KeySizes } from './sizes/key-sizes.ts';
import type { PartitionState, PartitionStatistics } from './state.ts';

/** What a partition is made of when it is opened. */
interface PartitionParts {
  readonly state: PartitionState;
  readonly history: History;
  readonly visibility: ItemVisibility;
}

export class Partition {
  readonly #options: PartitionOptions;
  readonly #state: PartitionState;
  readonly #committer: Committer;
  /** The change feed, and what movers have to know of the past. */
  readonly changes: PartitionChanges;
  /** Of the last durable write. */
  #lsn: Lsn;
  /** Items as of that LSN. */
  #itemCount: number;
  /** Items as they are stored, hidden ones too. */
  readonly stored: StoredItems;
  readonly #visibility: ItemVisibility;
  #readerCount = 0;
  readonly #index: PartitionIndex;
  #buildNumber = 0;
  #indexing: Indexing;
  #indexState: IndexState;
  #isFenced = false;
  readonly #conflicts = new ConflictTrackers();
  readonly #without = new ItemsWithout();
  /** Told of every write where somebody counts the bytes of keys. */
  #keySizes: KeySizes | undefined;

  constructor(options: PartitionOptions, { state, history, visibility }: PartitionParts) {
    this.#options = options;
    this.#visibility = visibility;
    this.#state = state;
    this.#lsn = state.lsn;
    this.#itemCount = state.itemCount;
    this.stored = new StoredItems({ ...options, itemCount: () => this.#itemCount });
    this.#indexing = options.indexing;
    this.#indexState = { fingerprint: options.indexing.fingerprint, builtTo: 'all' };
    const { store, clock, finisher, etagSalt, ridPrefix, indexMemoryEntries } = options;
    const { work = new SlicedWork() } = options;
    const published = () => this.#lsn;
    this.changes = new PartitionChanges({ store, clock, etagSalt, history, visibility, published });
    this.#committer = new Committer({
      store,
      clock,
      finisher,
      etagSalt,
      ridPrefix,
      state,
      history,
      indexing: options.indexing,
      visibility,
      readStored: (key) => this.stored.readBeforeWrite(key),
      publish: (group) => this.#publish(group),
      postings: () => this.#index.postings,
      conflicts: this.#conflicts,
      isCacheFull: options.cache.isFull,
      work,
      onFailure: (error) => options.onFailure?.(error),
    });
    this.#index = new PartitionIndex({
      store,
      memtableEntries: indexMemoryEntries,
      lsn: state.lsn,
      logNumber: state.indexLogNumber,
      memory: options.cache.memory,
      work,
      onFailure: (error) => this.#committer.fail(error),
    });
  }

  get lsn(): Lsn {
    return this.#lsn;
  }

  /** False while somebody writes, reads or thinks about what was read: such a partition is not closed for want of use. */
  get isIdle(): boolean {
    return this.#committer.isIdle && this.#readerCount === 0 && this.#conflicts.isEmpty;
  }

  /** True once a commit failed: what is in memory is worth nothing, the owner has to open the partition again. */
  get hasFailed(): boolean {
    return this.#committer.failure !== undefined;
  }

  /** Bytes of all records, those not yet durable too. */
  get itemBytes(): number {
    return this.#state.itemBytes;
  }

  statistics(): PartitionStatistics {
    const { itemCount, itemBytes, checksum } = this.#state;
    return { lsn: this.#lsn, itemCount, itemBytes, checksum };
  }

  read(key: ItemKey): MaybePromise<Item | undefined> {
    return this.#visible(this.stored.read(key));
  }

  /** As `read`, for keys that are mostly new. */
  readBeforeWrite(key: ItemKey): MaybePromise<Item | undefined> {
    return this.#visible(this.stored.readBeforeWrite(key));
  }

  #visible(found: MaybePromise<Item | undefined>): MaybePromise<Item | undefined> {
    const { hidden, visible } = this.#visibility;
    return hidden === undefined ? found : andThen(found, visible);
  }

  /** The item of this number; undefined where this partition has none. */
  readByRid(rid: Rid): MaybePromise<Item | undefined> {
    return andThen(this.stored.readByRid(rid), this.#visibility.visible);
  }

  write(intent: WriteCommand): Promise<WriteResult> {
    if (this.#isFenced)
      return Promise.reject(
        new DomainError('partitionGone', 'The partition takes no more writes.'),
      );
    return this.#commit(intent);
  }

  /** Notes who writes keys that begin with this text, once all that was decided before can be read. */
  trackConflicts(prefix: string): Promise<ConflictTracker> {
    return this.#conflicts.open(prefix, { decided: this.#state.lsn, published: this.#lsn });
  }

  /** A number for an item to be created, if it is; never given out again while the partition is open. */
  reserveRid(): Rid {
    return this.#committer.reserveRid();
  }

  /** Items in rid order, of the whole partition or of a part of its hash range. */
  scanByRid(scan: ItemScan, within: EpkRange | undefined): MaybePromise<ItemPage> {
    return andThen(this.stored.scanByRid(scan, within), this.#visibility.visiblePage);
  }

  /** Items in primary key order: of a range of the hash space, or those whose key begins with these bytes. */
  scanByKey(scan: ItemScan, within: EpkRange | Bytes): MaybePromise<ItemPage> {
    return andThen(this.stored.scanByKey(scan, within), this.#visibility.visiblePage);
  }

  /** Undefined where all that is stored is there. */
  get hidden(): InvisibleItems | undefined {
    return this.#visibility.hidden;
  }

  /** Holds from now on for all items, older ones too. */
  changeTtl(defaultTtlSec: number | undefined): void {
    this.#visibility.change(defaultTtlSec);
  }

  /** Removes some of the items that are no longer there. One step at a time. */
  sweep(itemsMax: number): Promise<SweepStep> {
    return this.#visibility.sweep(this, itemsMax);
  }

  /** Several reads of one moment, for a query. */
  reader(): MaybePromise<PartitionReader> {
    const { store, etagSalt } = this.#options;
    const context = {
      lsn: this.#lsn,
      etagSalt,
      indexing: this.#indexing,
      isIndexReady: this.#indexState.builtTo === 'all' && !this.#indexing.options.isOff,
      itemCount: this.#itemCount,
      invisible: this.#visibility.hidden,
    };
    const release = this.hold();
    // Before the snapshot, so that what it has is not older than what is remembered.
    const remembered = this.stored.remembered(context.lsn);
    const open = (snapshot: Snapshot) =>
      new PartitionReader({
        snapshot,
        index: this.#index.view(snapshot),
        remembered,
        without: this.#without,
        context,
        onRelease: release,
      });
    const snapshot = store.snapshot();
    if (!isPromise(snapshot)) return open(snapshot);
    return snapshot.then(open, (error) => {
      release();
      throw error;
    });
  }

  /** Share of the items that are indexed under the present policy, 0 to 100. */
  indexProgressPercent(): number {
    const { builtTo } = this.#indexState;
    if (builtTo === 'all') return 100;
    const counter = builtTo % 2 ** RID_COUNTER_BITS;
    return Math.min(99, Math.floor((100 * counter) / Math.max(1, this.#state.ridCounter)));
  }

  /** A new policy: the index is built again in the background. */
  changeIndexing(indexing: Indexing): void {
    if (indexing.fingerprint === this.#indexing.fingerprint) return;
    this.#indexing = indexing;
    this.#beginIndexing();
  }

  /** At opening: goes on where the building of the index was left, or begins it under a policy that changed. */
  async resumeIndexing(stored: IndexState | undefined): Promise<void> {
    const isSame = stored?.fingerprint === this.#indexing.fingerprint;
    if (isSame) await this.#index.recover(this.#indexing);
    if (stored === undefined && this.#state.itemCount === 0) {
      this.#committer.noteIndexState(this.#indexState);
    } else if (stored === undefined || !isSame) {
      this.#beginIndexing();
    } else if (stored.builtTo !== 'all') {
      this.#indexState = stored;
      this.#build();
    }
  }

  /** One step of the builder: indexes these items as they now are and notes how far it got. */
  async indexItems(
    keys: readonly ItemKey[],
    state: IndexState,
    isCurrent: () => boolean,
  ): Promise<void> {
    await this.#commit(reindexing(keys, state, isCurrent));
    if (isCurrent()) this.#indexState = state;
  }

  #commit(intent: WriteCommand): Promise<WriteResult> {
    const { backpressure } = this.#index;
    if (backpressure === undefined) return this.#committer.write(intent);
    return backpressure.then(() => this.#commit(intent));
  }

  #beginIndexing(): void {
    const { fingerprint, options } = this.#indexing;
    const isDone = options.isOff || this.#state.itemCount === 0;
    this.#indexState = { fingerprint, builtTo: isDone ? 'all' : 0 };
    this.#buildNumber++;
    this.#index.hold();
    this.#committer.startIndexing(this.#indexing, this.#indexState);
    if (!isDone) this.#build();
  }

  #build(): void {
    const number = ++this.#buildNumber;
    const isCurrent = () =>
      number === this.#buildNumber && !this.#isFenced && !this.#committer.failure;
    // The next to open the partition goes on from what is stored; until then queries read the items.
    buildIndex(this, this.#indexState, isCurrent).catch((error: Error) => {
      if (isCurrent()) this.#options.onFailure?.(error);
    });
  }

  /**
   * Takes over the state of items from another partition: what they are there now, or that they are gone. May be told
   * the same twice. The log keeps the LSNs of the other partition.
   */
  async import(states: readonly MovedState[], upTo: Lsn): Promise<void> {
    await this.#commit(importCommand(states, upTo));
  }

  /**
   * Looks at every key with its bytes, as of one moment. `sizes` is told of these and from then on of every write, so
   * that it stays true.
   */
  async scanKeySizes(
    onKey: (key: KeySize) => void,
    signal: AbortSignal,
    sizes?: KeySizes,
  ): Promise<void> {
    if (sizes !== undefined) this.#keySizes = sizes;
    const release = this.hold();
    try {
      await scanKeySizes(this.#options.store, { onKey, signal, sizes });
    } finally {
      release();
    }
  }

  /** How many logical partitions there are. */
  keyCount(): Promise<KeyCount> {
    return countKeys(this.#options.store, this.#state.itemCount);
  }

  /** Tombstones and versions as they stand in another partition. */
  async importHistory(entries: readonly MovedEntry[], upTo: Lsn): Promise<void> {
    await this.#commit({ ...importCommand([], upTo), movedHistory: entries });
  }

  /** Items in this range of primary keys are gone, at once and for all; they are removed in the background. */
  async deleteRange(range: Omit<RangeTombstone, 'lsn'>): Promise<Lsn> {
    const rangeTombstones = (list: readonly RangeTombstone[]) => [...list, { ...range, lsn: 0 }];
    if ((this.hidden?.rangeTombstones.length ?? 0) >= RANGE_TOMBSTONES_MAX)
      throw new DomainError('unavailable', 'Too many partition keys wait for their removal.');
    return (await this.write({ keys: [], decide: () => [], rangeTombstones })).lsn;
  }

  /** Takes over what is erased elsewhere. */
  async importRangeTombstones(erasures: readonly RangeTombstone[], upTo: Lsn): Promise<void> {
    if (erasures.length === 0) return;
    await this.#commit({
      keys: [],
      decide: () => [],
      movedLsn: upTo,
      rangeTombstones: () => erasures,
    });
  }

  /** Undoes `fence`: the move was given up. */
  unfence(): void {
    this.#isFenced = false;
    this.#index.resume();
  }

  /** Keeps the partition from being closed for want of use, until what it answers is called, once. */
  hold(): () => void {
    this.#readerCount++;
    return () => {
      this.#readerCount--;
    };
  }

  /** Readers not yet released. */
  get readerCount(): number {
    return this.#readerCount;
  }

  /** Takes no more writes, waits for those under way, and answers the last LSN. Reads go on. */
  async fence(): Promise<Lsn> {
    this.#isFenced = true;
    this.#index.stop();
    await this.#committer.drain();
    return this.#lsn;
  }

  async close(): Promise<void> {
    this.stored.stop();
    await this.fence();
    if (this.hasFailed) await this.#index.settled();
    else await this.#index.flushAll();
    this.#index.end();
    await this.#options.store.close();
  }

  #publish(group: CommitGroup): void {
    const { pending } = group;
    this.stored.publish(pending);
    for (const { before, after } of pending) {
      this.#itemCount += Number(after !== undefined) - Number(before !== undefined);
    }
    this.#visibility.publish(group);
    this.#keySizes?.published(pending, group.lsn);
    this.#index.publish(group);
    this.#lsn = Math.max(this.#lsn, group.lsn);
    this.#conflicts.published(this.#lsn);
    this.#options.onPublished?.();
  }
}
