/** Folds: what is made of all documents of a filter where they are stored, without a stream of rows. */
import type { Row } from './rows.ts';

export interface DocumentFold {
  /** False where no further document can change the result. */
  add(row: Row): boolean;
  /** Adds so many documents that match; absent where the result depends on more than their number. */
  readonly addMatching?: ((count: number) => void) | undefined;
}

/** The number of documents, up to a bound. */
export class CountFold implements DocumentFold {
  count = 0;
  readonly #wanted: number;

  constructor(wanted = Number.POSITIVE_INFINITY) {
    this.#wanted = wanted;
  }

  add(): boolean {
    this.count += 1;
    return this.count < this.#wanted;
  }

  readonly addMatching = (count: number): void => {
    this.count += count;
  };
}
