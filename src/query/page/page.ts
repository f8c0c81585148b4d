/** A page of a query: the request for it, and the rows collected for it. */
import { DomainError, EvaluationTooLong, type MaybePromise } from '../../base/index.ts';
import { printedSize } from '../../value/index.ts';
import type { ExecutableQuery, ResultRow } from '../executable-query.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import { ReadItem } from '../found-item.ts';
import type { Interruption } from '../interruption.ts';
import type { ItemReader } from '../reader.ts';
import type { HashRange, Position } from './position.ts';
import type { ResultCache } from './result-cache.ts';

/** A part of the hash space in one partition. */
export interface Target extends HashRange {
  open(): MaybePromise<ItemReader & { release(): void }>;
}

export interface PageRequest {
  readonly query: ExecutableQuery;
  /** The partitions that now hold a part of the hash space, in order. */
  targetsIn(range: HashRange): readonly Target[];
  /** The hash ranges that the query covers, in order, without overlaps. */
  readonly ranges: readonly HashRange[];
  readonly position: Position | undefined;
  readonly rowsMax: number;
  readonly bytesMax: number;
  /** True where a full page always has a position, although the next page may turn out to be empty. */
  readonly endsFullPages?: boolean;
  /** Where results may be kept for their next pages; `owner` names the container and the ranges. */
  readonly cache?: { readonly results: ResultCache; readonly owner: () => string };
  readonly stats: ExecutionStats;
  readonly interruption?: Interruption | undefined;
  /** Set while the page runs in another thread: a query that replaces the first one is moved as well. */
  readonly move?: ((query: ExecutableQuery) => ExecutableQuery) | undefined;
}

export interface ResultPage {
  readonly rows: readonly ResultRow[];
  readonly position: Position | undefined;
}

/** Collects the rows of a page and knows when it is full. */
export class PageRows {
  readonly rows: ResultRow[] = [];
  readonly #request: PageRequest;
  #bytes = 0;
  #printed = 0;

  constructor(request: PageRequest) {
    this.#request = request;
  }

  get isFull(): boolean {
    return this.rows.length >= this.#request.rowsMax || this.#bytes >= this.#request.bytesMax;
  }

  /** Adds a row, printed where the dialect prints values. False where it does not fit: the page ends. */
  add(row: ResultRow): boolean {
    const { item } = row;
    if (item === undefined) {
      const printed = this.printed(row);
      return this.#add(printed, sizeOf(printed, this.#request.bytesMax));
    }
    if (item instanceof ReadItem) item.dropValue();
    return this.#add({ item }, item.body.length);
  }

  #add(row: ResultRow, bytes: number): boolean {
    if (this.#bytes + bytes > this.#request.bytesMax) {
      if (this.rows.length > 0) return false;
      // A page may be one stored item: whoever could write it can read it. What is made from items has a bound.
      if (row.item === undefined) throw rowTooLarge();
    }
    this.rows.push(row);
    this.#bytes += bytes;
    this.#request.stats.rowsOut++;
    this.#request.stats.bytesOut += bytes;
    return true;
  }

  /** True after every 256 KiB of rows: the caller should yield to the event loop. */
  isYieldDue(): boolean {
    if (this.#bytes - this.#printed < YIELD_BYTES) return false;
    this.#printed = this.#bytes;
    return true;
  }

  /** A row that is a value as the page holds it; throws where it is too large. */
  printed({ value, text }: ResultRow): ResultRow {
    if (text !== undefined) return { text };
    const { bytesMax, query } = this.#request;
    if (query.print === undefined) return { value };
    const size = printedSize(value, bytesMax);
    if (size > PRINTED_BYTES_MAX && query.mover !== undefined) throw new EvaluationTooLong(true);
    if (size > bytesMax) throw rowTooLarge();
    return { text: query.print(value) };
  }
}

/** The bytes of a row; counting stops once the limit is exceeded. */
function sizeOf({ value, text }: ResultRow, limit: number): number {
  return text === undefined ? printedSize(value, limit) : Buffer.byteLength(text);
}

/** Bytes of rows between two yields: printing so much takes about a millisecond. */
const YIELD_BYTES = 256 * 1024;

/** Larger rows are printed in another thread: here they would block the event loop for some milliseconds. */
const PRINTED_BYTES_MAX = 512 * 1024;

export function rowTooLarge(): DomainError {
  return new DomainError('tooLarge', 'A row of the query is larger than a response may be.');
}
