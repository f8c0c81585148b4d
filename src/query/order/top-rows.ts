/**
 * The first of many rows in an order. Up to twice the rows wanted are kept before the rest is dropped, so that a row
 * costs about log(wanted) comparisons, and memory and the longest sort depend on what is wanted, not on what there is.
 */
import { assert } from '../../base/index.ts';

export class TopRows<Row> {
  readonly #wanted: number;
  readonly #compare: (a: Row, b: Row) => number;
  readonly #isRepeated: ((row: Row, before: Row) => boolean) | undefined;
  #rows: Row[] = [];
  /** The last row wanted so far; rows behind it are dropped. */
  #last: Row | undefined;

  /** @param isRepeated - drops a row that repeats the row before it. */
  constructor(
    wanted: number,
    compare: (a: Row, b: Row) => number,
    isRepeated?: (row: Row, before: Row) => boolean,
  ) {
    assert(wanted > 0, 'at least one row is wanted');
    this.#wanted = wanted;
    this.#compare = compare;
    this.#isRepeated = isRepeated;
  }

  /** Rows kept at present. */
  get size(): number {
    return this.#rows.length;
  }

  add(row: Row): void {
    if (this.#last !== undefined && this.#compare(row, this.#last) > 0) return;
    this.#rows.push(row);
    if (this.#rows.length < Math.max(2 * this.#wanted, ROWS_MIN)) return;
    this.#sort();
    // Fewer rows than wanted are left where many repeat each other: then any row may still be one of the first.
    if (this.#rows.length === this.#wanted) this.#last = this.#rows.at(-1);
  }

  /** The first rows, in order, as many as are wanted at most. */
  sorted(): readonly Row[] {
    this.#sort();
    return this.#rows;
  }

  #sort(): void {
    this.#rows.sort(this.#compare);
    const isRepeated = this.#isRepeated;
    if (isRepeated !== undefined)
      this.#rows = this.#rows.filter(
        (row, at, rows) => at === 0 || !isRepeated(row, rows[at - 1] as Row),
      );
    if (this.#rows.length > this.#wanted) this.#rows.length = this.#wanted;
  }
}

/** Rows collected before a sort at least: fewer are not worth one. */
const ROWS_MIN = 1000;
