/**
 * Values by the equality of a collation: every text gives way to the first one that was equal to it, at every depth.
 * Sort keys of ICU would do the same; the runtime has none.
 */
import { type Bson, BsonSymbol, compareBson, isArray, isDocument } from '../../../value/index.ts';

export type CompareValues = (a: Bson | undefined, b: Bson | undefined) => number;

export class CollatedKeys {
  readonly #compare: CompareValues;
  readonly #known = new Map<string, string>();
  /** The first texts of their kind, in the order of the collation. */
  readonly #sorted: string[] = [];

  private constructor(compare: CompareValues) {
    this.#compare = compare;
  }

  /** Undefined for the simple order: there only the same texts are equal. */
  static of(compare: CompareValues | undefined): CollatedKeys | undefined {
    return compare === undefined || compare === compareBson ? undefined : new CollatedKeys(compare);
  }

  /** The same for all values that the collation calls equal. */
  keyOf(value: Bson): Bson {
    if (typeof value === 'string') return this.#first(value);
    if (value instanceof BsonSymbol) return this.#first(value.text);
    if (isArray(value)) return value.map((part) => this.keyOf(part));
    if (!isDocument(value)) return value;
    return new Map([...value].map(([name, part]) => [name, this.keyOf(part)]));
  }

  #first(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = this.#sorted[middle] as string;
      const order = this.#compare(found, text);
      if (order === 0) {
        this.#known.set(text, found);
        return found;
      }
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    this.#sorted.splice(low, 0, text);
    this.#known.set(text, text);
    return text;
  }
}
