/**
 * The first of many rows in an order. Some more than are wanted are kept before the rest is dropped, so that a row costs
 * no more than log(wanted) comparisons, and memory and the longest sort follow what is wanted, not what there is.
 */
export class TopRows<Row> {
  readonly #wanted: number;
  readonly #compare: (a: Row, b: Row) => number;
  readonly #isRepeated: ((row: Row, before: Row) => boolean) | undefined;
  #rows: Row[] = [];
  /** The last of those wanted; what comes behind it is of no use. */
  #last: Row | undefined;

  /** Rows that say no more than the one before them are dropped, where there are such. */
  constructor(
    wanted: number,
    compare: (a: Row, b: Row) => number,
    isRepeated?: (row: Row, before: Row) => boolean,
  ) {
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
    // Fewer than wanted are left where many repeat each other: then any row may still be one of the first.
    if (this.#rows.length === this.#wanted) this.#last = this.#rows.at(-1);
  }

  /** In order, as many as are wanted at most. */
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

/** Fewer are not worth a sort. */
const ROWS_MIN = 1000;
