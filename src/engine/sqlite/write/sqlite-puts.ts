/**
 * Writes entries to the tables: integer keys to `numbered`; of the others, short values to the tree `kv` and long
 * ones to the heap `large` with a link from the tree. It keeps the last keys of both, so that new large values under
 * growing keys are added without a lookup.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Bytes, compareBytes, equalBytes } from '../../../base/index.ts';
import type { Entry } from '../../engine.ts';
import { integerOfKey, integerOfValue, isIntegerKeyed } from '../../integer-keys.ts';
import { AFTER_ALL_KEYS } from '../read/sqlite-ranges.ts';
import {
  addLargeText,
  LAST_KEY,
  LAST_LARGE,
  OVERWRITE_LARGE,
  putByIntegerText,
  putText,
} from '../sqlite-statements.ts';
import { Rows } from './sqlite-rows.ts';

/** Longer values go to the heap: in the tree they would spread the keys over more pages, and soon overflow anyway. */
const INLINE_BYTES_MAX = 256;

export class Puts {
  /** Rows of integer and value. */
  readonly #integerKeyed: Rows;
  /** Rows of key, value and id. */
  readonly #tree: Rows;
  /** Rows of id and value. */
  readonly #heap: Rows;
  readonly #overwriteLarge: StatementSync;
  readonly #lastKey: StatementSync;
  /** By the first byte of a key: a key that is not before any key with this first byte. */
  readonly #lastKeys: (Bytes | undefined)[] = new Array(256);
  /** The id of the last value in the heap. */
  #lastLarge: number;

  constructor(database: DatabaseSync) {
    this.#integerKeyed = new Rows(database, 2, putByIntegerText);
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

  /** The last of several entries with one key counts. */
  write(entries: readonly Entry[]): void {
    // The keys are distinct, so the order of the rows does not matter.
    for (const { key, value } of inKeyOrder(entries)) this.#put(key, value);
    this.#integerKeyed.flush();
    this.#heap.flush();
    this.#tree.flush();
  }

  /** Drops rows that a failed transaction left. */
  clear(): void {
    this.#integerKeyed.clear();
    this.#heap.clear();
    this.#tree.clear();
  }

  #put(key: Bytes, value: Bytes): void {
    if (isIntegerKeyed(key)) this.#integerKeyed.add(integerOfKey(key), value);
    else if (value.length <= INLINE_BYTES_MAX)
      this.#tree.add(key, value, integerOfValue(value) ?? null);
    else if (this.#isBeyondLast(key) || this.#overwriteLarge.run(value, key).changes === 0) {
      this.#heap.add(++this.#lastLarge, value);
      this.#tree.add(key, null, this.#lastLarge);
    }
  }

  /** Whether there can be nothing to overwrite: most large values have growing keys and need no lookup. */
  #isBeyondLast(key: Bytes): boolean {
    const kind = key[0] ?? 0;
    const last = this.#lastKeys[kind] ?? this.#findLast(kind);
    const isBeyond = compareBytes(key, last) > 0;
    // A copy, because the key is a view of a whole commit's buffer.
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

/**
 * Sorts by key, so that neighbours in the tree are written together. Only the last of several puts of a key remains.
 */
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
