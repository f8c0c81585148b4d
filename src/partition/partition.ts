/**
 * One physical partition: the items of a range of the hash space in one store, with one owner.
 * Reads answer from what is durable; writes go through the committer.
 */
import {
  andThen,
  type Bytes,
  type Clock,
  DomainError,
  isPromise,
  type MaybePromise,
} from '../base/index.ts';
import type { Snapshot, Store } from '../engine/index.ts';
import type { CommitGroup } from './commit-group.ts';
import { Committer } from './committer.ts';
import type { WriteResult } from './effect.ts';
import { History } from './history.ts';
import { buildIndex, reindexing } from './index-builder.ts';
import { decodeIndexState, type IndexState } from './index-state.ts';
import type { Indexing } from './indexing.ts';
import type { WriteIntent } from './intent.ts';
import {
  type Item,
  type ItemKey,
  type Lsn,
  RID_COUNTER_BITS,
  type Rid,
  type Seal,
} from './item.ts';
import type { KeySizes } from './key-sizes.ts';
import { countKeys, type KeyCount, type KeySize, surveyKeys } from './key-survey.ts';
import { INDEX_STATE_KEY, PREFIX_ITEM, RETENTION_KEY, recordKey, STATE_KEY } from './keyspace.ts';
import { KnownKeys } from './known-keys.ts';
import type { MovedEntry } from './moved-history.ts';
import { adoption, type MovedState } from './moved-state.ts';
import { PartitionChanges } from './partition-changes.ts';
import { PartitionIndex } from './partition-index.ts';
import { PartitionReader } from './partition-reader.ts';
import { decodeRecord } from './record.ts';
import type { PartitionCache } from './record-cache.ts';
import { decodeRetention } from './retention.ts';
import { type EpkRange, type ItemPage, type ItemScan, scanByKey, scanByRid } from './scan.ts';
import { decodeState, newState, type PartitionState } from './state.ts';
import { type Watch, Watches } from './watch.ts';

export interface PartitionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly seal: Seal;
  /** Sixteen bits of the container that go into every etag. */
  readonly etagSalt: number;
  /** Thirteen bits that keep the rids of a container's partitions apart. */
  readonly ridPrefix: number;
  readonly cache: PartitionCache;
  readonly indexing: Indexing;
  /** Seconds that all versions of items are kept; 0: not at all. */
  readonly retentionSec: number;
  /** Told of every group of writes once readers know of it. */
  readonly onPublished?: () => void;
  /** Index entries kept in memory before they are written to their place. */
  readonly indexMemoryEntries?: number;
}

export interface PartitionStatistics {
  readonly lsn: Lsn;
  readonly itemCount: number;
  readonly itemBytes: number;
  readonly checksum: number;
}

export async function openPartition(options: PartitionOptions): Promise<Partition> {
  const keys = [STATE_KEY, INDEX_STATE_KEY, RETENTION_KEY];
  const [stored, indexState, retention] = await options.store.getMany(keys);
  const state = stored === undefined ? newState() : decodeState(stored);
  const { store, clock, retentionSec } = options;
  const kept = retention && decodeRetention(retention);
  const history = new History({ store, clock, state, retentionSec, retention: kept });
  const partition = new Partition(options, state, history);
  await partition.resumeIndexing(
    indexState === undefined ? undefined : decodeIndexState(indexState),
  );
  return partition;
}

export class Partition {
  readonly #options: PartitionOptions;
  readonly #state: PartitionState;
  readonly #committer: Committer;
  /** The change feed, and what movers have to know of the past. */
  readonly changes: PartitionChanges;
  /** Of the last durable write. */
  #lsn: Lsn;
  #publishCount = 0;
  #readerCount = 0;
  readonly #index: PartitionIndex;
  readonly #knownKeys: KnownKeys;
  #buildNumber = 0;
  #indexing: Indexing;
  #indexState: IndexState;
  #isFenced = false;
  readonly #watches = new Watches();
  /** Told of every write where somebody counts the bytes of keys. */
  #keySizes: KeySizes | undefined;

  constructor(options: PartitionOptions, state: PartitionState, history: History) {
    this.#options = options;
    this.#state = state;
    this.#lsn = state.lsn;
    this.#indexing = options.indexing;
    this.#indexState = { fingerprint: options.indexing.fingerprint, builtTo: 'all' };
    const { store, clock, seal, etagSalt, ridPrefix, indexMemoryEntries } = options;
    const published = () => this.#lsn;
    this.changes = new PartitionChanges({ store, clock, etagSalt, history, published });
    this.#committer = new Committer({
      store,
      clock,
      seal,
      etagSalt,
      ridPrefix,
      state,
      history,
      indexing: options.indexing,
      readStored: (key) => this.#readStored(key),
      publish: (group) => this.#publish(group),
      watches: this.#watches,
    });
    this.#knownKeys = new KnownKeys(store, state.itemCount);
    this.#index = new PartitionIndex({
      store,
      memoryEntries: indexMemoryEntries,
      lsn: state.lsn,
      logNumber: state.indexLogNumber,
      onFailure: (error) => this.#committer.fail(error),
    });
  }

  get lsn(): Lsn {
    return this.#lsn;
  }

  /** False while a write is under way: such a partition is not closed for idleness. */
  get isIdle(): boolean {
    return this.#committer.isIdle;
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
    const { cache, store, etagSalt } = this.#options;
    const cached = cache.get(key.text);
    if (cached !== undefined) return cached;
    const publishCount = this.#publishCount;
    return andThen(store.follow(key.primary, PREFIX_ITEM), (record) => {
      if (record === undefined) return undefined;
      const item = decodeRecord(record, etagSalt);
      // With an engine that answers later, a write may have been published since: then this is an old state.
      if (publishCount === this.#publishCount) cache.set(key.text, item);
      return item;
    });
  }

  /** As `read`; that a key is new is mostly known without the store. */
  #readStored(key: ItemKey): MaybePromise<Item | undefined> {
    if (!this.#knownKeys.mayHave(key.primary)) return undefined;
    return andThen(this.read(key), (item) => {
      if (item === undefined) this.#knownKeys.missed();
      return item;
    });
  }

  /** The item of this number; undefined where this partition has none. */
  readByRid(rid: Rid): MaybePromise<Item | undefined> {
    const { store, etagSalt } = this.#options;
    return andThen(store.get(recordKey(rid)), (record) =>
      record === undefined ? undefined : decodeRecord(record, etagSalt),
    );
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
    return scanByRid(this.#options.store, this.#options.etagSalt, scan, within);
  }

  /** Items in primary key order: of a range of the hash space, or those whose key begins with these bytes. */
  scanByKey(scan: ItemScan, within: EpkRange | Bytes): MaybePromise<ItemPage> {
    return scanByKey(this.#options.store, this.#options.etagSalt, scan, within);
  }

  /** Several reads of one moment, for a query. */
  reader(): MaybePromise<PartitionReader> {
    const { store, etagSalt } = this.#options;
    const context = {
      lsn: this.#lsn,
      etagSalt,
      indexing: this.#indexing,
      isIndexReady: this.#indexState.builtTo === 'all' && !this.#indexing.options.isOff,
      itemCount: this.#state.itemCount,
    };
    this.#readerCount++;
    const release = () => {
      this.#readerCount--;
    };
    const open = (snapshot: Snapshot) =>
      new PartitionReader(snapshot, this.#index.view(snapshot), context, release);
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
    // A failure is the partition's: it has failed by then, and the next to open it goes on from what is stored.
    buildIndex(this, this.#indexState, isCurrent).catch(() => undefined);
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
    this.#readerCount++;
    try {
      await surveyKeys(this.#options.store, { onKey, signal, sizes });
    } finally {
      this.#readerCount--;
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

  /** Undoes `fence`: the move was given up. */
  unfence(): void {
    this.#isFenced = false;
    this.#index.resume();
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
    this.#knownKeys.stop();
    await this.fence();
    if (this.hasFailed) await this.#index.settled();
    else await this.#index.flushAll();
    await this.#options.store.close();
  }

  #publish(group: CommitGroup): void {
    const { cache } = this.#options;
    this.#publishCount++;
    this.#keySizes?.published(group.touched.values(), group.lsn);
    this.#index.publish(group);
    this.#lsn = Math.max(this.#lsn, group.lsn);
    this.#watches.published(this.#lsn);
    for (const { key, before, after } of group.touched.values()) {
      if (after === undefined) cache.delete(key.text);
      else cache.set(key.text, after);
      if (before === undefined) this.#knownKeys.add(key.primary);
    }
    this.#options.onPublished?.();
  }
}
