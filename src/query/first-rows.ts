/**
 * The first of many rows in an order. Some more than are wanted are kept before the rest is dropped, so that a row costs
 * no more than log(wanted) comparisons, and memory and the longest sort follow what is wanted, not what there is.
 */
export class FirstRows<Row> {
  readonly #wanted: number;
  readonly #compare: (a: Row, b: Row) => number;
  #rows: Row[] = [];
  /** The last of those wanted; what comes behind it is of no use. */
  #last: Row | undefined;

  constructor(wanted: number, compare: (a: Row, b: Row) => number) {
    this.#wanted = wanted;
    this.#compare = compare;
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
    this.#last = this.#rows.at(-1);
  }

  /** In order, as many as are wanted at most. */
  sorted(): readonly Row[] {
    this.#sort();
    return this.#rows;
  }

  #sort(): void {
    this.#rows.sort(this.#compare);
    if (this.#rows.length > this.#wanted) this.#rows.length = this.#wanted;
  }
}

/** Fewer are not worth a sort. */
const ROWS_MIN = 1000;
