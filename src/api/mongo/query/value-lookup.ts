/** Values that a test looks up instead of comparing with each, so that long lists of `$in` and `$all` stay fast. */
import { type Bson, isArray, isDocument } from '../../../value/index.ts';
import { keyText } from '../aggregate/key-text.ts';

export class ValueLookup {
  readonly #keys = new Set<string>();
  /** Keys of documents and arrays are long: they are made only where some are looked for. */
  #hasNested = false;

  get size(): number {
    return this.#keys.size;
  }

  add(value: Bson): void {
    this.#hasNested ||= isNested(value);
    this.#keys.add(keyText(value));
  }

  /** The key of a value that was added; undefined for another one. */
  keyOf(value: Bson | undefined): string | undefined {
    if (value === undefined || this.size === 0) return undefined;
    if (isNested(value) && !this.#hasNested) return undefined;
    const key = keyText(value);
    return this.#keys.has(key) ? key : undefined;
  }
}

function isNested(value: Bson): boolean {
  return isDocument(value) || isArray(value);
}
