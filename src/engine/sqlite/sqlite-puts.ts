/**
 * Writes entries to the two tables: what is short into the tree of keys, what is long into the heap with a link from
 * there. Knows the ends of both, so that what is new under growing keys is added without a look.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Bytes, compareBytes, equalBytes } from '../../base/index.ts';
import type { Entry } from '../engine.ts';
import { AFTER_ALL_KEYS } from './sqlite-scan.ts';
import { ADD_LARGE, LAST_KEY, LAST_LARGE, OVERWRITE_LARGE, putText } from './sqlite-statements.ts';

/** Longer values go to the heap: in the tree of keys they would push the keys apart, and soon spill over anyway. */
const INLINE_BYTES_MAX = 256;
/** Below this the order of the keys cannot save as much as sorting costs. */
const SORT_FROM = 32;
/** Rows of one statement. Saves most of the price of a call; but see `putText`. */
const ROWS_PER_STATEMENT = 16;
const PARAMETERS_PER_ROW = 3;
/** From here on enough of the rows share a page for that to pay. */
const MANY_ROWS_FROM = 256;

type Parameter = Bytes | number | null;
type PutRow = (key: Bytes, value: Bytes | null, large: number | null) => void;

export class Puts {
  readonly #putOne: StatementSync;
  readonly #putRows: StatementSync;
  readonly #overwriteLarge: StatementSync;
  readonly #addLarge: StatementSync;
  readonly #lastKey: StatementSync;
  /** By the first byte of a key: one that no key with this first byte is behind. */
  readonly #lastKeys: (Bytes | undefined)[] = new Array(256);
  /** Of the value that was added to the heap last. */
  #lastLarge: number;
  /** Of the statement of many rows that is being filled. */
  readonly #rows: Parameter[] = [];

  constructor(database: DatabaseSync) {
    this.#putOne = database.prepare(putText(1));
    this.#putRows = database.prepare(putText(ROWS_PER_STATEMENT));
    this.#overwriteLarge = database.prepare(OVERWRITE_LARGE);
    this.#addLarge = database.prepare(ADD_LARGE);
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
    const ordered = entries.length < SORT_FROM ? entries : inKeyOrder(entries);
    if (entries.length < MANY_ROWS_FROM) {
      for (const { key, value } of ordered) this.#put(key, value, this.#writeRow);
      return;
    }
    this.#rows.length = 0;
    for (const { key, value } of ordered) this.#put(key, value, this.#gatherRow);
    const rows = this.#rows;
    for (let at = 0; at < rows.length; at += PARAMETERS_PER_ROW)
      this.#putOne.run(...rows.slice(at, at + PARAMETERS_PER_ROW));
  }

  #put(key: Bytes, value: Bytes, put: PutRow): void {
    if (value.length <= INLINE_BYTES_MAX) put(key, value, null);
    else if (this.#isBeyondLast(key) || this.#overwriteLarge.run(value, key).changes === 0) {
      this.#addLarge.run(++this.#lastLarge, value);
      put(key, null, this.#lastLarge);
    }
  }

  readonly #writeRow: PutRow = (key, value, large) => {
    this.#putOne.run(key, value, large);
  };

  /** Waits until a statement of many rows is full; the keys are distinct, so nothing depends on it. */
  readonly #gatherRow: PutRow = (key, value, large) => {
    const rows = this.#rows;
    rows.push(key, value, large);
    if (rows.length < ROWS_PER_STATEMENT * PARAMETERS_PER_ROW) return;
    this.#putRows.run(...rows);
    rows.length = 0;
  };

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
