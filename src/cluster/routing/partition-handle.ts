/**
 * What this process knows of one partition, open or not. The handle stays the same object for as long as the process
 * runs, and it alone changes its state: the registry opens and closes through it, the resizer cuts over, the balancer
 * and the checks of writes keep what they know of its size.
 */
import { assert, equalBytes, type Random } from '../../base/index.ts';
import type {
  BodyFinisher,
  Indexing,
  KeySizes,
  Partition,
  StoreFormat,
  Updaters,
} from '../../partition/index.ts';
import type { SearchSpec } from '../../search/index.ts';
import { KeyHeat, PartitionBudget } from '../../throughput/index.ts';
import type { Epk } from '../../value/index.ts';
import { HotMinutes } from '../balance/heat-policy.ts';

export interface PartitionHandleOptions {
  readonly finisher: BodyFinisher;
  /** The format of the container's keys; absent: the first one. */
  readonly format?: StoreFormat | undefined;
  /** The updates that writes may name. */
  readonly updaters?: Updaters | undefined;
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

/** The limits that writes of a partition are checked against while it is near one of them. */
export interface WriteLimits {
  /** Bytes one key may hold. */
  readonly keyMax: number;
  /** Bytes the partition may hold; undefined where it can be split. */
  readonly wholeMax: number | undefined;
  /** Undefined until the keys are counted. */
  readonly sizes: KeySizes | undefined;
}

type OwnLimits = { -readonly [Name in keyof WriteLimits]: WriteLimits[Name] };

export class PartitionHandle {
  readonly storeName: string;
  /** Its rate is set by the offers, whenever a routing map is made. */
  readonly budget: PartitionBudget;
  /** Which keys the charges go to. */
  readonly heat: KeyHeat;
  readonly hotMinutes = new HotMinutes();

  #options: PartitionHandleOptions;
  #partition: Partition | undefined;
  #changing: Promise<unknown> | undefined;
  #lastUsedMs = 0;
  #cutover: Promise<void> | undefined;
  #isGone = false;
  /** Bytes of items from which on the balancer reviews the partition after a write. */
  #reviewAtBytes = 0;
  #onlyKey: Epk | undefined;
  #limits: OwnLimits | undefined;

  constructor(storeName: string, options: PartitionHandleOptions, nowMs: number, random: Random) {
    this.storeName = storeName;
    this.#options = options;
    this.budget = new PartitionBudget(nowMs);
    this.heat = new KeyHeat(random);
  }

  get options(): PartitionHandleOptions {
    return this.#options;
  }

  /** Options may change while the partition is open: a new indexing policy, for example. */
  configure(options: PartitionHandleOptions): void {
    this.#options = options;
    if (this.#partition !== undefined) this.#applyOptions(this.#partition);
  }

  // Open and closed.

  /** Undefined while it is not open. */
  get partition(): Partition | undefined {
    return this.#partition;
  }

  /** Set while the partition is being opened or closed. Who has awaited it looks again: another may have been faster. */
  get changing(): Promise<unknown> | undefined {
    return this.#changing;
  }

  get lastUsedMs(): number {
    return this.#lastUsedMs;
  }

  /** Not while a query reads the partition or an index is built: closing would cut them off. */
  get isClosable(): boolean {
    return this.#partition?.isIdle === true && this.#changing === undefined;
  }

  /** The partition where it can serve a request now, which is the rule; undefined where it has to be opened first. */
  use(nowMs: number): Partition | undefined {
    this.#lastUsedMs = nowMs;
    const partition = this.#partition;
    if (partition === undefined || this.#changing !== undefined || partition.hasFailed)
      return undefined;
    return partition;
  }

  /**
   * Users wait until it is opened and recovered; those who waited find it held for the rest of this turn of the event
   * loop. `recover` does not reject.
   */
  async open(
    opening: Promise<Partition>,
    recover: (partition: Partition) => Promise<void> | undefined = () => undefined,
  ): Promise<Partition> {
    assert(this.#changing === undefined && this.#partition === undefined, 'handle: opened twice');
    this.#changing = opening.catch(() => undefined);
    try {
      const partition = await opening;
      this.#partition = partition;
      setImmediate(partition.hold());
      // The sizes belonged to the partition that was open before: the next write makes the balancer look again.
      this.#limits = undefined;
      this.#reviewAtBytes = 0;
      // The options may have changed while the store was being opened.
      this.#applyOptions(partition);
      const recovery = recover(partition);
      if (recovery !== undefined) {
        this.#changing = recovery;
        await recovery;
      }
      return partition;
    } finally {
      this.#changing = undefined;
    }
  }

  /** The partition is out of reach at once; the next user waits until it is closed. */
  async close(closing: Promise<void>): Promise<void> {
    assert(this.#changing === undefined, 'handle: closed while it changes');
    this.#partition = undefined;
    const closed = closing.finally(() => {
      this.#changing = undefined;
    });
    this.#changing = closed.catch(() => undefined);
    await closed;
  }

  #applyOptions(partition: Partition): void {
    const { indexing, retentionSec, defaultTtlSec } = this.#options;
    partition.changeIndexing(indexing);
    partition.changes.retain(retentionSec);
    partition.changeTtl(defaultTtlSec);
  }

  // Replaced by others.

  /** True once the partition was replaced by others: it is never opened again. */
  get isGone(): boolean {
    return this.#isGone;
  }

  retire(): void {
    this.#isGone = true;
  }

  /** Set while the partition is being replaced: requests that find it fenced wait for this. */
  get cutover(): Promise<void> | undefined {
    return this.#cutover;
  }

  /** Callers wait until the result is called. */
  beginCutover(): () => void {
    assert(this.#cutover === undefined, 'handle: one cut-over at a time');
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#cutover = promise;
    return () => {
      this.#cutover = undefined;
      resolve();
    };
  }

  // Size.

  /** True where the balancer wants to know of a partition of this size. Asked after every write. */
  isReviewDue(itemBytes: number): boolean {
    return itemBytes >= this.#reviewAtBytes;
  }

  reviewAt(itemBytes: number): void {
    this.#reviewAtBytes = itemBytes;
  }

  /** Set where all items were found to have this one key: the partition cannot be split. */
  get onlyKey(): Epk | undefined {
    return this.#onlyKey;
  }

  setOnlyKey(key: Epk | undefined): void {
    this.#onlyKey = key;
  }

  /** Set where the partition is near a limit: its writes are checked. */
  get limits(): WriteLimits | undefined {
    return this.#limits;
  }

  /** From now on writes are checked; limits that are checked already stay. */
  checkWrites(keyMax: number, wholeMax: number | undefined): void {
    this.#limits ??= { keyMax, wholeMax, sizes: undefined };
  }

  /** The kind of the container has changed, and with it perhaps whether the partition can be split. */
  changeWholeMax(wholeMax: number | undefined): void {
    if (this.#limits !== undefined) this.#limits.wholeMax = wholeMax;
  }

  /** The keys were counted for these limits; nothing happens where the partition has others by now. */
  setKeySizes(limits: WriteLimits, sizes: KeySizes): void {
    if (this.#limits === limits) this.#limits.sizes = sizes;
  }

  /** Counting the keys failed: the next write that is due begins again. */
  stopChecking(limits: WriteLimits): void {
    if (this.#limits === limits) this.#limits = undefined;
  }

  /** A checked write of a key. A second key makes the partition one that can be split: it is reviewed. */
  noteWrite(epk: Epk): void {
    const isSecondKey = this.#onlyKey !== undefined && !equalBytes(this.#onlyKey, epk);
    if (isSecondKey) this.#onlyKey = undefined;
    if (isSecondKey || this.#limits?.sizes?.isDue === true) this.#reviewAtBytes = 0;
  }
}
