/** Sets and maps whose members and keys are compared as the language compares values. */
import { valueKey } from './equality.ts';
import type { GremlinValue } from './value.ts';

/** Keeps the order of insertion. */
export class GremlinSet {
  readonly #members = new Map<string, GremlinValue>();

  constructor(values: Iterable<GremlinValue> = []) {
    for (const value of values) this.add(value);
  }

  get size(): number {
    return this.#members.size;
  }

  /** False where an equal value is a member already. */
  add(value: GremlinValue): boolean {
    const key = valueKey(value);
    if (this.#members.has(key)) return false;
    this.#members.set(key, value);
    return true;
  }

  has(value: GremlinValue): boolean {
    return this.#members.has(valueKey(value));
  }

  [Symbol.iterator](): IterableIterator<GremlinValue> {
    return this.#members.values();
  }
}

/** Keeps the order of insertion. */
export class GremlinMap {
  readonly #entries = new Map<string, [GremlinValue, GremlinValue]>();

  constructor(entries: Iterable<readonly [GremlinValue, GremlinValue]> = []) {
    for (const [key, value] of entries) this.set(key, value);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: GremlinValue): GremlinValue | undefined {
    return this.#entries.get(valueKey(key))?.[1];
  }

  set(key: GremlinValue, value: GremlinValue): void {
    const entry = this.#entries.get(valueKey(key));
    if (entry === undefined) this.#entries.set(valueKey(key), [key, value]);
    else entry[1] = value;
  }

  keys(): GremlinValue[] {
    return [...this.#entries.values()].map(([key]) => key);
  }

  values(): GremlinValue[] {
    return [...this.#entries.values()].map(([, value]) => value);
  }

  [Symbol.iterator](): IterableIterator<readonly [GremlinValue, GremlinValue]> {
    return this.#entries.values();
  }
}

/** One entry of a map, as unfold() makes them. */
export class MapEntry extends GremlinMap {
  readonly key: GremlinValue;

  constructor(key: GremlinValue, value: GremlinValue) {
    super([[key, value]]);
    this.key = key;
  }

  get value(): GremlinValue {
    return this.values()[0] as GremlinValue;
  }
}
