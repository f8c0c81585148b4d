/**
 * Index entries that are not flushed yet.
 *
 * The entries of one item are spread over the whole index: written one by one, each would cost a page of the disk. So
 * they are kept here, and when there are many they are written to the store in order. After a crash they are made again
 * from the items and from the index log (index-log.ts).
 *
 * New entries are only collected (posting-lists.ts). They are sorted when a view is taken (index-run.ts), and runs of
 * similar size are merged, as in a log-structured merge tree.
 */
import type { ReadView } from '../../../engine/index.ts';
import type { MemoryBudget } from '../../read/memory-budget.ts';
import { IndexView } from '../read/index-view.ts';
import { StoredLists } from '../read/stored-lists.ts';
import type { IndexChanges } from '../stored/index-log.ts';
import { termPrefixOfEntry } from '../stored/posting-block.ts';
import { ridOfEntry } from '../terms/indexing.ts';
import { type IndexRun, mergeRuns, runOf } from './index-run.ts';
import { PostingLists } from './posting-lists.ts';

/** Runs that are being written to the store. */
export interface Flush {
  /** Older first. */
  readonly runs: readonly IndexRun[];
  isAbandoned: boolean;
}

/** A run is merged with the one before it unless that is this many times larger: few runs, few merges per entry. */
const RUN_RATIO = 3;
/** Larger runs are not merged, because requests would wait. */
const MERGED_SIZE_MAX = 20_000;

export class IndexMemtable {
  #active = new PostingLists();
  /** Older first; sorted when a view is taken. */
  #layers: (IndexRun | PostingLists)[] = [];
  #layersSize = 0;
  #flush: Flush | undefined;
  /** Posting lists of the store, cached since the last flush. */
  #lists: StoredLists;
  /** Number of new policies that have not cleared the index yet. */
  #holds = 0;
  readonly #memory: MemoryBudget;

  constructor(memory: MemoryBudget) {
    this.#memory = memory;
    this.#lists = new StoredLists(memory);
  }

  get size(): number {
    return this.#active.size + this.#layersSize;
  }

  get isFlushing(): boolean {
    return this.#flush !== undefined;
  }

  /** The posting lists for new entries. Not to be kept by callers: the next view replaces them. */
  get postings(): PostingLists {
    return this.#active;
  }

  apply({ added, removed }: IndexChanges): void {
    for (const entry of removed)
      this.#active.change(termPrefixOfEntry(entry), ridOfEntry(entry), false);
    for (const entry of added)
      this.#active.change(termPrefixOfEntry(entry), ridOfEntry(entry), true);
  }

  /** Same as `apply`, for changes that are sorted already. */
  add(run: IndexRun): void {
    if (run.size === 0) return;
    this.#retire();
    this.#layers.push(run);
    this.#layersSize += run.size;
  }

  /** Sorts new entries where there are many, so that the next view need not. */
  sortIfLarge(): void {
    if (this.#active.size >= SORT_SIZE_MIN) this.#toRuns();
  }

  /** A new policy has taken effect: all older entries are dropped. */
  clear(): void {
    this.#active = new PostingLists();
    this.#layers = [];
    this.#layersSize = 0;
    this.#flush = undefined;
    this.#dropCachedLists();
    this.#holds--;
  }

  /** Takes all entries to be written; undefined while another flush runs or the index is held. */
  beginFlush(): Flush | undefined {
    if (this.#flush !== undefined || this.#holds > 0) return undefined;
    this.#flush = { runs: this.#toRuns(), isAbandoned: false };
    this.#layers = [];
    this.#layersSize = 0;
    return this.#flush;
  }

  /** The entries of the flush are in the store. */
  endFlush(flush: Flush): void {
    if (this.#flush !== flush) return;
    this.#flush = undefined;
    this.#dropCachedLists();
  }

  /** Prevents flushes until `clear`, because entries of the old policy must not be written any more. */
  hold(): void {
    this.#holds++;
    this.abandonFlush();
  }

  /** A flush that runs ends before its next step. */
  abandonFlush(): void {
    if (this.#flush !== undefined) this.#flush.isAbandoned = true;
  }

  /**
   * A view of all present entries, to be read together with a snapshot of the store. During a flush it does not use the
   * cached lists: they would show later entries to the views from before the flush.
   */
  view(store: ReadView): IndexView {
    const runs = [...(this.#flush?.runs ?? []), ...this.#toRuns()];
    return new IndexView(store, runs, this.isFlushing ? undefined : this.#lists);
  }

  /** Releases the memory of the cached lists; no more views are taken. */
  end(): void {
    this.#lists.rids.end();
  }

  #dropCachedLists(): void {
    this.#lists.rids.end();
    this.#lists = new StoredLists(this.#memory);
  }

  /** Makes the collected entries a layer of their own. */
  #retire(): void {
    if (this.#active.size === 0) return;
    this.#layers.push(this.#active);
    this.#layersSize += this.#active.size;
    this.#active = new PostingLists();
  }

  /** All entries as runs. */
  #toRuns(): readonly IndexRun[] {
    const isSorted =
      this.#active.size === 0 && !this.#layers.some((one) => one instanceof PostingLists);
    if (isSorted) return this.#layers as readonly IndexRun[];
    this.#retire();
    const runs: IndexRun[] = [];
    for (const layer of this.#layers)
      pushMerged(runs, layer instanceof PostingLists ? runOf(layer) : layer);
    this.#layers = runs;
    this.#layersSize = runs.reduce((sum, { size }) => sum + size, 0);
    return runs;
  }
}

function pushMerged(runs: IndexRun[], newest: IndexRun): void {
  let run = newest;
  for (let last = runs.at(-1); last !== undefined; last = runs.at(-1)) {
    if (last.size > RUN_RATIO * run.size || last.size + run.size > MERGED_SIZE_MAX) break;
    run = mergeRuns(last, run);
    runs.pop();
  }
  if (run.size > 0) runs.push(run);
}

/** Changes from which on `sortIfLarge` sorts them. */
const SORT_SIZE_MIN = 4096;
