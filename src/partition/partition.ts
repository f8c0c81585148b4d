/**
 * One physical partition: the items of a range of the hash space in one store, with one owner. Reads return what is
 * durable; writes go through the committer.
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
import type { Entry, Snapshot } from '../engine/index.ts';
import type { WriteResult } from './commit/command/effect.ts';
import { visible, type WriteCommand } from './commit/command/write-command.ts';
import type { CommitGroup } from './commit/commit-group.ts';
import { Committer } from './commit/committer.ts';
import { ConflictTrackers } from './commit/conflict-tracker.ts';
import { WriteBrake } from './commit/write-brake.ts';
import type { History } from './history/history.ts';
import { PartitionChanges } from './history/partition-changes.ts';
import { PartitionImports } from './history/partition-imports.ts';
import { IndexBuilder } from './index/index-builder.ts';
import { PartitionIndex } from './index/partition-index.ts';
import { ItemsWithout } from './index/read/items-without.ts';
import type { IndexState } from './index/stored/index-state.ts';
import type { Indexing } from './index/terms/indexing.ts';
import type { Item, ItemKey, Lsn, Rid } from './item/item.ts';
import type { InvisibleItems, RangeTombstone } from './lifetime/invisible-items.ts';
import type { ItemVisibility } from './lifetime/item-visibility.ts';
import type { SweepStep } from './lifetime/sweeper.ts';
import { NoteBook } from './notes/note-book.ts';
import { PartitionNotes } from './notes/partition-notes.ts';
import type { PartitionOptions } from './open-partition.ts';
import { PartitionReader } from './partition-reader.ts';
import { PartitionTransactions } from './prepared/partition-transactions.ts';
import type { PreparedTransactions } from './prepared/prepared-transactions.ts';
import { type KeyScan, type KeyScanPage, scanKeys } from './read/key-scan.ts';
import type { EpkRange, ItemPage, ItemScan } from './read/scan.ts';
import { StoredItems } from './read/stored-items.ts';
import { countKeys, type KeyCount, type KeySize, scanKeySizes } from './sizes/key-size-scan.ts';
import type { KeySizes } from './sizes/key-sizes.ts';
import type { PartitionState, PartitionStatistics } from './state.ts';

/** The parts that are made of what is stored. */
interface PartitionParts {
  readonly state: PartitionState;
  readonly history: History;
  readonly visibility: ItemVisibility;
  readonly transactions: PreparedTransactions;
  /** Stored with the first write. */
  readonly firstEntries: readonly Entry[];
}

export class Partition {
  readonly #options: PartitionOptions;
  readonly #state: PartitionState;
  readonly #committer: Committer;
  /** For movers, which write to a partition that takes no other writes yet. */
  readonly imports: PartitionImports;
  /** Notes beside the items: results of writes that may be sent again. */
  readonly notes: PartitionNotes;
  /** The change feed, and the history that movers copy. */
  readonly changes: PartitionChanges;
  /** LSN of the last durable write. */
  #lsn: Lsn;
  /** Number of items at that LSN. */
  #itemCount: number;
  /** Items as they are stored, invisible ones too. */
  readonly stored: StoredItems;
  readonly #visibility: ItemVisibility;
  #readerCount = 0;
  readonly #readersAwaited: (() => void)[] = [];
  readonly #index: PartitionIndex;
  readonly #builder: IndexBuilder;
  #isFenced = false;
  /** For movers, which follow the writes. */
  readonly brake = new WriteBrake();
  readonly #conflicts = new ConflictTrackers();
  /** Transactions over several partitions that this one takes part in. */
  readonly transactions: PartitionTransactions;
  readonly #without = new ItemsWithout();
  /** Counts the bytes of heavy keys with every write, once there was a key size scan. */
  #keySizes: KeySizes | undefined;

  constructor(options: PartitionOptions, parts: PartitionParts) {
    const { state, history, visibility, transactions, firstEntries } = parts;
    this.#options = options;
    this.#visibility = visibility;
    this.transactions = new PartitionTransactions({
      prepared: transactions,
      conflicts: this.#conflicts,
      lsns: () => ({ decided: this.#state.lsn, published: this.#lsn }),
      write: (command) => this.write(command),
      commit: (command) => this.#commit(command),
    });
    this.#state = state;
    this.#lsn = state.lsn;
    this.#itemCount = state.itemCount;
    const itemCount = () => state.itemCount + state.internalCount;
    this.stored = new StoredItems({ ...options, itemCount });
    const { store, clock, finisher, updaters, etagSalt, ridPrefix, indexMemoryEntries } = options;
    const { indexing, work = new SlicedWork() } = options;
    const published = () => this.#lsn;
    this.notes = new PartitionNotes({ store, clock });
    const commit = (command: WriteCommand) => this.#commit(command);
    this.imports = new PartitionImports(commit, () => this.#index.flushAll());
    this.changes = new PartitionChanges({ store, clock, etagSalt, history, visibility, published });
    this.#committer = new Committer({
      store,
      clock,
      finisher,
      updaters,
      etagSalt,
      ridPrefix,
      state,
      history,
      indexing,
      visibility,
      notes: new NoteBook({ clock, readEntry: (key) => store.get(key) }),
      firstEntries,
      lacksUniqueEntries: () => this.#builder.unbuiltUnique.length > 0,
      readStored: (key) => this.stored.readBeforeWrite(key),
      publish: (group) => this.#publish(group),
      postings: () => this.#index.postings,
      conflicts: this.#conflicts,
      transactions,
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
    this.#builder = new IndexBuilder({
      indexing,
      state,
      index: this.#index,
      stored: this.stored,
      committer: this.#committer,
      commit,
      isFenced: () => this.#isFenced,
      onFailure: (error) => options.onFailure?.(error),
    });
  }

  get lsn(): Lsn {
    return this.#lsn;
  }

  /** Only an idle partition may be closed, and only while it could be opened again. */
  get isIdle(): boolean {
    if (!this.#committer.isIdle || this.#readerCount > 0 || !this.#conflicts.isEmpty) return false;
    return this.#options.store.writeRefusal === undefined;
  }

  /** True once a commit failed: memory may differ from the store, so the owner has to open the partition again. */
  get hasFailed(): boolean {
    return this.#committer.failure !== undefined;
  }

  /** Bytes of all records, including those that are not durable yet. */
  get itemBytes(): number {
    return this.#state.itemBytes;
  }

  /** The time of the last write, also where it is not durable yet. */
  get lastTimestampSec(): number {
    return this.#state.lastTimestampSec;
  }

  statistics(): PartitionStatistics {
    const { itemCount, itemBytes, checksum } = this.#state;
    return { lsn: this.#lsn, itemCount, itemBytes, checksum };
  }

  read(key: ItemKey): MaybePromise<Item | undefined> {
    return this.#visible(this.stored.read(key));
  }

  /** Same as `read`, with shadows and headers, which decisions see. */
  readPresent(key: ItemKey): MaybePromise<Item | undefined> {
    return andThen(this.stored.read(key), this.#visibility.present);
  }

  /** One result per key, in the order of the keys, with at most one look into the store. */
  readMany(keys: readonly ItemKey[]): MaybePromise<readonly (Item | undefined)[]> {
    const { invisible, visible } = this.#visibility;
    const found = this.stored.readMany(keys);
    return invisible === undefined ? found : andThen(found, (items) => items.map(visible));
  }

  /** Same as `read`, for keys that are mostly new. */
  readBeforeWrite(key: ItemKey): MaybePromise<Item | undefined> {
    return this.#visible(this.stored.readBeforeWrite(key));
  }

  #visible(found: MaybePromise<Item | undefined>): MaybePromise<Item | undefined> {
    return andThen(found, this.#visibility.visible);
  }

  /** The item with this rid; undefined where this partition has none. */
  readByRid(rid: Rid): MaybePromise<Item | undefined> {
    return andThen(this.stored.readByRid(rid), this.#visibility.visible);
  }

  write(command: WriteCommand): Promise<WriteResult> {
    if (this.#isFenced) return Promise.reject(gone());
    const allowed = this.brake.begin();
    if (allowed === undefined) return this.#commit(command);
    return allowed.then(() => (this.#isFenced ? Promise.reject(gone()) : this.#commit(command)));
  }

  /** A rid for an item that may be created; never given out again while the partition is open. */
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

  /** Items in the order of their keys, forwards or backwards. */
  scanKeys(scan: KeyScan): Promise<KeyScanPage> {
    const { store, etagSalt } = this.#options;
    const visible = scan.includesInternal ? this.#visibility.present : this.#visibility.visible;
    return scanKeys({ view: store, etagSalt, visible }, scan);
  }

  /** Undefined where all stored items are visible. */
  get invisible(): InvisibleItems | undefined {
    return this.#visibility.invisible;
  }

  /** Takes effect at once, for older items too. */
  changeTtl(defaultTtlSec: number | undefined): void {
    this.#visibility.change(defaultTtlSec);
  }

  /** Whether there may be something to remove. */
  get isSweepDue(): boolean {
    return this.#visibility.decided !== undefined || this.notes.isSweepDue;
  }

  /** Removes some of the invisible items and expired notes. One step at a time. */
  async sweep(itemsMax: number): Promise<SweepStep> {
    const step = await this.#visibility.sweep(this, itemsMax);
    const hasMore = await this.notes.sweep((command) => this.write(command));
    return hasMore ? { ...step, hasMore } : step;
  }

  /** A consistent view of items and index, for a query. */
  reader(): MaybePromise<PartitionReader> {
    const { store, etagSalt } = this.#options;
    const context = {
      lsn: this.#lsn,
      etagSalt,
      indexing: this.#builder.indexing,
      isIndexReady: this.#builder.isReady,
      readyIndexes: this.#builder.ready,
      itemCount: this.#itemCount,
      invisible: this.#visibility.invisible,
    };
    const release = this.hold();
    // Cached items are taken before the snapshot, so that the snapshot is not older than they are.
    const cached = this.stored.cachedAt(context.lsn);
    const open = (snapshot: Snapshot) => {
      const index = this.#index.view(snapshot);
      const without = this.#without;
      return new PartitionReader({ snapshot, index, cached, without, context, onRelease: release });
    };
    const snapshot = store.snapshot();
    if (!isPromise(snapshot)) return open(snapshot);
    return snapshot.then(open, (error) => {
      release();
      throw error;
    });
  }

  /** What is indexed, and how far that is built. */
  get indexes(): Omit<IndexBuilder, 'change' | 'resume' | 'continue'> {
    return this.#builder;
  }

  /** A new policy or other declared indexes: what changed is built again in the background. */
  changeIndexing(indexing: Indexing): void {
    this.#builder.change(indexing);
  }

  /** Called once at opening, with how far the index was built. */
  resumeIndexing(stored: IndexState | undefined): Promise<void> {
    return this.#builder.resume(stored);
  }

  #commit(command: WriteCommand): Promise<WriteResult> {
    const { backpressure } = this.#index;
    return backpressure?.then(() => this.#commit(command)) ?? this.#committer.write(command);
  }

  /** Reports every key with its bytes in one snapshot. `sizes` counts these and, from then on, every write. */
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

  /** Makes the items in this range of primary keys invisible at once; the sweeper removes them in the background. */
  async deleteRange(range: Omit<RangeTombstone, 'lsn'>): Promise<Lsn> {
    const decide = () => this.transactions.state.decideRange(range);
    const rangeTombstones = (list: readonly RangeTombstone[]) => [...list, { ...range, lsn: 0 }];
    if ((this.invisible?.rangeTombstones.length ?? 0) >= RANGE_TOMBSTONES_MAX)
      throw new DomainError('unavailable', 'Too many partition keys wait for their removal.');
    return (await this.write({ keys: [], decide, rangeTombstones })).lsn;
  }

  /** Undoes `fence` when a move was given up. */
  unfence(): void {
    this.#isFenced = false;
    this.transactions.resume();
    this.#index.resume();
    this.#builder.continue();
  }

  /** Keeps the partition from being closed as idle until the returned function is called, once. */
  hold(): () => void {
    this.#readerCount++;
    return () => {
      if (--this.#readerCount === 0)
        for (const resolve of this.#readersAwaited.splice(0)) resolve();
    };
  }

  /** Resolves when no reader is left that holds the partition. */
  async whenUnread(): Promise<void> {
    if (this.#readerCount > 0) await new Promise<void>((done) => this.#readersAwaited.push(done));
  }

  /** Takes no more writes, waits for those under way, and returns the last LSN. Reads continue. */
  async fence(): Promise<Lsn> {
    this.#isFenced = true;
    this.#index.stop();
    await this.#committer.drain();
    return this.#lsn;
  }

  async close(): Promise<void> {
    this.stored.stop();
    await this.transactions.finish();
    await this.fence();
    await this.#index.finish(!this.hasFailed);
    this.#index.end();
    await this.#options.store.close();
  }

  #publish(group: CommitGroup): void {
    const { pending } = group;
    this.stored.publish(pending);
    for (const { before, after } of pending)
      this.#itemCount +=
        Number(visible(after) !== undefined) - Number(visible(before) !== undefined);
    this.#visibility.publish(group);
    this.#keySizes?.published(pending, group.lsn);
    if (group.notes.size > 0) this.notes.published([...group.notes.values()]);
    this.#index.publish(group);
    this.#lsn = Math.max(this.#lsn, group.lsn);
    this.#conflicts.published(this.#lsn);
    this.#options.onPublished?.();
  }
}

function gone(): DomainError {
  return new DomainError('partitionGone', 'The partition takes no more writes.');
}
