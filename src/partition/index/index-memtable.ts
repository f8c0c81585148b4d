/**
 * Index entries not yet written to their place.
 *
 * Entries of one item fall all over the index: written as they come, each costs a page of the disk. So they are kept
 * here, and when there are many they are written to the store in order, neighbours together. After a crash they come
 * back from the items themselves and from a log of what the items cannot tell (index-log.ts).
 *
 * What comes in is only collected (postings.ts); it is sorted when somebody looks (index-run.ts), and runs of similar
 * size are merged, as in a log-structured merge tree.
 */
import type { ReadView } from '../../engine/index.ts';
import type { MemoryBudget } from '../read/memory-budget.ts';
import type { IndexChanges } from './index-log.ts';
import { type IndexRun, mergeRuns, runOf } from './index-run.ts';
import { IndexView } from './index-view.ts';
import { ridOfEntry } from './indexing.ts';
import { termPrefixOfBlock } from './posting-block.ts';
import { PostingLists } from './posting-lists.ts';
import { StoredLists } from './stored-lists.ts';

/** A part of the memory on its way to the store. */
export interface Flush {
  /** Older first. */
  readonly runs: readonly IndexRun[];
  isAbandoned: boolean;
}

/** A run is merged with the one before it unless that is so many times larger: few runs, each entry merged rarely. */
const RUN_RATIO = 3;
/** Longer runs are not merged: requests would wait for it. */
const MERGED_SIZE_MAX = 20_000;

export class IndexMemtable {
  #active = new PostingLists();
  /** Older first; sorted once somebody looks. */
  #layers: (IndexRun | PostingLists)[] = [];
  #layersSize = 0;
  #flush: Flush | undefined;
  /** What is known of the lists in the store since something was last written there. */
  #lists: StoredLists;
  /** Policies that have yet to clear the index. */
  #holds = 0;
  readonly #memory: MemoryBudget;

  constructor(room: MemoryBudget) {
    this.#memory = room;
    this.#lists = new StoredLists(room);
  }

  get size(): number {
    return this.#active.size + this.#layersSize;
  }

  get isFlushing(): boolean {
    return this.#flush !== undefined;
  }

  /** Where new entries go. Not to be kept: a view of the index takes it away. */
  get postings(): PostingLists {
    return this.#active;
  }

  apply({ added, removed }: IndexChanges): void {
    for (const entry of removed)
      this.#active.change(termPrefixOfBlock(entry), ridOfEntry(entry), false);
    for (const entry of added)
      this.#active.change(termPrefixOfBlock(entry), ridOfEntry(entry), true);
  }

  /** As `apply`, of changes that are sorted already. */
  add(run: IndexRun): void {
    if (run.size === 0) return;
    this.#retire();
    this.#layers.push(run);
    this.#layersSize += run.size;
  }

  /** Sorts what came in, where it is much: the next to look need not. */
  settle(): void {
    if (this.#active.size >= SETTLED_SIZE) this.#toRun();
  }

  /** The policy that held the index is in force: everything older is void. */
  clear(): void {
    this.#active = new PostingLists();
    this.#layers = [];
    this.#layersSize = 0;
    this.#flush = undefined;
    this.#forgetLists();
    this.#holds--;
  }

  /** Sets aside what is here to be written; undefined where it may not be, or an earlier part is on its way. */
  beginFlush(): Flush | undefined {
    if (this.#flush !== undefined || this.#holds > 0) return undefined;
    this.#flush = { runs: this.#toRun(), isAbandoned: false };
    this.#layers = [];
    this.#layersSize = 0;
    return this.#flush;
  }

  /** What was set aside is in the store. */
  endFlush(flush: Flush): void {
    if (this.#flush !== flush) return;
    this.#flush = undefined;
    this.#forgetLists();
  }

  /** A new policy is about to clear the index: until then nothing of the old one may be written any more. */
  hold(): void {
    this.#holds++;
    if (this.#flush !== undefined) this.#flush.isAbandoned = true;
  }

  /** A view of this moment, to be read together with a snapshot of the store. */
  view(store: ReadView): IndexView {
    const runs = [...(this.#flush?.runs ?? []), ...this.#toRun()];
    return new IndexView(store, runs, this.isFlushing ? undefined : this.#lists);
  }

  /** Nobody will look any more. */
  end(): void {
    this.#lists.rids.end();
  }

  #forgetLists(): void {
    this.#lists.rids.end();
    this.#lists = new StoredLists(this.#memory);
  }

  /** What came in becomes a layer of its own. */
  #retire(): void {
    if (this.#active.size === 0) return;
    this.#layers.push(this.#active);
    this.#layersSize += this.#active.size;
    this.#active = new PostingLists();
  }

  /** All there is as runs. */
  #toRun(): readonly IndexRun[] {
    const isSealed =
      this.#active.size === 0 && !this.#layers.some((one) => one instanceof PostingLists);
    if (isSealed) return this.#layers as readonly IndexRun[];
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

/** From so many changes on they are sorted ahead of time, after a crash. */
const SETTLED_SIZE = 4096;
