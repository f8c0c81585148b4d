/** The index of one partition: takes published entries, decides when to flush them, recovers them at opening. */
import { INDEX_MEMTABLE_ENTRIES, keyAfter, type SlicedWork } from '../../base/index.ts';
import type { ReadView, Store } from '../../engine/index.ts';
import type { Value } from '../../value/index.ts';
import type { CommitGroup } from '../commit/commit-group.ts';
import type { Item, Lsn } from '../item/item.ts';
import {
  INDEX_CHECKPOINT_KEY,
  logAfter,
  lsnAndRidOfLogKey,
  PREFIX_LOG,
  recordKey,
  ridBytes,
  ridOfBytes,
} from '../item/keyspace.ts';
import { decodeRecord } from '../item/record.ts';
import type { MemoryBudget } from '../read/memory-budget.ts';
import { IndexMemtable } from './memory/index-memtable.ts';
import type { PostingLists } from './memory/posting-lists.ts';
import type { IndexView } from './read/index-view.ts';
import { writeEntries } from './stored/index-flush.ts';
import { decodeChanges } from './stored/index-log.ts';
import { INDEX_LOG_RANGE, type Indexing, indexLogKey } from './terms/indexing.ts';
import { runOfTermPrefixes } from './terms/wide-terms.ts';

/** The memtable may grow to this many times its bound during a flush, before writes wait. */
const SURGE = 2;

const REFUSED_POLL_MS = 50;

const NOTHING = Promise.resolve();

const LOG_PAGE = { limit: 100, bytesMax: 4 * 1024 * 1024 };

interface PartitionIndexOptions {
  readonly store: Store;
  /** Entries kept in memory before a flush. */
  readonly memtableEntries?: number | undefined;
  /** LSN of the last write, and number of the last entry of the index log, when the partition is opened. */
  readonly lsn: Lsn;
  readonly logNumber: number;
  readonly memory: MemoryBudget;
  readonly work: SlicedWork;
  readonly onFailure: (error: Error) => void;
}

export class PartitionIndex {
  readonly #store: Store;
  readonly #memtableEntries: number;
  readonly #onFailure: (error: Error) => void;
  readonly #memtable: IndexMemtable;
  readonly #work: SlicedWork;
  #flushing: Promise<void> | undefined;
  /** Number of the last index log entry whose changes are in memory. */
  #logNumber: number;
  /** LSN of the last write whose entries are in memory. */
  #lsn: Lsn;
  #isStopped = false;
  /** Callers of `pauseFlushes` that have not ended. */
  #pauses = 0;

  constructor(options: PartitionIndexOptions) {
    this.#store = options.store;
    this.#memtable = new IndexMemtable(options.memory);
    this.#memtableEntries = options.memtableEntries ?? INDEX_MEMTABLE_ENTRIES;
    this.#onFailure = options.onFailure;
    this.#work = options.work;
    this.#lsn = options.lsn;
    this.#logNumber = options.logNumber;
  }

  /** Restores the entries that were not flushed when the partition was last open. */
  async recover(indexing: Indexing): Promise<void> {
    for (let start = INDEX_LOG_RANGE.start, more = true; more; ) {
      const page = await this.#store.scan({ ...INDEX_LOG_RANGE, start }, LOG_PAGE);
      for (const { key, value } of page.entries) {
        this.#memtable.apply(decodeChanges(value));
        this.#memtable.sortIfLarge();
        start = keyAfter(key);
        await yieldToEventLoop();
      }
      more = page.more;
    }
    if (!indexing.options.isOff) await this.#recoverWrites(indexing);
  }

  /** Derives entries from the items written since the index checkpoint. Adding an entry twice is harmless. */
  async #recoverWrites(indexing: Indexing): Promise<void> {
    const checkpoint = await this.#store.get(INDEX_CHECKPOINT_KEY);
    let range = logAfter(PREFIX_LOG, checkpoint === undefined ? 0 : ridOfBytes(checkpoint));
    for (let more = true; more; ) {
      const page = await this.#store.scan(range, LOG_PAGE);
      const written = page.entries.map(({ key }) => lsnAndRidOfLogKey(key));
      const records = await this.#store.getMany(written.map(({ rid }) => recordKey(rid)));
      for (const record of records)
        if (record !== undefined) await this.#recoverItem(indexing, decodeRecord(record, 0));
      const last = page.entries.at(-1);
      if (last !== undefined) range = { start: keyAfter(last.key), end: range.end };
      more = page.more;
    }
  }

  async #recoverItem(indexing: Indexing, item: Item): Promise<void> {
    if (item.isInternal) return;
    if (!indexing.isAhead(item.body)) {
      this.#add(indexing, item);
      this.#memtable.sortIfLarge();
      return;
    }
    const { termPrefixes } = await this.#work.run(indexing.findAhead(item.body, item.rid));
    this.#memtable.add(runOfTermPrefixes(termPrefixes, item.rid, true));
  }

  /** Adds the entries of a durable group to every later view. */
  publish(group: CommitGroup): void {
    if (group.clearsIndex) this.#memtable.clear();
    for (const { removed, runs, added } of group.wideChanges) {
      this.#memtable.apply({ added: [], removed });
      for (const run of runs) this.#memtable.add(run);
      this.#memtable.apply({ added, removed: [] });
    }
    this.#memtable.apply(group.indexChanges);
    for (const change of group.indexedWhole) {
      const { after, terms } = change;
      if (after === undefined || group.indexing === undefined) continue;
      if (terms === undefined)
        this.#add(group.indexing, after, group.valueAfter(change), change.before === undefined);
      else this.#memtable.postings.add(terms, after.rid);
    }
    this.#logNumber = group.indexLogNumber;
    this.#lsn = Math.max(this.#lsn, group.lsn);
    this.#flushIfFull();
  }

  /** The posting lists for new entries; see `Terms`. */
  get postings(): PostingLists {
    return this.#memtable.postings;
  }

  #add(indexing: Indexing, item: Item, value?: Value, isNew = false): void {
    const { postings } = this.#memtable;
    if (value === undefined && indexing.noteText(item, postings, isNew)) return;
    postings.add(indexing.find(item, value, postings, isNew), item.rid);
  }

  /** A view of all present entries, to be read together with a snapshot of the store. */
  view(store: ReadView): IndexView {
    return this.#memtable.view(store);
  }

  /** Prevents flushes until a new policy has cleared the index. */
  hold(): void {
    this.#memtable.hold();
  }

  /** Writers wait for this promise where a flush is too slow, so that memory and recovery are bounded. */
  get backpressure(): Promise<void> | undefined {
    return this.#memtable.size < SURGE * this.#memtableEntries ? undefined : this.#flushing;
  }

  /** Prevents flushes except `flushAll` and `finish`. */
  stop(): void {
    this.#isStopped = true;
  }

  resume(): void {
    this.#isStopped = false;
  }

  /** The same until the returned function is called. */
  pauseFlushes(): () => void {
    this.#pauses++;
    return () => {
      this.#pauses--;
      this.#flushIfFull();
    };
  }

  /** Flushes all entries in memory. */
  async flushAll(): Promise<void> {
    // One that ends may begin the next.
    while (this.#flushing !== undefined) await this.#flushing;
    if (this.#memtable.size > 0) await this.#flush();
  }

  /**
   * Before the store is closed. While the store refuses writes nothing is flushed: the entries are made again from the
   * logs, as after a crash.
   * @param flushes - whether all entries in memory are flushed.
   */
  async finish(flushes: boolean): Promise<void> {
    const isRefused = () => this.#store.writeRefusal !== undefined;
    let isDone = false;
    const finishing = flushes && !isRefused() ? this.flushAll() : (this.#flushing ?? NOTHING);
    const finished = finishing.then(() => {
      isDone = true;
    });
    if (this.#store.answerWithinMs === undefined) return finished;
    while (!isDone && !isRefused())
      await Promise.race([finished, new Promise((done) => setTimeout(done, REFUSED_POLL_MS))]);
    if (!isDone) this.#memtable.abandonFlush();
  }

  /** Releases the memory of cached lists; no more views are taken. */
  end(): void {
    this.#memtable.end();
  }

  #flushIfFull(): void {
    const { size, isFlushing } = this.#memtable;
    if (size < this.#memtableEntries || isFlushing) return;
    if (this.#isStopped || this.#pauses > 0) return;
    this.#flushing = this.#flush().then(() => {
      this.#flushing = undefined;
      this.#flushIfFull();
    });
  }

  async #flush(): Promise<void> {
    const lsn = this.#lsn;
    const end = indexLogKey(this.#logNumber + 1);
    try {
      const flush = this.#memtable.beginFlush();
      if (flush === undefined || !(await writeEntries(this.#store, flush))) return;
      await this.#store.commit({
        deleteRanges: [{ start: INDEX_LOG_RANGE.start, end }],
        puts: [{ key: INDEX_CHECKPOINT_KEY, value: ridBytes(lsn) }],
      });
      this.#memtable.endFlush(flush);
    } catch (error) {
      this.#onFailure(error as Error);
    }
  }
}

function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
