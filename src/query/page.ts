/** A page of a query: what it is asked of, and what is gathered for it. */

import {
  type Bytes,
  bytesToText,
  DomainError,
  EvaluationTooLong,
  type MaybePromise,
} from '../base/index.ts';
import { printedSize, type Value } from '../value/index.ts';
import type { ExecutableQuery, Row } from './executable-query.ts';
import type { ExecutionStats } from './execution-stats.ts';
import type { HashRange, Position } from './position.ts';
import type { ItemReader } from './reader.ts';
import type { ResultCache } from './result-cache.ts';

/** A part of the hash space in one partition. */
export interface Target extends HashRange {
  open(): MaybePromise<ItemReader & { release(): void }>;
}

export interface PageRequest {
  readonly query: ExecutableQuery;
  /** The partitions that now hold a part of the hash space, in order. */
  targetsIn(range: HashRange): readonly Target[];
  /** What the query covers, in order, without overlaps. */
  readonly ranges: readonly HashRange[];
  readonly position: Position | undefined;
  readonly rowsMax: number;
  readonly bytesMax: number;
  /** True: a full page has a position behind it, and whether more follows is for the next one to find out. */
  readonly endsFullPages?: boolean;
  /** Where results may be kept for their next pages, and what they are asked of. */
  readonly cache?: { readonly results: ResultCache; readonly owner: () => string };
  readonly stats: ExecutionStats;
  /** Set while the page is run again elsewhere: programs that come up on the way move as well. */
  readonly move?: ((program: ExecutableQuery) => ExecutableQuery) | undefined;
}

export interface ResultPage {
  /** Each row as JSON text. */
  readonly rows: readonly string[];
  readonly position: Position | undefined;
}

/** Gathers the rows of a page and knows when it is full. */
export class PageRows {
  readonly rows: string[] = [];
  readonly #request: PageRequest;
  #bytes = 0;
  #printed = 0;

  constructor(request: PageRequest) {
    this.#request = request;
  }

  get isFull(): boolean {
    return this.rows.length >= this.#request.rowsMax || this.#bytes >= this.#request.bytesMax;
  }

  /** A row that is the whole item goes out as it is stored. False where it does not fit: the page ends before it. */
  add({ value, text, isItem }: Row, document: Value, body: Bytes | undefined): boolean {
    if (text !== undefined) return this.addText(text);
    const isStored = isItem === true || value === document;
    return this.addText(isStored && body !== undefined ? bytesToText(body) : this.print(value));
  }

  addText(text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > this.#request.bytesMax) {
      if (this.rows.length === 0) throw rowTooLarge();
      return false;
    }
    this.rows.push(text);
    this.#bytes += bytes;
    this.#request.stats.rowsOut++;
    this.#request.stats.bytesOut += bytes;
    return true;
  }

  /** True after some more large rows: who adds them should give way. */
  isPauseDue(): boolean {
    if (this.#bytes - this.#printed < PAUSE_BYTES) return false;
    this.#printed = this.#bytes;
    return true;
  }

  /** The JSON text of a row, if it can be one. */
  print(value: Value): string {
    const { bytesMax, query } = this.#request;
    const size = printedSize(value, bytesMax);
    if (size > PRINTED_BYTES_MAX && query.mover !== undefined) throw new EvaluationTooLong(true);
    if (size > bytesMax) throw rowTooLarge();
    return JSON.stringify(value);
  }
}

/** Printing so much takes about a millisecond. */
const PAUSE_BYTES = 256 * 1024;

/** Larger rows take more than some milliseconds to print, in which nobody is served. */
const PRINTED_BYTES_MAX = 512 * 1024;

export function rowTooLarge(): DomainError {
  return new DomainError('tooLarge', 'A row of the query is larger than a response may be.');
}
