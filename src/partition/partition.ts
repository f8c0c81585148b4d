/**
 * One physical partition: the items of a range of the hash space in one store, with one owner.
 * Reads answer from what is durable; writes go through the committer.
 */
import { andThen, type Bytes, type Clock, DomainError, type MaybePromise } from '../base/index.ts';
import type { Store } from '../engine/index.ts';
import type { CommitGroup } from './commit-group.ts';
import { Committer, type WriteResult } from './committer.ts';
import type { WriteIntent } from './intent.ts';
import type { Item, ItemKey, Lsn, Rid, Seal } from './item.ts';
import { PREFIX_ITEM, recordKey, STATE_KEY } from './keyspace.ts';
import { decodeRecord } from './record.ts';
import type { PartitionCache } from './record-cache.ts';
import { type EpkRange, type ItemPage, type ItemScan, scanByKey, scanByRid } from './scan.ts';
import { decodeState, newState, type PartitionState } from './state.ts';

export interface PartitionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly seal: Seal;
  /** Sixteen bits of the container that go into every etag. */
  readonly etagSalt: number;
  /** Thirteen bits that keep the rids of a container's partitions apart. */
  readonly ridPrefix: number;
  readonly cache: PartitionCache;
}

export interface PartitionStatistics {
  readonly lsn: Lsn;
  readonly itemCount: number;
  readonly itemBytes: number;
  readonly checksum: number;
}

export async function openPartition(options: PartitionOptions): Promise<Partition> {
  const stored = await options.store.get(STATE_KEY);
  return new Partition(options, stored === undefined ? newState() : decodeState(stored));
}

export class Partition {
  readonly #options: PartitionOptions;
  readonly #state: PartitionState;
  readonly #committer: Committer;
  /** Of the last durable write. */
  #lsn: Lsn;
  #publishCount = 0;
  #isFenced = false;

  constructor(options: PartitionOptions, state: PartitionState) {
    this.#options = options;
    this.#state = state;
    this.#lsn = state.lsn;
    const { store, clock, seal, etagSalt, ridPrefix } = options;
    this.#committer = new Committer({
      store,
      clock,
      seal,
      etagSalt,
      ridPrefix,
      state,
      readStored: (key) => this.read(key),
      publish: (group) => this.#publish(group),
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
    return this.#committer.write(intent);
  }

  /** Items in rid order, of the whole partition or of a part of its hash range. */
  scanByRid(scan: ItemScan, within: EpkRange | undefined): MaybePromise<ItemPage> {
    return scanByRid(this.#options.store, this.#options.etagSalt, scan, within);
  }

  /** Items in primary key order: of a range of the hash space, or those whose key begins with these bytes. */
  scanByKey(scan: ItemScan, within: EpkRange | Bytes): MaybePromise<ItemPage> {
    return scanByKey(this.#options.store, this.#options.etagSalt, scan, within);
  }

  /** Takes no more writes, waits for those under way, and answers the last LSN. Reads go on. */
  async fence(): Promise<Lsn> {
    this.#isFenced = true;
    await this.#committer.drain();
    return this.#lsn;
  }

  async close(): Promise<void> {
    await this.fence();
    await this.#options.store.close();
  }

  #publish(group: CommitGroup): void {
    const { cache } = this.#options;
    this.#publishCount++;
    this.#lsn = group.lsn;
    for (const { key, after } of group.touched.values()) {
      if (after === undefined) cache.delete(key.text);
      else cache.set(key.text, after);
    }
  }
}
