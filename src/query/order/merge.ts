/** Merges the sorted rows of many partitions into one sorted stream. */
import { isPromise, type MaybePromise } from '../../base/index.ts';
import type { Batches } from '../candidates/candidates.ts';
import type { OrderedRow } from './ordered-rows.ts';
import type { ComparePlaces } from './row-order.ts';

export class MergedRows {
  readonly #cursors: readonly Cursor[];
  readonly #compare: ComparePlaces;
  /** The cursor whose row was returned last. */
  #last: Cursor | undefined;
  #isBegun = false;

  constructor(sources: readonly Batches<OrderedRow>[], compare: ComparePlaces) {
    this.#cursors = sources.map((source) => new Cursor(source));
    this.#compare = compare;
  }

  /** Undefined at the end. */
  next(): MaybePromise<OrderedRow | undefined> {
    const moved = this.#isBegun ? this.#last?.advance() : this.#begin();
    return moved === undefined ? this.#first() : moved.then(() => this.#first());
  }

  /** Starts all sources in parallel, because each may have to wait for I/O. */
  #begin(): Promise<unknown> | undefined {
    this.#isBegun = true;
    const waits = this.#cursors
      .map((cursor) => cursor.advance())
      .filter((wait) => wait !== undefined);
    return waits.length === 0 ? undefined : Promise.all(waits);
  }

  #first(): OrderedRow | undefined {
    let first: Cursor | undefined;
    for (const cursor of this.#cursors) {
      if (cursor.row === undefined) continue;
      if (first?.row === undefined || this.#compare(cursor.row, first.row) < 0) first = cursor;
    }
    this.#last = first;
    return first?.row;
  }
}

/** One source with its next row. */
class Cursor {
  row: OrderedRow | undefined;
  #batch: readonly OrderedRow[] = [];
  #at = -1;
  readonly #source: Batches<OrderedRow>;

  constructor(source: Batches<OrderedRow>) {
    this.#source = source;
  }

  /** Moves to the next row, without a promise while the batch lasts. */
  advance(): Promise<void> | undefined {
    this.row = this.#batch[++this.#at];
    return this.row === undefined ? this.#refill() : undefined;
  }

  #refill(): Promise<void> | undefined {
    for (;;) {
      const found = this.#source.next();
      if (isPromise(found))
        return found.then((batch) => (this.#isTaken(batch) ? undefined : this.#refill()));
      if (this.#isTaken(found)) return undefined;
    }
  }

  /** False where the batch is empty and another may follow. */
  #isTaken(batch: readonly OrderedRow[] | undefined): boolean {
    if (batch === undefined) return true;
    this.#batch = batch;
    this.#at = 0;
    this.row = batch[0];
    return this.row !== undefined;
  }
}
