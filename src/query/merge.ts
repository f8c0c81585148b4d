/** Sorted rows of many partitions as one sorted stream. */
import type { OrderedRow } from './ordered.ts';
import type { ComparePlaces } from './row-order.ts';

export async function* mergeOrdered(
  sources: readonly AsyncGenerator<readonly OrderedRow[]>[],
  compare: ComparePlaces,
): AsyncGenerator<OrderedRow> {
  const cursors = sources.map((source) => new Cursor(source));
  try {
    await Promise.all(cursors.map((cursor) => cursor.advance()));
    for (;;) {
      let first: Cursor | undefined;
      for (const cursor of cursors) {
        if (cursor.row === undefined) continue;
        if (first?.row === undefined || compare(cursor.row, first.row) < 0) first = cursor;
      }
      if (first?.row === undefined) return;
      yield first.row;
      await first.advance();
    }
  } finally {
    await Promise.all(sources.map((source) => source.return(undefined)));
  }
}

/** One source with its first row not yet taken. */
class Cursor {
  row: OrderedRow | undefined;
  #batch: readonly OrderedRow[] = [];
  #at = -1;
  readonly #source: AsyncGenerator<readonly OrderedRow[]>;

  constructor(source: AsyncGenerator<readonly OrderedRow[]>) {
    this.#source = source;
  }

  /** Without a promise while the batch lasts. */
  advance(): Promise<void> | undefined {
    this.row = this.#batch[++this.#at];
    return this.row === undefined ? this.#refill() : undefined;
  }

  async #refill(): Promise<void> {
    for (;;) {
      const next = await this.#source.next();
      if (next.done) return;
      this.#batch = next.value;
      this.#at = 0;
      this.row = this.#batch[0];
      if (this.row !== undefined) return;
    }
  }
}
