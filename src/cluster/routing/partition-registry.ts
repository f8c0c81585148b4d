/** Opens the partitions of this process on first use and closes idle ones. */
import {
  type Clock,
  DomainError,
  type MaybePromise,
  OPEN_PARTITIONS_MAX,
  OPEN_PARTITIONS_SURGE,
  PARTITION_IDLE_MS,
  type Random,
  SlicedWork,
} from '../../base/index.ts';
import type { Engine } from '../../engine/index.ts';
import { openPartition, type Partition, type RecordCache } from '../../partition/index.ts';
import { SearchIndexes, SearchMemory } from '../../search/index.ts';
import { PartitionHandle, type PartitionHandleOptions } from './partition-handle.ts';

/** Queries under way when their partition is replaced may finish; one that takes longer than this fails. */
const RETIRE_WAIT_MS = 30_000;

/** While all partitions are in use, a request for another one waits so long, and tries so many times. */
const OPEN_WAIT_MS = 10;
const OPEN_WAITS_MAX = 500;

interface RegistryOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly cache: RecordCache;
  /** Receives every partition that failed; the next request opens it again. */
  readonly onFailure?: ((failure: PartitionFailure) => void) | undefined;
  /** Partitions that are open at once, unless all of them are in use. */
  readonly openPartitionsMax?: number | undefined;
}

export interface PartitionFailure {
  readonly storeName: string;
  readonly error: unknown;
}

export class PartitionRegistry {
  /** Receives every group of writes that became durable in a store. */
  onPublished: ((storeName: string) => void) | undefined;
  /** What a partition has to do before it serves, where it was left by a crash. Does not reject. */
  recover: (partition: Partition) => Promise<void> | undefined = () => undefined;
  readonly #options: RegistryOptions;
  readonly #handles = new Map<string, PartitionHandle>();
  /** Partitions open, being opened or being closed: they have files open, or will have. */
  #filesCount = 0;
  readonly #open = new Set<PartitionHandle>();
  #sweeper: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #closed = Promise.withResolvers<void>();
  readonly #retiring = new Set<Promise<void>>();
  readonly #searchMemory = new SearchMemory();
  readonly #work = new SlicedWork();
  /** Kept as long as the partition is open under the same policy. */
  readonly #searches = new WeakMap<Partition, OpenSearch>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** The one handle of a store. Options that changed since, such as a new indexing policy, reach the open partition. */
  handle(storeName: string, options: PartitionHandleOptions): PartitionHandle {
    const present = this.#handles.get(storeName);
    if (present !== undefined) {
      present.configure(options);
      return present;
    }
    const { clock, random } = this.#options;
    const handle = new PartitionHandle(storeName, options, clock.nowMs(), random);
    this.#handles.set(storeName, handle);
    return handle;
  }

  /** The vector and text indexes of an open partition; undefined where its container has none. */
  search(
    { options: { search: spec } }: PartitionHandle,
    partition: Partition,
  ): SearchIndexes | undefined {
    if (spec === undefined) return undefined;
    const present = this.#searches.get(partition);
    if (present !== undefined && present.fingerprint === spec.fingerprint) return present.indexes;
    present?.indexes.clear();
    const indexes = new SearchIndexes(partition, spec, this.#searchMemory);
    this.#searches.set(partition, { fingerprint: spec.fingerprint, indexes });
    return indexes;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Handles of the partitions that somebody asked for, open or not. */
  handles(): Iterable<PartitionHandle> {
    return this.#handles.values();
  }

  /** The open partition of a handle; at once where it is open, which is the rule. */
  partition(handle: PartitionHandle): MaybePromise<Partition> {
    const partition = handle.use(this.#options.clock.nowMs());
    if (partition !== undefined) return partition;
    if (handle.isGone) throw replaced();
    return this.#opened(handle);
  }

  /** The same, also while the partition recovers: for the recovery of others. */
  recovering(handle: PartitionHandle): MaybePromise<Partition> {
    const { partition } = handle;
    return partition === undefined || partition.hasFailed ? this.partition(handle) : partition;
  }

  /** Closes the partitions of these stores and removes their data. */
  async drop(storeNames: readonly string[]): Promise<void> {
    for (const storeName of storeNames) {
      const handle = this.#handles.get(storeName);
      // Requests that were routed before must not open it again meanwhile.
      handle?.retire();
      if (handle !== undefined) await this.#close(handle);
      this.#handles.delete(storeName);
      await this.#options.engine.drop(storeName);
    }
  }

  /** Drops a partition that was replaced by others, after its last reader. */
  retire(handle: PartitionHandle): Promise<void> {
    handle.retire();
    const retiring = this.#dropUnread(handle).finally(() => this.#retiring.delete(retiring));
    this.#retiring.add(retiring);
    return retiring;
  }

  async #dropUnread(handle: PartitionHandle): Promise<void> {
    const waited = Promise.withResolvers<void>();
    const timer = setTimeout(waited.resolve, RETIRE_WAIT_MS);
    await Promise.race([handle.partition?.whenUnread(), waited.promise, this.#closed.promise]);
    clearTimeout(timer);
    await this.drop([handle.storeName]);
  }

  /** Removes the stores of partitions that the catalog does not name: a crash left them during a move or a deletion. */
  async dropOrphans(isNamed: (storeName: string) => boolean): Promise<void> {
    for (const name of await this.#options.engine.list())
      if (name.includes('/') && !isNamed(name)) await this.#options.engine.drop(name);
  }

  /** Closes everything; idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closed.resolve();
    clearInterval(this.#sweeper);
    await Promise.allSettled(this.#retiring);
    await Promise.all([...this.#handles.values()].map((handle) => this.#close(handle)));
  }

  async #opened(handle: PartitionHandle): Promise<Partition> {
    while (handle.changing !== undefined || handle.partition?.hasFailed === true)
      await (handle.changing ?? this.#close(handle));
    if (handle.partition !== undefined) return handle.partition;
    if (handle.isGone) throw replaced();
    if (this.#isClosed) throw new DomainError('unavailable', 'The server is stopping.');
    const partition = await handle.open(this.#openStore(handle), this.recover);
    this.#sweeper ??= setInterval(() => this.#sweep(), PARTITION_IDLE_MS / 2).unref();
    return partition;
  }

  async #openStore(handle: PartitionHandle): Promise<Partition> {
    await this.#reserveFiles();
    try {
      const partition = await this.#openPartition(handle);
      this.#open.add(handle);
      return partition;
    } catch (error) {
      this.#filesCount--;
      throw error;
    }
  }

  /** Closes the least recently used partitions until one more may be opened, and counts that one. */
  async #reserveFiles(): Promise<void> {
    const { openPartitionsMax = OPEN_PARTITIONS_MAX } = this.#options;
    for (let waits = 0; this.#filesCount >= openPartitionsMax; ) {
      const oldest = this.#leastRecentlyUsed();
      // The next request for it opens the store again and then reports why it cannot be used.
      if (oldest !== undefined) await this.#close(oldest).catch(() => undefined);
      else if (this.#filesCount < openPartitionsMax * OPEN_PARTITIONS_SURGE) break;
      else if (++waits > OPEN_WAITS_MAX)
        throw new DomainError('unavailable', 'Too many partitions are in use at once.');
      else await new Promise((resolve) => setTimeout(resolve, OPEN_WAIT_MS));
    }
    this.#filesCount++;
  }

  async #openPartition(handle: PartitionHandle): Promise<Partition> {
    const { engine, clock, cache, onFailure } = this.#options;
    const { storeName } = handle;
    const store = await engine.open(storeName);
    try {
      return await openPartition({
        store,
        clock,
        cache: cache.forPartition(),
        work: this.#work,
        onPublished: () => this.onPublished?.(storeName),
        ...(onFailure && { onFailure: (error: Error) => onFailure({ storeName, error }) }),
        ...handle.options,
      });
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  async #close(handle: PartitionHandle): Promise<void> {
    while (handle.changing !== undefined) await handle.changing;
    const { partition } = handle;
    if (partition === undefined) return;
    this.#open.delete(handle);
    const search = this.#searches.get(partition);
    if (search !== undefined) this.#searchMemory.forget(search.indexes);
    const closing = partition.close().finally(() => {
      this.#filesCount--;
    });
    await handle.close(closing);
  }

  #sweep(): void {
    const idleSinceMs = this.#options.clock.nowMs() - PARTITION_IDLE_MS;
    for (const handle of this.#open)
      if (handle.lastUsedMs <= idleSinceMs && handle.isClosable) this.#closeInBackground(handle);
    if (this.#open.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
  }

  #leastRecentlyUsed(): PartitionHandle | undefined {
    let oldest: PartitionHandle | undefined;
    for (const handle of this.#open)
      if (handle.isClosable && handle.lastUsedMs < (oldest?.lastUsedMs ?? Number.POSITIVE_INFINITY))
        oldest = handle;
    return oldest;
  }

  /** Errors are ignored: the next request opens the store again and then reports why it cannot be used. */
  #closeInBackground(handle: PartitionHandle): void {
    this.#close(handle).catch(() => undefined);
  }
}

interface OpenSearch {
  readonly fingerprint: string;
  readonly indexes: SearchIndexes;
}

function replaced(): DomainError {
  return new DomainError('partitionGone', 'The partition was replaced by others.');
}
