/** A look at the entries of one term, to learn how many there are: further with every step. */
import { type Bytes, concatBytes, isPromise } from '../base/index.ts';
import type { KeyRange } from '../engine/index.ts';
import type { TermCondition } from './condition/condition.ts';
import type { ValueRange } from './condition/value-ranges.ts';
import type { ExecutionStats } from './execution-stats.ts';
import type { IndexEntries, ItemReader } from './reader.ts';
import { yieldToEventLoop } from './yield.ts';

/** Entries looked at to learn how many a range has: a few, more, and as many as are worth it. */
export const PROBE_ENTRIES = 2000;
export const PROBE_STEPS: readonly number[] = [16, 200, PROBE_ENTRIES];
/** A range costs as much as this many entries, found or not. Only the last step goes through all, however many. */
const RANGE_ENTRIES = 8;
const BYTES_MAX = 1024 * 1024;
/** Rids of one value cost a tenth of its entries, and asking for them as much as this many. */
const RIDS_PER_ENTRY = 10;
const RIDS_MIN = 1000;
/** Those in memory cost next to nothing: as many as are kept of one value. */
const KNOWN_RIDS_MAX = 2 ** 16;

export class Probe {
  readonly part: TermCondition;
  /** What the entries of one value begin with, where rids are to be had at once. */
  readonly #stem: Bytes | undefined;
  #found: ArrayLike<number> | undefined;
  readonly #rids = new Set<number>();
  readonly #reader: ItemReader;
  readonly #work: ExecutionStats;
  readonly #terms: Bytes;
  #next = 0;
  #rest: KeyRange | undefined;
  #looked = 0;

  /** Of a term that an index serves. */
  constructor(reader: ItemReader, part: TermCondition, work: ExecutionStats) {
    this.#reader = reader;
    this.#work = work;
    this.part = part;
    this.#terms = reader.termsOf(part.path) as Bytes;
    const [range] = part.ranges;
    if (reader.ridsOf !== undefined && part.ranges.length === 1 && range?.isPoint === true)
      this.#stem = concatBytes(this.#terms, range.start);
  }

  /** True where one look tells all there is, or that it is too much. */
  get isOneLook(): boolean {
    return this.#stem !== undefined;
  }

  get isWhole(): boolean {
    if (this.#stem !== undefined) return this.#found !== undefined;
    return this.#rest === undefined && this.#next >= this.part.ranges.length;
  }

  /** Ascending. */
  rids(): ArrayLike<number> {
    return this.#found ?? [...this.#rids].sort((a, b) => a - b);
  }

  /** Reads until there are more than `limit`, or all; undefined where that was at once. */
  read(limit: number): Promise<void> | undefined {
    if (this.#stem !== undefined) return this.#readRids(this.#stem, limit);
    while (!this.isWhole && !this.#isBeyond(limit)) {
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

  #readRids(stem: Bytes, limit: number): Promise<void> | undefined {
    const note = (rids: ArrayLike<number> | undefined): void => {
      this.#found = rids;
      const entries = Math.ceil((rids?.length ?? 0) / RIDS_PER_ENTRY);
      this.#work.indexEntries += Math.min(entries, PROBE_ENTRIES);
    };
    const rids = Math.max(RIDS_MIN, limit * RIDS_PER_ENTRY);
    const found = this.#reader.ridsOf?.(stem, rids, KNOWN_RIDS_MAX);
    if (isPromise(found)) return found.then(note);
    note(found);
    return undefined;
  }

  #isBeyond(limit: number): boolean {
    return this.#rids.size > limit || (limit < PROBE_ENTRIES && this.#looked > limit);
  }

  #nextRange(): KeyRange {
    const { start, end } = this.part.ranges[this.#next++] as ValueRange;
    this.#looked += RANGE_ENTRIES;
    return { start: concatBytes(this.#terms, start), end: concatBytes(this.#terms, end) };
  }

  #take({ entries, rest }: IndexEntries): void {
    this.#work.indexEntries += entries.length;
    this.#looked += entries.length;
    for (const entry of entries) this.#rids.add(this.#reader.ridOf(entry));
    this.#rest = rest;
  }
}
