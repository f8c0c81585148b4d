/**
 * Writes entries to the tables: what has a numbered key by its number; of the rest, what is short into the tree of keys
 * and what is long into the heap with a link from there. Knows the ends of both, so that what is new under growing keys is
 * added without a look.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Bytes, compareBytes, equalBytes } from '../../../base/index.ts';
import type { Entry } from '../../engine.ts';
import { integerOfKey, integerOfValue, isIntegerKeyed } from '../../integer-keys.ts';
import { AFTER_ALL_KEYS } from '../read/sqlite-ranges.ts';
import { Rows } from '../read/sqlite-rows.ts';
import {
  addLargeText,
  LAST_KEY,
  LAST_LARGE,
  OVERWRITE_LARGE,
  putByIntegerText,
  putText,
} from '../sqlite-statements.ts';

/** Longer values go to the heap: in the tree of keys they would push the keys apart, and soon spill over anyway. */
const INLINE_BYTES_MAX = 256;

export class Puts {
  /** Number, value. */
  readonly #numbered: Rows;
  /** Key, value, id. */
  readonly #tree: Rows;
  /** Id, value. */
  readonly #heap: Rows;
  readonly #overwriteLarge: StatementSync;
  readonly #lastKey: StatementSync;
  /** By the first byte of a key: one that no key with this first byte is behind. */
  readonly #lastKeys: (Bytes | undefined)[] = new Array(256);
  /** Of the value that was added to the heap last. */
  #lastLarge: number;

  constructor(database: DatabaseSync) {
    this.#numbered = new Rows(database, 2, putByIntegerText);
    this.#tree = new Rows(database, 3, putText);
    this.#heap = new Rows(database, 2, addLargeText);
    this.#overwriteLarge = database.prepare(OVERWRITE_LARGE);
    this.#lastKey = database.prepare(LAST_KEY);
    this.#lastKey.setReturnArrays(true);
    const lastLarge = database.prepare(LAST_LARGE);
    lastLarge.setReturnArrays(true);
    const row: unknown = lastLarge.get();
    const [id] = row as readonly [number | null];
    this.#lastLarge = id ?? 0;
  }

  /** Of several entries with one key the last one counts. */
  write(entries: readonly Entry[]): void {
    // The keys are distinct, so nothing depends on when a row is written.
    for (const { key, value } of inKeyOrder(entries)) this.#put(key, value);
    this.#numbered.flush();
    this.#heap.flush();
    this.#tree.flush();
  }

  /** What an earlier transaction left behind when it failed is not part of this one. */
  clear(): void {
    this.#numbered.clear();
    this.#heap.clear();
    this.#tree.clear();
  }

  #put(key: Bytes, value: Bytes): void {
    if (isIntegerKeyed(key)) this.#numbered.add(integerOfKey(key), value);
    else if (value.length <= INLINE_BYTES_MAX)
      this.#tree.add(key, value, integerOfValue(value) ?? null);
    else if (this.#isBeyondLast(key) || this.#overwriteLarge.run(value, key).changes === 0) {
      this.#heap.add(++this.#lastLarge, value);
      this.#tree.add(key, null, this.#lastLarge);
    }
  }

  /** Whether nothing can be there to overwrite: most large values come under growing keys, and need not look. */
  #isBeyondLast(key: Bytes): boolean {
    const kind = key[0] ?? 0;
    const last = this.#lastKeys[kind] ?? this.#findLast(kind);
    const isBeyond = compareBytes(key, last) > 0;
    // A copy: the key is a piece of a whole commit's buffer.
    this.#lastKeys[kind] = isBeyond ? key.slice() : last;
    return isBeyond;
  }

  #findLast(kind: number): Bytes {
    const start = Uint8Array.of(kind);
    const end = kind === 255 ? AFTER_ALL_KEYS : Uint8Array.of(kind + 1);
    const row: unknown = this.#lastKey.get(start, end);
    const [key] = row as readonly [Bytes | null];
    return key ?? start;
  }
}

/** Neighbours in the tree are written together. Of several puts of a key the last one is left. */
function inKeyOrder(puts: readonly Entry[]): readonly Entry[] {
  if (isAscending(puts)) return puts;
  const sorted = puts.toSorted((a, b) => compareBytes(a.key, b.key));
  return sorted.filter((entry, at) => {
    const next = sorted[at + 1];
    return next === undefined || !equalBytes(entry.key, next.key);
  });
}

function isAscending(puts: readonly Entry[]): boolean {
  for (let at = 1; at < puts.length; at++)
    if (compareBytes((puts[at - 1] as Entry).key, (puts[at] as Entry).key) >= 0) return false;
  return true;
}
