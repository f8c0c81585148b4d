/**
 * One physical partition: the items of a range of the hash space in one store, with one owner.
 * Reads answer from what is durable; writes go through the committer.
 */
import {
  andThen,
  type Bytes,
  DomainError,
  ERASURES_MAX,
  isPromise,
  type MaybePromise,
  SlicedWork,
} from '../base/index.ts';
import type { Snapshot } from '../engine/index.ts';
import type { CommitGroup } from './commit-group.ts';
import { Committer } from './committer.ts';
import type { WriteResult } from './effect.ts';
import type { Erasure, HiddenItems } from './hidden.ts';
import type { History } from './history.ts';
import { buildIndex, reindexing } from './index-builder.ts';
import type { IndexState } from './index-state.ts';
import type { Indexing } from './indexing.ts';
import type { WriteIntent } from './intent.ts';
import { type Item, type ItemKey, type Lsn, RID_COUNTER_BITS, type Rid } from './item.ts';
import { ItemsWithout } from './items-without.ts';
import type { KeySizes } from './key-sizes.ts';
import { countKeys, type KeyCount, type KeySize, surveyKeys } from './key-survey.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { MovedEntry } from './moved-history.ts';
import { adoption, type MovedState } from './moved-state.ts';
import type { PartitionOptions } from './open-partition.ts';
import { PartitionChanges } from './partition-changes.ts';
import { PartitionIndex } from './partition-index.ts';
import { PartitionReader } from './partition-reader.ts';
import type { EpkRange, ItemPage, ItemScan } from './scan.ts';
import type { PartitionState, PartitionStatistics } from './state.ts';
import { StoredItems } from './stored-items.ts';
import type { SweepStep } from './sweeper.ts';
import { type Watch, Watches } from './watch.ts';

/** What a partition is made of when it is opened. */
export interface PartitionParts {
  readonly state: PartitionState;
  readonly history: History;
  readonly lifetimes: Lifetimes;
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
  readonly #lifetimes: Lifetimes;
  #readerCount = 0;
  readonly #index: PartitionIndex;
  #buildNumber = 0;
  #indexing: Indexing;
  #indexState: IndexState;
  #isFenced = false;
  readonly #watches = new Watches();
  readonly #without = new ItemsWithout();
  /** Told of every write where somebody counts the bytes of keys. */
  #keySizes: KeySizes | undefined;

  constructor(options: PartitionOptions, { state, history, lifetimes }: PartitionParts) {
    this.#options = options;
    this.#lifetimes = lifetimes;
    this.#state = state;
    this.#lsn = state.lsn;
    this.#itemCount = state.itemCount;
    this.stored = new StoredItems({ ...options, itemCount: () => this.#itemCount });
    this.#indexing = options.indexing;
    this.#indexState = { fingerprint: options.indexing.fingerprint, builtTo: 'all' };
    const { store, clock, seal, etagSalt, ridPrefix, indexMemoryEntries } = options;
    const { work = new SlicedWork() } = options;
    const published = () => this.#lsn;
    this.changes = new PartitionChanges({ store, clock, etagSalt, history, lifetimes, published });
    this.#committer = new Committer({
      store,
      clock,
      seal,
      etagSalt,
      ridPrefix,
      state,
      history,
      indexing: options.indexing,
      lifetimes,
      readStored: (key) => this.stored.readBeforeWrite(key),
      publish: (group) => this.#publish(group),
      postings: () => this.#index.postings,
      watches: this.#watches,
      isCacheFull: options.cache.isFull,
      work,
      onFailure: (error) => options.onFailure?.(error),
    });
    this.#index = new PartitionIndex({
      store,
      memoryEntries: indexMemoryEntries,
      lsn: state.lsn,
      logNumber: state.indexLogNumber,
      ridsRoom: options.cache.ridsRoom,
      work,
      onFailure: (error) => this.#committer.fail(error),
    });
  }

  get lsn(): Lsn {
    return this.#lsn;
  }

  /** False while somebody writes, reads or thinks about what was read: such a partition is not closed for want of use. */
  get isIdle(): boolean {
    return this.#committer.isIdle && this.#readerCount === 0 && this.#watches.isEmpty;
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
    return this.#shown(this.stored.read(key));
  }

  /** As `read`, for keys that are mostly new. */
  readBeforeWrite(key: ItemKey): MaybePromise<Item | undefined> {
    return this.#shown(this.stored.readBeforeWrite(key));
  }

  #shown(found: MaybePromise<Item | undefined>): MaybePromise<Item | undefined> {
    const { hidden, shown } = this.#lifetimes;
    return hidden === undefined ? found : andThen(found, shown);
  }

  /** The item of this number; undefined where this partition has none. */
  readByRid(rid: Rid): MaybePromise<Item | undefined> {
    return andThen(this.stored.readByRid(rid), this.#lifetimes.shown);
  }

  write(intent: WriteIntent): Promise<WriteResult> {
    if (this.#isFenced)
      return Promise.reject(
        new DomainError('partitionGone', 'The partition takes no more writes.'),
      );
    return this.#commit(intent);
  }

  /** Notes who writes keys that begin with this text, once all that was decided before can be read. */
  watch(prefix: string): Promise<Watch> {
    return this.#watches.open(prefix, { decided: this.#state.lsn, published: this.#lsn });
  }

  /** A number for an item to be created, if it is; never given out again while the partition is open. */
  reserveRid(): Rid {
    return this.#committer.reserveRid();
  }

  /** Items in rid order, of the whole partition or of a part of its hash range. */
  scanByRid(scan: ItemScan, within: EpkRange | undefined): MaybePromise<ItemPage> {
    return andThen(this.stored.scanByRid(scan, within), this.#lifetimes.shownPage);
  }

  /** Items in primary key order: of a range of the hash space, or those whose key begins with these bytes. */
  scanByKey(scan: ItemScan, within: EpkRange | Bytes): MaybePromise<ItemPage> {
    return andThen(this.stored.scanByKey(scan, within), this.#lifetimes.shownPage);
  }

  /** Undefined where all that is stored is there. */
  get hidden(): HiddenItems | undefined {
    return this.#lifetimes.hidden;
  }

  /** Holds from now on for all items, older ones too. */
  changeTtl(defaultTtlSec: number | undefined): void {
    this.#lifetimes.change(defaultTtlSec);
  }

  /** Removes some of the items that are no longer there. One step at a time. */
  sweep(itemsMax: number): Promise<SweepStep> {
    return this.#lifetimes.sweep(this, itemsMax);
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
      hidden: this.#lifetimes.hidden,
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

  #commit(intent: WriteIntent): Promise<WriteResult> {
    const { congestion } = this.#index;
    if (congestion === undefined) return this.#committer.write(intent);
    return congestion.then(() => this.#commit(intent));
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
  async adopt(states: readonly MovedState[], upTo: Lsn): Promise<void> {
    await this.#commit(adoption(states, upTo));
  }

  /**
   * Looks at every key with its bytes, as of one moment. `sizes` is told of these and from then on of every write, so
   * that it stays true.
   */
  async survey(
    onKey: (key: KeySize) => void,
    signal: AbortSignal,
    sizes?: KeySizes,
  ): Promise<void> {
    if (sizes !== undefined) this.#keySizes = sizes;
    const release = this.hold();
    try {
      await surveyKeys(this.#options.store, { onKey, signal, sizes });
    } finally {
      release();
    }
  }

  /** How many logical partitions there are. */
  keyCount(): Promise<KeyCount> {
    return countKeys(this.#options.store, this.#state.itemCount);
  }

  /** Tombstones and versions as they stand in another partition. */
  async adoptHistory(entries: readonly MovedEntry[], upTo: Lsn): Promise<void> {
    await this.#commit({ ...adoption([], upTo), movedHistory: entries });
  }

  /** Items in this range of primary keys are gone, at once and for all; they are removed in the background. */
  async erase(range: Omit<Erasure, 'lsn'>): Promise<Lsn> {
    const erasures = (list: readonly Erasure[]) => [...list, { ...range, lsn: 0 }];
    if ((this.hidden?.erasures.length ?? 0) >= ERASURES_MAX)
      throw new DomainError('unavailable', 'Too many partition keys wait for their removal.');
    return (await this.write({ keys: [], decide: () => [], erasures })).lsn;
  }

  /** Takes over what is erased elsewhere. */
  async adoptErasures(erasures: readonly Erasure[], upTo: Lsn): Promise<void> {
    if (erasures.length === 0) return;
    await this.#commit({ keys: [], decide: () => [], movedLsn: upTo, erasures: () => erasures });
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
    const { touched } = group;
    this.stored.publish(touched);
    for (const { before, after } of touched) {
      this.#itemCount += Number(after !== undefined) - Number(before !== undefined);
    }
    this.#lifetimes.publish(group);
    this.#keySizes?.published(touched, group.lsn);
    this.#index.publish(group);
    this.#lsn = Math.max(this.#lsn, group.lsn);
    this.#watches.published(this.#lsn);
    this.#options.onPublished?.();
  }
}
