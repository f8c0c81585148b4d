/** Processes projected rows: drops duplicates, sorts, and applies the window. */
import { beginResult, DomainError, QUERY_KEPT_BYTES_MAX, spend } from '../../../../base/index.ts';
import { compareValues, type Value } from '../../../../value/index.ts';
import type { Block, Compiled, Slots } from '../compile/block.ts';
import { type Diagnostic, diagnostics, type Span, SqlError } from '../errors.ts';
import { fuseScores } from './rank.ts';
import { type ValueKey, valueKey } from './value-key.ts';
import { keptSize } from './value-size.ts';

/** Receives a result; returns true when it wants no more. */
export type Sink = (value: Value) => boolean;

interface RowWindow {
  readonly skip: number;
  /** Infinity for all. */
  readonly take: number;
}

/** TOP, OFFSET and LIMIT of a block; throws SqlError where one is not a count. */
export function windowOf(block: Block, row: Slots): RowWindow {
  const top = count(block.top, row, diagnostics.top) ?? Number.POSITIVE_INFINITY;
  const limit = count(block.limit, row, diagnostics.limit) ?? Number.POSITIVE_INFINITY;
  return { skip: count(block.offset, row, diagnostics.offset) ?? 0, take: Math.min(top, limit) };
}

function count(
  value: Compiled | undefined,
  row: Slots,
  diagnosticOf: (span: Span) => Diagnostic,
): number | undefined {
  if (!value) return undefined;
  const number = value(row);
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0)
    throw new SqlError(diagnosticOf({ start: 0, end: 0 }));
  return number;
}

/** The budget of rows and bytes that a query keeps in memory. */
export class RowBudget {
  readonly #rowsMax: number;
  #rows = 0;
  #bytes = 0;

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax;
  }

  /** @param bytes - the approximate size of the row. */
  reserve(bytes: number): void {
    this.#bytes += bytes;
    if (++this.#rows > this.#rowsMax || this.#bytes > QUERY_KEPT_BYTES_MAX)
      throw new DomainError(
        'invalidInput',
        'Query exceeded the number of rows or groups that it may keep in memory; add a filter or a limit.',
      );
  }

  /** Releases rows of average size. */
  release(count: number): void {
    this.#bytes -= (this.#bytes / this.#rows) * count;
    this.#rows -= count;
  }
}

export class Results {
  readonly #sink: Sink;
  readonly #seen: Set<ValueKey> | undefined;
  readonly #budget: RowBudget | undefined;
  readonly #kept: OrderedRows | DistinctOrderedRows | RankedRows | undefined;
  #skip: number;
  #take: number;
  #isFull: boolean;

  constructor(block: Block, window: RowWindow, sink: Sink, rowsMax: number) {
    this.#sink = sink;
    this.#skip = window.skip;
    this.#take = window.take;
    this.#isFull = window.take === 0;
    const isOrdered = block.orderBy.length > 0;
    // The first of duplicate rows is known only when all are sorted.
    this.#seen = block.isDistinct && !isOrdered ? new Set() : undefined;
    if (isOrdered || block.rank || block.isDistinct) this.#budget = new RowBudget(rowsMax);
    if (block.rank) this.#kept = new RankedRows(block.rank);
    else if (isOrdered && block.isDistinct) this.#kept = new DistinctOrderedRows(block);
    else if (isOrdered) this.#kept = new OrderedRows(block, window.skip + window.take);
  }

  /** True when no further row can matter. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Returns isFull. The keys determine the position of an ordered or ranked row. */
  add(value: Value, keys: readonly Value[]): boolean {
    if (this.#isFull) return true;
    if (!this.#kept) return this.#isDuplicate(value) ? false : this.#emit(value);
    this.#budget?.reserve(keptSize(value));
    const dropped = this.#kept.add(value, keys);
    if (dropped > 0) this.#budget?.release(dropped);
    return false;
  }

  /** Emits the rows that had to wait for the last one. */
  finish(): void {
    for (const value of this.#kept?.sorted() ?? []) {
      beginResult();
      if (!this.#isDuplicate(value) && this.#emit(value)) return;
    }
  }

  #isDuplicate(value: Value): boolean {
    if (!this.#seen) return false;
    const key = valueKey(value);
    if (this.#seen.has(key)) return true;
    this.#seen.add(key);
    if (!this.#kept) this.#budget?.reserve(typeof key === 'string' ? 64 + key.length : 64);
    return false;
  }

  #emit(value: Value): boolean {
    if (this.#isFull) return true;
    if (this.#skip > 0) {
      this.#skip--;
      return false;
    }
    this.#take--;
    this.#isFull = this.#sink(value) || this.#take === 0;
    return this.#isFull;
  }
}

interface KeyedRow {
  readonly value: Value;
  readonly keys: readonly Value[];
  /** The order of arrival, for rows with equal keys. */
  readonly number: number;
}

type CompareRows = (a: KeyedRow, b: KeyedRow) => number;

/** Compares rows by their keys; `ties` is the direction for equal keys. */
function rowComparison({ orderBy }: Block, ties: 1 | -1): CompareRows {
  const signs = orderBy.map((order) => (order.isDescending ? -1 : 1));
  return (a, b) => {
    spend(10);
    for (let at = 0; at < signs.length; at++) {
      const difference = compareValues(a.keys[at], b.keys[at]);
      if (difference !== 0) return (signs[at] as number) * difference;
    }
    return ties * (a.number - b.number);
  };
}

/** Fewer spare rows than this are not worth a sort. */
const SPARE_ROWS_MIN = 1000;

/** The first rows in order. Twice as many are kept before the rest is dropped, so that a row costs log(rows) at most. */
class OrderedRows {
  readonly #count: number;
  readonly #compare: CompareRows;
  #rows: KeyedRow[] = [];
  #last: KeyedRow | undefined;
  #number = 0;

  constructor(block: Block, count: number) {
    this.#count = count;
    this.#compare = rowComparison(block, 1);
  }

  /** Returns the number of rows that were dropped. */
  add(value: Value, keys: readonly Value[]): number {
    const row = { value, keys, number: this.#number++ };
    if (this.#last && this.#compare(row, this.#last) > 0) return 1;
    this.#rows.push(row);
    const before = this.#rows.length;
    if (before < Math.max(this.#count * 2, SPARE_ROWS_MIN)) return 0;
    this.#sort();
    this.#rows.length = Math.min(this.#count, before);
    this.#last = this.#rows.at(-1);
    return before - this.#rows.length;
  }

  sorted(): readonly Value[] {
    this.#sort();
    return this.#rows.map((row) => row.value);
  }

  #sort(): void {
    this.#rows.sort(this.#compare);
  }
}

/** Keeps the first of duplicate rows in the order. */
class DistinctOrderedRows {
  readonly #compare: CompareRows;
  readonly #rows = new Map<ValueKey, KeyedRow>();
  #number = 0;

  constructor(block: Block) {
    // Ties follow the order of an index scan: by arrival, backwards where the first key descends.
    this.#compare = rowComparison(block, block.orderBy[0]?.isDescending ? -1 : 1);
  }

  /** Returns one where the row, or the one it replaces, is dropped. */
  add(value: Value, keys: readonly Value[]): number {
    const key = valueKey(value);
    const row = { value, keys, number: this.#number++ };
    const existing = this.#rows.get(key);
    if (existing === undefined || this.#compare(row, existing) < 0) this.#rows.set(key, row);
    return existing === undefined ? 0 : 1;
  }

  sorted(): readonly Value[] {
    return [...this.#rows.values()].sort(this.#compare).map((row) => row.value);
  }
}

/** Keeps all rows, because ranks depend on all of them. */
class RankedRows {
  readonly #rank: NonNullable<Block['rank']>;
  readonly #values: Value[] = [];
  readonly #inputs: (readonly Value[])[] = [];

  constructor(rank: NonNullable<Block['rank']>) {
    this.#rank = rank;
  }

  add(value: Value, inputs: readonly Value[]): number {
    this.#values.push(value);
    this.#inputs.push(inputs);
    return 0;
  }

  sorted(): readonly Value[] {
    const scores = fuseScores(this.#rank, this.#inputs);
    const order = this.#values.map((_, at) => at);
    order.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
    return order.map((at) => this.#values[at]);
  }
}
