/**
 * The writing side of scattered keys, within the transactions of a writer: gathers what groups do to them, a row of the table
 * `scattered` per group, and moves it to the tree later, in the order of the keys.
 *
 * When enough is gathered it is frozen and moved in steps that ride along with the groups that follow, until
 * the frozen rows can be deleted. What holds at the end of every transaction:
 *
 * - Rows have ids without gaps and are deleted from the first on, so the last one, once there is one, stays.
 * - What the rows say of a key is true, of several the last one; the tree is right about keys of which they say nothing.
 * - Nothing but this class writes scattered keys to the tree while there are rows with entries. Batches that do other things
 *   with them than put short values or delete them find everything settled.
 *
 * So a step may be repeated, and after a crash everything is taken from the rows again, as if nothing had been frozen.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Bytes } from '../../base/index.ts';
import type { Batch, Entry } from '../engine.ts';
import { isScattered, touchesScattered } from '../scattered.ts';
import { inKeyOrder } from './sqlite-gathered-order.ts';
import {
  GATHERED_VALUE_BYTES_MAX,
  type GatheredEntry,
  packRow,
  type Turn,
  visitEntries,
} from './sqlite-gathered-row.ts';
import { prepareForArrays } from './sqlite-gets.ts';
import type { Puts } from './sqlite-puts.ts';
import {
  ADD_GATHERED_ROW,
  DELETE,
  DELETE_GATHERED_ROWS,
  GATHERED_ROWS,
} from './sqlite-statements.ts';

/**
 * Entries are frozen from this many on. The more there are, the more of them share a page of the tree; each takes some 300
 * bytes of memory in the readers.
 */
export const GATHERED_MAX_DEFAULT = 16_384;
/** Or from so many bytes on, where keys are long. */
const GATHERED_BYTES_MAX = 2 * 1024 * 1024;
/** They are moved with so many groups at most: what one of them waits for is about a millisecond. */
const STEPS_MAX = 256;
/** And so many for each that is gathered meanwhile, so that all are in the tree before the next are enough. */
const STEP_PER_GATHERED = 2;

/** What rows there are. */
interface Rows {
  /** 0 before the first. */
  lastId: number;
  /** Of those that are not frozen. */
  entryCount: number;
  bytes: number;
}

/** Entries on their way to the tree. */
interface Settling {
  /** Id of the last row they come from. */
  readonly through: number;
  /** Those that are not there yet, in order. */
  readonly rest: Iterator<GatheredEntry, void>;
}

export class Gatherer {
  readonly #max: number;
  readonly #puts: Puts;
  readonly #readRows: StatementSync;
  readonly #addRow: StatementSync;
  readonly #deleteRows: StatementSync;
  readonly #delete: StatementSync;
  /** Of the transaction under way. */
  #pending: GatheredEntry[] = [];
  /** Also of the transaction under way; undefined: to be found out. */
  #rows: Rows | undefined;
  #settling: Settling | undefined;

  constructor(database: DatabaseSync, puts: Puts, max: number) {
    this.#max = max;
    this.#puts = puts;
    this.#readRows = prepareForArrays(database, GATHERED_ROWS);
    this.#addRow = database.prepare(ADD_GATHERED_ROW);
    this.#deleteRows = database.prepare(DELETE_GATHERED_ROWS);
    this.#delete = database.prepare(DELETE);
  }

  /** Puts or deletes (null) a scattered key in the transaction under way. */
  add(key: Bytes, value: Bytes | null): void {
    this.#pending.push({ key, value });
  }

  /** Everything is in the tree afterwards; whoever reads forgets what was gathered. */
  settleAll(): void {
    if (this.#pending.length > 0) this.#writeRow('none');
    const { lastId, entryCount } = this.#known();
    if (entryCount === 0 && this.#settling === undefined) return;
    this.#move(this.#inOrder(), Number.POSITIVE_INFINITY);
    this.#deleteRows.run(lastId);
    this.#settling = undefined;
    this.#rows = { lastId, entryCount: 0, bytes: 0 };
    this.#writeRow('cleared');
  }

  /** The last thing to do in a transaction. */
  finish(): void {
    if (this.#pending.length === 0 && this.#settling === undefined) return;
    const turn = this.#turn();
    if (turn !== 'none' || this.#pending.length > 0) this.#writeRow(turn);
  }

  /** A transaction failed, and it may not be known how. */
  forget(): void {
    this.#pending = [];
    this.#settling = undefined;
    this.#rows = undefined;
  }

  /** Moves a step, or freezes what is enough. */
  #turn(): Turn {
    const { lastId, entryCount, bytes } = this.#known();
    const isFull = entryCount >= this.#max || bytes >= GATHERED_BYTES_MAX;
    if (this.#settling !== undefined) return this.#moveStep(this.#settling, isFull);
    if (!isFull) return 'none';
    this.#settling = { through: lastId, rest: this.#inOrder() };
    this.#rows = { lastId, entryCount: 0, bytes: 0 };
    return 'frozen';
  }

  #moveStep({ through, rest }: Settling, toTheEnd: boolean): Turn {
    const least = Math.ceil(this.#max / STEPS_MAX);
    const step = Math.max(least, STEP_PER_GATHERED * this.#pending.length);
    if (this.#move(rest, toTheEnd ? Number.POSITIVE_INFINITY : step) === 'some') return 'none';
    this.#deleteRows.run(through);
    this.#settling = undefined;
    return 'settled';
  }

  /** To the tree, so many at most. */
  #move(entries: Iterator<GatheredEntry, void>, most: number): 'all' | 'some' {
    const puts: Entry[] = [];
    let next = entries.next();
    for (let count = 1; next.done !== true; count++) {
      const { key, value } = next.value;
      if (value === null) this.#delete.run(key);
      else puts.push({ key, value });
      if (count === most) break;
      next = entries.next();
    }
    this.#puts.write(puts);
    return next.done === true ? 'all' : 'some';
  }

  #writeRow(turn: Turn): void {
    const rows = this.#known();
    const row = packRow(turn, this.#pending);
    this.#addRow.run(++rows.lastId, row);
    rows.entryCount += this.#pending.length;
    rows.bytes += row.length;
    this.#pending = [];
  }

  /** As if nothing were frozen, where it has to be found out. */
  #known(): Rows {
    if (this.#rows !== undefined) return this.#rows;
    const rows: Rows = { lastId: 0, entryCount: 0, bytes: 0 };
    for (const [id, row] of this.#read()) {
      rows.lastId = id;
      rows.bytes += row.length;
      visitEntries(row, () => {
        rows.entryCount++;
      });
    }
    this.#rows = rows;
    return rows;
  }

  /** What all rows say that there are now. */
  #inOrder(): Iterator<GatheredEntry, void> {
    return inKeyOrder(this.#read().map(([, row]) => row));
  }

  #read(): readonly (readonly [id: number, row: Bytes])[] {
    const rows: unknown = this.#readRows.all(0);
    return rows as readonly (readonly [number, Bytes])[];
  }
}

/** Whether scattered keys are nothing but put with short values and deleted in a batch. */
export function canGather({ expects, deleteRanges, puts, appends }: Required<Batch>): boolean {
  return !(
    expects.some(({ key }) => isScattered(key)) ||
    deleteRanges.some(touchesScattered) ||
    puts.some(({ key, value }) => isScattered(key) && value.length > GATHERED_VALUE_BYTES_MAX) ||
    appends.some(({ key }) => isScattered(key))
  );
}
