/** A page of a query: what it is asked of, and what is gathered for it. */

import { type Bytes, bytesToText, type MaybePromise } from '../base/index.ts';
import type { Value } from '../value/index.ts';
import type { KeptResults } from './kept-results.ts';
import type { HashRange, Position } from './position.ts';
import type { Program } from './program.ts';
import type { ItemReader } from './reader.ts';
import type { Work } from './work.ts';

/** A part of the hash space in one partition. */
export interface Target extends HashRange {
  open(): MaybePromise<ItemReader & { release(): void }>;
}

export interface PageRequest {
  readonly program: Program;
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
  readonly kept?: { readonly results: KeptResults; readonly owner: () => string };
  readonly work: Work;
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

  constructor(request: PageRequest) {
    this.#request = request;
  }

  get isFull(): boolean {
    return this.rows.length >= this.#request.rowsMax || this.#bytes >= this.#request.bytesMax;
  }

  /** A row that is the whole item goes out as it is stored. */
  add(value: Value, document: Value, body: Bytes | undefined): void {
    this.addText(
      value === document && body !== undefined ? bytesToText(body) : JSON.stringify(value),
    );
  }

  addText(text: string): void {
    this.rows.push(text);
    this.#bytes += text.length;
    this.#request.work.rowsOut++;
    this.#request.work.bytesOut += text.length;
  }
}
