/**
 * Keeps the index of a partition under its policy. A new policy clears the index and builds it again in the background,
 * while reads and writes go on: the builder scans the records in rid order and indexes each as the committer then has
 * it. Its position is stored with the entries, so that a build continues after a crash. Queries do not use the index
 * until it is complete.
 */
import { DomainError } from '../../base/index.ts';
import type { Committer } from '../commit/committer.ts';
import type { WriteCommand } from '../commit/write-command.ts';
import { type ItemKey, RID_COUNTER_BITS } from '../item/item.ts';
import { itemKeyOf } from '../item/keyspace.ts';
import type { StoredItems } from '../read/stored-items.ts';
import type { PartitionState } from '../state.ts';
import type { IndexState } from './index-state.ts';
import type { Indexing } from './indexing.ts';
import type { PartitionIndex } from './partition-index.ts';

/** Items of one step; few, so that writers hardly wait. */
const STEP_ITEMS = 100;
const STEP_BYTES = 1024 * 1024;

interface IndexBuilderOptions {
  readonly indexing: Indexing;
  readonly state: PartitionState;
  readonly index: PartitionIndex;
  readonly stored: StoredItems;
  readonly committer: Committer;
  /** Writes with the backpressure of the index. */
  readonly commit: (command: WriteCommand) => Promise<unknown>;
  readonly isFenced: () => boolean;
  /** Called when the index could not be built. */
  readonly onFailure: (error: Error) => void;
}

export class IndexBuilder {
  readonly #options: IndexBuilderOptions;
  #indexing: Indexing;
  #state: IndexState;
  /** Counts builds, so that a step of an older one is recognized. */
  #buildNumber = 0;

  constructor(options: IndexBuilderOptions) {
    this.#options = options;
    this.#indexing = options.indexing;
    this.#state = { fingerprint: options.indexing.fingerprint, builtTo: 'all' };
  }

  get indexing(): Indexing {
    return this.#indexing;
  }

  /** False while the index is being built, or where the policy has none. */
  get isReady(): boolean {
    return this.#state.builtTo === 'all' && !this.#indexing.options.isOff;
  }

  /** Share of the items that are indexed under the present policy, 0 to 100. */
  progressPercent(): number {
    const { builtTo } = this.#state;
    if (builtTo === 'all') return 100;
    const counter = builtTo % 2 ** RID_COUNTER_BITS;
    return Math.min(99, Math.floor((100 * counter) / Math.max(1, this.#options.state.ridCounter)));
  }

  /** Builds the index again where the policy differs from the present one. */
  change(indexing: Indexing): void {
    if (indexing.fingerprint === this.#indexing.fingerprint) return;
    this.#indexing = indexing;
    this.#begin();
  }

  /** Continues a build that was left when the partition was last open, or begins one where the policy has changed. */
  async resume(stored: IndexState | undefined): Promise<void> {
    const { index, state, committer } = this.#options;
    const isSame = stored?.fingerprint === this.#indexing.fingerprint;
    if (isSame) await index.recover(this.#indexing);
    if (stored === undefined && state.itemCount === 0) {
      committer.noteIndexState(this.#state);
    } else if (stored === undefined || !isSame) {
      this.#begin();
    } else if (stored.builtTo !== 'all') {
      this.#state = stored;
      this.#build();
    }
  }

  #begin(): void {
    const { index, state, committer } = this.#options;
    const { fingerprint, options } = this.#indexing;
    const isDone = options.isOff || state.itemCount === 0;
    this.#state = { fingerprint, builtTo: isDone ? 'all' : 0 };
    this.#buildNumber++;
    index.hold();
    committer.startIndexing(this.#indexing, this.#state);
    if (!isDone) this.#build();
  }

  #build(): void {
    const { committer, isFenced, onFailure } = this.#options;
    const number = ++this.#buildNumber;
    const isCurrent = () => number === this.#buildNumber && !isFenced() && !committer.failure;
    // A build that fails continues when the partition is opened again; until then queries scan the items.
    this.#run(isCurrent).catch((error: Error) => {
      if (isCurrent()) onFailure(error);
    });
  }

  /** @param isCurrent - false once there is a newer policy, or the partition takes no more writes. */
  async #run(isCurrent: () => boolean): Promise<void> {
    const { stored, commit } = this.#options;
    let state = this.#state;
    while (state.builtTo !== 'all' && isCurrent()) {
      const page = await stored.scanByRid(
        {
          after: state.builtTo === 0 ? undefined : state.builtTo.toString(36),
          limit: STEP_ITEMS,
          bytesMax: STEP_BYTES,
        },
        undefined,
      );
      const last = page.items.at(-1);
      const builtTo = page.next === undefined || last === undefined ? 'all' : last.rid;
      state = { fingerprint: state.fingerprint, builtTo };
      const keys = page.items.map(({ primary }) => itemKeyOf(primary));
      await commit(reindexCommand(keys, state, isCurrent));
      if (isCurrent()) this.#state = state;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Indexes items as they are at the decision, and stores how far the build is. */
function reindexCommand(
  keys: readonly ItemKey[],
  indexState: IndexState,
  isCurrent: () => boolean,
): WriteCommand {
  return {
    keys,
    decide: () => {
      if (!isCurrent()) throw new DomainError('unavailable', 'Another indexing policy came.');
      return keys.map((key) => ({ kind: 'reindex', key }));
    },
    indexState,
    includesInvisible: true,
  };
}
