/** A probe reads the first index entries of one term to learn how many there are, more with every step. */
import { assert, type Bytes, concatBytes, isPromise } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import type { TermCondition } from '../condition/condition.ts';
import type { ValueRange } from '../condition/value-ranges.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { IndexEntries, ItemReader } from '../reader.ts';
import { yieldToEventLoop } from '../yield.ts';

/** Entries read in each step: a few, more, and the most that is worth it. */
export const PROBE_ENTRIES = 2000;
export const PROBE_STEPS: readonly number[] = [16, 200, PROBE_ENTRIES];
/** A range costs as much as this many entries, even where it is empty. Only the last step reads all ranges. */
const RANGE_ENTRIES = 8;
const BYTES_MAX = 1024 * 1024;
/** The rids of one value cost a tenth of its entries, and a read costs as much as this many rids. */
const RIDS_PER_ENTRY = 10;
const RIDS_MIN = 1000;
/** Cached rids cost almost nothing, so the limit is what the cache keeps of one value. */
const CACHED_RIDS_MAX = 2 ** 16;

export class Probe {
  readonly part: TermCondition;
  /** Set where the term is one value and the reader has its rids without entries. */
  readonly #termPrefix: Bytes | undefined;
  #found: ArrayLike<number> | undefined;
  readonly #rids = new Set<number>();
  readonly #reader: ItemReader;
  readonly #stats: ExecutionStats;
  readonly #terms: Bytes;
  #next = 0;
  #rest: KeyRange | undefined;
  /** In entries. */
  #cost = 0;

  /** @param part - a term that an index serves. */
  constructor(reader: ItemReader, part: TermCondition, stats: ExecutionStats) {
    this.#reader = reader;
    this.#stats = stats;
    this.part = part;
    const terms = reader.termsOf(part.path);
    assert(terms !== undefined, 'only an indexed path is probed');
    this.#terms = terms;
    const [range] = part.ranges;
    if (reader.ridsOf !== undefined && part.ranges.length === 1 && range?.isPoint === true)
      this.#termPrefix = concatBytes(this.#terms, range.start);
  }

  /** True where one read finds all rids or shows that there are too many. */
  get isOneRead(): boolean {
    return this.#termPrefix !== undefined;
  }

  /** True where all entries were read. */
  get isWhole(): boolean {
    if (this.#termPrefix !== undefined) return this.#found !== undefined;
    return this.#rest === undefined && this.#next >= this.part.ranges.length;
  }

  /** Ascending. */
  rids(): ArrayLike<number> {
    return this.#found ?? [...this.#rids].sort((a, b) => a - b);
  }

  /** Reads until there are more than `limit` or all are read; undefined where nothing had to be waited for. */
  read(limit: number): Promise<void> | undefined {
    if (this.#termPrefix !== undefined) return this.#readRids(this.#termPrefix, limit);
    while (!this.isWhole && !this.#exceeds(limit)) {
      const range = this.#rest ?? this.#nextRange();
      const found = this.#reader.scanIndex(range, {
        limit: limit + 1 - this.#rids.size,
        bytesMax: BYTES_MAX,
      });
      if (isPromise(found))
        return found.then((page) => {
          this.#take(page);
          return this.read(limit);
        });
      this.#take(found);
      const rest = this.isWhole ? undefined : yieldToEventLoop();
      if (rest !== undefined) return rest.then(() => this.read(limit));
    }
    return undefined;
  }

  #readRids(termPrefix: Bytes, limit: number): Promise<void> | undefined {
    const note = (rids: ArrayLike<number> | undefined): void => {
      this.#found = rids;
      const entries = Math.ceil((rids?.length ?? 0) / RIDS_PER_ENTRY);
      this.#stats.indexEntries += Math.min(entries, PROBE_ENTRIES);
    };
    const rids = Math.max(RIDS_MIN, limit * RIDS_PER_ENTRY);
    const found = this.#reader.ridsOf?.(termPrefix, rids, CACHED_RIDS_MAX);
    if (isPromise(found)) return found.then(note);
    note(found);
    return undefined;
  }

  #exceeds(limit: number): boolean {
    return this.#rids.size > limit || (limit < PROBE_ENTRIES && this.#cost > limit);
  }

  #nextRange(): KeyRange {
    const { start, end } = this.part.ranges[this.#next++] as ValueRange;
    this.#cost += RANGE_ENTRIES;
    return { start: concatBytes(this.#terms, start), end: concatBytes(this.#terms, end) };
  }

  #take({ entries, rest }: IndexEntries): void {
    this.#stats.indexEntries += entries.length;
    this.#cost += entries.length;
    for (const entry of entries) this.#rids.add(this.#reader.ridOf(entry));
    this.#rest = rest;
  }
}
