/** Buffers rows for a table and writes many of them with one statement, because a call costs as much as a row. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Bytes } from '../../../base/index.ts';

export type Parameter = Bytes | number | null;

/** Rows per statement, largest first. The last one is 1, so that every number of rows can be written. */
const ROWS = [16, 4, 1] as const;

export class Rows {
  readonly #width: number;
  readonly #statements: readonly StatementSync[];
  #parameters: Parameter[] = [];

  /** @param text - the statement for so many rows, each of `width` parameters. */
  constructor(database: DatabaseSync, width: number, text: (rows: number) => string) {
    this.#width = width;
    this.#statements = ROWS.map((rows) => database.prepare(text(rows)));
  }

  /** Adds one row. It is written now or at the next `flush`. */
  add(...row: readonly Parameter[]): void {
    const parameters = this.#parameters;
    for (const parameter of row) parameters.push(parameter);
    if (parameters.length < ROWS[0] * this.#width) return;
    this.#statements[0]?.run(...parameters);
    parameters.length = 0;
  }

  flush(): void {
    const parameters = this.#parameters;
    let at = 0;
    for (const [size, rows] of ROWS.entries()) {
      const width = rows * this.#width;
      for (; parameters.length - at >= width; at += width)
        this.#statements[size]?.run(...parameters.slice(at, at + width));
    }
    parameters.length = 0;
  }

  clear(): void {
    this.#parameters.length = 0;
  }
}
