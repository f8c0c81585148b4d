/**
 * A map by item keys, for keys that are looked up a few times and then dropped: by their hashes, and by their texts for
 * the few keys whose hash another key has.
 */
import type { ItemKey } from '../item/item.ts';

export class KeyMap<T extends { readonly key: ItemKey }> {
  readonly #byHash = new Map<number, T>();
  /** Entries whose hash another key had when they were set. */
  readonly #byText = new Map<string, T>();

  get(key: ItemKey): T | undefined {
    const found = this.#byHash.get(key.hash);
    if (found?.key.equals(key) === true) return found;
    return this.#byText.size === 0 ? undefined : this.#byText.get(key.text);
  }

  /** Replaces the entry of the same key. */
  set(entry: T): void {
    const { key } = entry;
    const other = this.#byHash.get(key.hash);
    const isTaken = other !== undefined && !other.key.equals(key);
    if (isTaken || (this.#byText.size > 0 && this.#byText.has(key.text)))
      this.#byText.set(key.text, entry);
    else this.#byHash.set(key.hash, entry);
  }

  delete(key: ItemKey): void {
    if (this.#byHash.get(key.hash)?.key.equals(key) === true) this.#byHash.delete(key.hash);
    else this.#byText.delete(key.text);
  }

  clear(): void {
    this.#byHash.clear();
    this.#byText.clear();
  }
}
