/** Different values by the order of a collation: the first of equal ones stays, in their order. */
import type { Bson } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { GROUPS_MAX } from '../../limits.ts';
import type { Collation } from '../../query/collation.ts';

export class CollatedSet {
  readonly #collation: Collation;
  /** Sorted by the collation. */
  readonly #sorted: Bson[] = [];

  constructor(collation: Collation) {
    this.#collation = collation;
  }

  add(value: Bson): void {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = this.#collation.compare(this.#sorted[middle], value);
      if (order === 0) return;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    if (this.#sorted.length >= GROUPS_MAX)
      throw new MongoError('Location17217', 'distinct too big, 16mb cap');
    this.#sorted.splice(low, 0, value);
  }

  values(): readonly Bson[] {
    return this.#sorted;
  }
}
