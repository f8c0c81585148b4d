/**
 * Opens the partitions this process owns when somebody first asks for them, and closes those nobody uses.
 */
import {
  type Clock,
  DomainError,
  type MaybePromise,
  OPEN_PARTITIONS_MAX,
  OPEN_PARTITIONS_SURGE,
  PARTITION_IDLE_MS,
  type Random,
  SlicedWork,
} from '../base/index.ts';
import type { Engine } from '../engine/index.ts';
import {
  type BodyFinisher,
  type Indexing,
  openPartition,
  type Partition,
  type RecordCache,
} from '../partition/index.ts';
import { SearchIndexes, SearchMemory, type SearchSpec } from '../search/index.ts';
import { KeyHeat, PartitionBudget } from '../throughput/index.ts';
import type { Epk } from '../value/index.ts';
import type { HotMinutes } from './heat-policy.ts';
import type { HandleLimits } from './key-limit.ts';

/** Queries under way when their partition is replaced may finish; one that takes longer finds itself cut off. */
const RETIRE_WAIT_MS = 30_000;
const RETIRE_POLL_MS = 20;

/** While all partitions are in use, who wants another looks again so often, and so many times. */
const OPEN_WAIT_MS = 10;
const OPEN_WAITS_MAX = 500;

/** The place of one partition: opened or not, it is the same object for as long as the process runs. */
export interface PartitionHandle {
  readonly storeName: string;
  options: PartitionHandleOptions;
  /** Provisioned by whoever asks for the slot. */
  readonly budget: PartitionBudget;
  /** Which keys its charges go to. */
  readonly heat: KeyHeat;
  readonly hotMinutes: HotMinutes;
  partition: Partition | undefined;
  /** While opening or closing: what the next user has to wait for. */
  changing: Promise<unknown> | undefined;
  lastUsedMs: number;
  /** Set while the partition is being replaced by others: its writers wait for this. */
  cutover: Promise<unknown> | undefined;
  /** Replaced by others: nobody may open it again. */
  isGone: boolean;
  /** Bytes of items at which the balancer wants to hear of the next write. */
  splitAtBytes: number;
  /** Set where all items were found to have this one key: it cannot be split, and its key may reach its limit. */
  onlyKey: Epk | undefined;
  /** Set where the partition is near a limit: its writes are checked. */
  limits: HandleLimits | undefined;
}

interface PartitionHandleOptions {
  readonly finisher: BodyFinisher;
  readonly etagSalt: number;
  readonly ridPrefix: number;
  readonly indexing: Indexing;
  /** Seconds that all versions of items are kept; 0: not at all. */
  readonly retentionSec: number;
  /** Seconds items live that do not say themselves; -1 for ever; undefined: nothing expires. */
  readonly defaultTtlSec: number | undefined;
  /** Vector and text indexes; undefined where the container has none. */
  readonly search: SearchSpec | undefined;
}

interface RegistryOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly cache: RecordCache;
  /** Told of every group of writes that became durable in a store. */
  readonly onPublished?: (storeName: string) => void;
  /** Told of every partition that failed; the next to use it opens it again. */
  readonly onFailure?: ((failure: PartitionFailure) => void) | undefined;
  /** Partitions that are open at once, unless all of them are in use. */
  readonly openPartitionsMax?: number | undefined;
}

export interface PartitionFailure {
  readonly storeName: string;
  readonly error: unknown;
}

export class PartitionRegistry {
  readonly #options: RegistryOptions;
  readonly #handles = new Map<string, PartitionHandle>();
  /** Open, being opened or being closed: what has files open, or will have. */
  #filesCount = 0;
  readonly #open = new Set<PartitionHandle>();
  #sweeper: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #retiring = new Set<Promise<void>>();
  readonly #searchMemory = new SearchMemory();
  readonly #work = new SlicedWork();
  /** Per partition, as long as it is open under the same policy. */
  readonly #searches = new WeakMap<Partition, SearchOf>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** The one slot of a store; options that changed since (a new indexing policy) reach the open partition. */
  handle(storeName: string, options: PartitionHandleOptions): PartitionHandle {
    const known = this.#handles.get(storeName);
    if (known !== undefined) {
      known.options = options;
      known.partition?.changeIndexing(options.indexing);
      known.partition?.changes.retain(options.retentionSec);
      known.partition?.changeTtl(options.defaultTtlSec);
      return known;
    }
    const slot: PartitionHandle = {
      storeName,
      options,
      budget: new PartitionBudget(this.#options.clock.nowMs()),
      heat: new KeyHeat(this.#options.random),
      hotMinutes: { count: 0, nextLookMs: 0 },
      partition: undefined,
      changing: undefined,
      lastUsedMs: 0,
      cutover: undefined,
      isGone: false,
      splitAtBytes: 0,
      onlyKey: undefined,
      limits: undefined,
    };
    this.#handles.set(storeName, slot);
    return slot;
  }

  /** The vector and text indexes of an open partition; undefined where its container has none. */
  search(
    { options: { search: spec } }: PartitionHandle,
    partition: Partition,
  ): SearchIndexes | undefined {
    if (spec === undefined) return undefined;
    const known = this.#searches.get(partition);
    if (known !== undefined && known.fingerprint === spec.fingerprint) return known.indexes;
    known?.indexes.clear();
    const indexes = new SearchIndexes(partition, spec, this.#searchMemory);
    this.#searches.set(partition, { fingerprint: spec.fingerprint, indexes });
    return indexes;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** The open partition of a slot; at once where it is open, which is the rule. */
  partition(slot: PartitionHandle): MaybePromise<Partition> {
    slot.lastUsedMs = this.#options.clock.nowMs();
    const { partition } = slot;
    if (partition !== undefined && slot.changing === undefined && !partition.hasFailed)
      return partition;
    if (slot.isGone)
      throw new DomainError('partitionGone', 'The partition was replaced by others.');
    return this.#opened(slot);
  }

  /** Closes the partitions of these stores and removes their data. */
  async drop(storeNames: readonly string[]): Promise<void> {
    for (const storeName of storeNames) {
      const slot = this.#handles.get(storeName);
      if (slot !== undefined) await this.#close(slot);
      this.#handles.delete(storeName);
      await this.#options.engine.drop(storeName);
    }
  }

  /** Drops a partition that was replaced by others, once nobody reads it any more. */
  retire(slot: PartitionHandle): Promise<void> {
    slot.isGone = true;
    const retiring = this.#dropUnread(slot).finally(() => this.#retiring.delete(retiring));
    this.#retiring.add(retiring);
    return retiring;
  }

  async #dropUnread(slot: PartitionHandle): Promise<void> {
    const deadlineMs = this.#options.clock.nowMs() + RETIRE_WAIT_MS;
    const isWaiting = () => !this.#isClosed && this.#options.clock.nowMs() < deadlineMs;
    while ((slot.partition?.readerCount ?? 0) > 0 && isWaiting())
      await new Promise((resolve) => setTimeout(resolve, RETIRE_POLL_MS));
    await this.drop([slot.storeName]);
  }

  /** Removes the stores of this process that nobody knows: what a crash left of a move or of a deletion. */
  async dropOrphans(isKnown: (storeName: string) => boolean): Promise<void> {
    for (const name of await this.#options.engine.list())
      if (name.includes('/') && !isKnown(name)) await this.#options.engine.drop(name);
  }

  /** Closes everything; idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    await Promise.allSettled(this.#retiring);
    await Promise.all([...this.#handles.values()].map((slot) => this.#close(slot)));
  }

  async #opened(slot: PartitionHandle): Promise<Partition> {
    while (slot.changing !== undefined) await slot.changing;
    if (slot.partition?.hasFailed) await this.#close(slot);
    if (slot.partition !== undefined) return slot.partition;
    if (this.#isClosed) throw new Error('host is closed');
    const opening = this.#openStore(slot);
    slot.changing = opening.catch(() => undefined);
    try {
      slot.partition = await opening;
      this.#open.add(slot);
      // Whoever waits for it comes before those who look for one to close.
      setImmediate(slot.partition.hold());
      // The policy may have changed while the store was being opened.
      slot.partition.changeIndexing(slot.options.indexing);
      // What was known of its size went with the partition that was open before: the next write asks again.
      Object.assign(slot, { limits: undefined, splitAtBytes: 0 });
      slot.partition.changes.retain(slot.options.retentionSec);
      slot.partition.changeTtl(slot.options.defaultTtlSec);
    } finally {
      slot.changing = undefined;
    }
    this.#sweeper ??= setInterval(() => this.#sweep(), PARTITION_IDLE_MS / 2).unref();
    return slot.partition;
  }

  async #openStore(slot: PartitionHandle): Promise<Partition> {
    await this.#takeRoom();
    try {
      return await this.#openPartition(slot);
    } catch (error) {
      this.#filesCount--;
      throw error;
    }
  }

  /** Closes what was not used for longest until one more partition may be opened, and counts that one. */
  async #takeRoom(): Promise<void> {
    const { openPartitionsMax = OPEN_PARTITIONS_MAX } = this.#options;
    for (let waits = 0; this.#filesCount >= openPartitionsMax; ) {
      const oldest = this.#leastRecentlyUsed();
      if (oldest !== undefined) await this.#close(oldest).catch(() => undefined);
      else if (this.#filesCount < openPartitionsMax * OPEN_PARTITIONS_SURGE) break;
      else if (++waits > OPEN_WAITS_MAX)
        throw new DomainError('unavailable', 'Too many partitions are in use at once.');
      else await new Promise((resolve) => setTimeout(resolve, OPEN_WAIT_MS));
    }
    this.#filesCount++;
  }

  async #openPartition(slot: PartitionHandle): Promise<Partition> {
    const { engine, clock, cache, onPublished, onFailure } = this.#options;
    const { storeName } = slot;
    const store = await engine.open(storeName);
    try {
      return await openPartition({
        store,
        clock,
        cache: cache.forPartition(),
        work: this.#work,
        ...(onPublished && { onPublished: () => onPublished(storeName) }),
        ...(onFailure && { onFailure: (error: Error) => onFailure({ storeName, error }) }),
        ...slot.options,
      });
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  async #close(slot: PartitionHandle): Promise<void> {
    while (slot.changing !== undefined) await slot.changing;
    const { partition } = slot;
    if (partition === undefined) return;
    slot.partition = undefined;
    this.#open.delete(slot);
    const search = this.#searches.get(partition);
    if (search !== undefined) this.#searchMemory.forget(search.indexes);
    const closing = partition.close().finally(() => {
      this.#filesCount--;
      slot.changing = undefined;
    });
    slot.changing = closing.catch(() => undefined);
    await closing;
  }

  #sweep(): void {
    const idleSinceMs = this.#options.clock.nowMs() - PARTITION_IDLE_MS;
    for (const slot of this.#open)
      if (slot.lastUsedMs <= idleSinceMs && isClosable(slot)) this.#closeInBackground(slot);
    if (this.#open.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
  }

  #leastRecentlyUsed(): PartitionHandle | undefined {
    let oldest: PartitionHandle | undefined;
    for (const slot of this.#open)
      if (isClosable(slot) && slot.lastUsedMs < (oldest?.lastUsedMs ?? Number.POSITIVE_INFINITY))
        oldest = slot;
    return oldest;
  }

  /** A store that does not close in peace is opened again by its next user, who then learns why. */
  #closeInBackground(slot: PartitionHandle): void {
    this.#close(slot).catch(() => undefined);
  }
}

/** A query that takes its time, or makes an index first, keeps its partition open. */
function isClosable({ partition, changing }: PartitionHandle): boolean {
  return partition?.isIdle === true && changing === undefined;
}

interface SearchOf {
  readonly fingerprint: string;
  readonly indexes: SearchIndexes;
}
