/** Maps and sets by BSON value. */
import type { Bson } from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { GROUPS_MAX } from '../limits.ts';
import { CollatedKeys, type CompareValues } from './collated-keys.ts';
import { keyText } from './key-text.ts';

/** Texts that are equal for values that a collation calls equal. */
export function keyTexts(compare: CompareValues | undefined): (value: Bson) => string {
  const collated = CollatedKeys.of(compare);
  return collated === undefined ? keyText : (value) => keyText(collated.keyOf(value));
}

/** Bytes of all keys: a group keeps its own. */
const KEY_BYTES_MAX = 100 * 1024 * 1024;

export class BsonMap<T> {
  readonly #entries = new Map<string, { readonly key: Bson; readonly value: T }>();
  readonly #textOf: (value: Bson) => string;
  #bytes = 0;

  /** @param compare - the order of a collation whose equal texts are one key. */
  constructor(compare?: CompareValues) {
    this.#textOf = keyTexts(compare);
  }

  get(key: Bson): T | undefined {
    return this.#entries.get(this.#textOf(key))?.value;
  }

  set(key: Bson, value: T): void {
    const text = this.#textOf(key);
    this.#bytes += 2 * text.length;
    if (this.#entries.size >= GROUPS_MAX || this.#bytes > KEY_BYTES_MAX)
      throw new MongoError(
        'QueryExceededMemoryLimitNoDiskUseAllowed',
        'Exceeded memory limit for $group, but did not opt in to external sorting.',
      );
    this.#entries.set(text, { key, value });
  }

  entries(): Iterable<{ readonly key: Bson; readonly value: T }> {
    return this.#entries.values();
  }
}

export class BsonSet {
  readonly #values = new Map<string, Bson>();
  readonly #textOf: (value: Bson) => string;

  /** @param compare - the order of a collation whose equal texts are one value. */
  constructor(compare?: CompareValues) {
    this.#textOf = keyTexts(compare);
  }

  /** True where the value is new. */
  add(value: Bson): boolean {
    const text = this.#textOf(value);
    if (this.#values.has(text)) return false;
    this.#values.set(text, value);
    return true;
  }

  has(value: Bson): boolean {
    return this.#values.has(this.#textOf(value));
  }

  get size(): number {
    return this.#values.size;
  }

  values(): Bson[] {
    return [...this.#values.values()];
  }
}
