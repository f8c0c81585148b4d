/** The rows of ranges of an index, in its order. */
import {
  andThen,
  type Bytes,
  bytesToLatin1,
  compareBytes,
  concatBytes,
  DomainError,
  type MaybePromise,
  prefixEnd,
  QUERY_ROWS_MAX,
} from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import { type Batches, counted } from '../candidates/candidates.ts';
import { narrowed } from '../condition/narrow.ts';
import { equalTo } from '../condition/value-ranges.ts';
import { yieldToEventLoop } from '../yield.ts';
import {
  firstEntries,
  LATER_ENTRIES,
  type OrderedEntries,
  type OrderedRequest,
  type OrderedRow,
  orderedRowsOf,
  REPEATED_ENTRIES,
} from './ordered-rows.ts';
import { type ComparePlaces, isRepeated, placeComparison, type RowPlace } from './row-order.ts';
import { TopRows } from './top-rows.ts';

const PAGE_BYTES = 1024 * 1024;

interface IndexRowsOptions {
  /** The ranges left, in the direction of reading. */
  readonly ranges: readonly KeyRange[];
  /** True where the entries are not in the order of the rows: all rows are read and sorted. */
  readonly isUnordered?: boolean;
}

/**
 * Rows of index entries. Entries with truncated texts that begin alike are not in the order of their texts, so their
 * rows are read together and sorted.
 */
export class IndexRows implements Batches<OrderedRow> {
  readonly #request: OrderedRequest;
  readonly #entries: OrderedEntries;
  readonly #compare: ComparePlaces;
  /** The ranges left, in the direction of reading. */
  #ranges: readonly KeyRange[];
  #limit: number;
  #isBegun = false;
  readonly #isUnordered: boolean;

  constructor(
    request: OrderedRequest,
    entries: OrderedEntries,
    { ranges, isUnordered }: IndexRowsOptions,
  ) {
    this.#request = request;
    this.#entries = entries;
    this.#compare = placeComparison(request.order);
    this.#limit = firstEntries(request);
    this.#ranges = ranges;
    this.#isUnordered = isUnordered === true;
  }

  next(): MaybePromise<readonly OrderedRow[] | undefined> {
    const [range, ...others] = this.#ranges;
    if (range === undefined) return undefined;
    if (this.#isUnordered) {
      this.#ranges = [];
      return this.#sorted([range, ...others]);
    }
    const rest = this.#isBegun ? yieldToEventLoop() : undefined;
    this.#isBegun = true;
    return rest === undefined
      ? this.#read(range, others)
      : rest.then(() => this.#read(range, others));
  }

  #read(range: KeyRange, others: readonly KeyRange[]): MaybePromise<readonly OrderedRow[]> {
    const { reader, stats } = this.#request;
    const { isReverse, composite } = this.#entries;
    const limit = this.#limit;
    this.#limit = LATER_ENTRIES;
    const page = reader.scanIndex(range, { limit, bytesMax: PAGE_BYTES, reverse: isReverse });
    return andThen(page, ({ entries, rest }) => {
      stats.indexEntries += entries.length;
      for (let at = 0; at < entries.length; at++) {
        const entry = entries[at] as string;
        const shared = reader.truncatedAt(entry, composite);
        if (shared === undefined) continue;
        const beginning = Buffer.from(entry.slice(0, shared), 'latin1');
        const left = divided([range, ...others], beginning, isReverse);
        this.#ranges = at === 0 ? left.behind : [...left.within, ...left.behind];
        return at === 0 ? this.#sorted(left.within) : this.#rowsOf(entries.slice(0, at));
      }
      this.#ranges = rest === undefined ? others : [rest, ...others];
      return andThen(this.#rowsOf(entries), (rows) => this.#withoutRepeated(rows));
    });
  }

  #rowsOf(entries: readonly string[]): MaybePromise<readonly OrderedRow[]> {
    const { reader, stats } = this.#request;
    const { entryOf } = this.#entries;
    const all = entries.map(reader.ridOf);
    const rids = entryOf === undefined ? all : [...new Set(all)];
    return andThen(reader.readMany(rids), (read) => {
      const rows = orderedRowsOf(this.#request, counted(read, reader, stats), this.#compare);
      return entryOf === undefined
        ? rows
        : andThen(rows, (found) => ofEntries(found, entries, entryOf));
    });
  }

  /** Skips to the next key where rows repeat each other, so that the cost follows the values and not their items. */
  #withoutRepeated(rows: readonly OrderedRow[]): readonly OrderedRow[] {
    const last = rows.at(-1);
    const { order } = this.#request;
    if (order.deduplicates && last !== undefined && isRepeated(last, rows.at(-2))) {
      this.#limit = REPEATED_ENTRIES;
      this.#ranges = rangesBehind(this.#request, this.#entries, last, this.#ranges, true);
    }
    return rows;
  }

  /** The first rows of all entries in some ranges, sorted; the page takes no more of them. */
  async #sorted(ranges: readonly KeyRange[]): Promise<readonly OrderedRow[]> {
    const { reader, stats, wanted, order } = this.#request;
    const isSame = order.deduplicates ? isRepeated : undefined;
    const first = new TopRows<OrderedRow>(wanted + 1, this.#compare, isSame);
    for (const whole of ranges) {
      for (let range: KeyRange | undefined = whole; range !== undefined; ) {
        const page = await reader.scanIndex(range, { limit: LATER_ENTRIES, bytesMax: PAGE_BYTES });
        stats.indexEntries += page.entries.length;
        for (const row of await this.#rowsOf(page.entries)) first.add(row);
        if (first.size > QUERY_ROWS_MAX)
          throw new DomainError(
            'invalidInput',
            `The query would have to sort more than ${QUERY_ROWS_MAX} rows that its index has not in order. Add a filter.`,
          );
        range = page.rest;
        await yieldToEventLoop();
      }
    }
    return first.sorted();
  }
}

/** The rows that belong to one of these entries, in the order of the entries. */
function ofEntries(
  rows: readonly OrderedRow[],
  entries: readonly string[],
  entryOf: NonNullable<OrderedEntries['entryOf']>,
): readonly OrderedRow[] {
  const places = new Map(entries.map((entry, at) => [entry, at]));
  const found: { readonly at: number; readonly row: OrderedRow }[] = [];
  for (const row of rows) {
    const at = places.get(entryOf(row));
    if (at !== undefined) found.push({ at, row });
  }
  return found.sort((a, b) => a.at - b.at).map(({ row }) => row);
}

/** Divides ranges into the keys with a beginning and the keys behind them, in the direction of reading. */
function divided(
  ranges: readonly KeyRange[],
  beginning: Bytes,
  isReverse: boolean,
): { readonly within: readonly KeyRange[]; readonly behind: readonly KeyRange[] } {
  const end = prefixEnd(beginning);
  const within = ranges.flatMap((range) => intersection(range, { start: beginning, end }));
  const outside = isReverse ? { start: EMPTY_KEY, end: beginning } : { start: end, end: undefined };
  const { start } = outside;
  if (start === undefined) return { within, behind: [] };
  return { within, behind: ranges.flatMap((range) => intersection(range, { ...outside, start })) };
}

const EMPTY_KEY: Bytes = new Uint8Array();

/** The intersection: a list of one range or none. */
export function intersection(a: KeyRange, b: KeyRange): readonly KeyRange[] {
  const start = compareBytes(a.start, b.start) >= 0 ? a.start : b.start;
  const end = smaller(a.end, b.end);
  return end !== undefined && compareBytes(start, end) >= 0 ? [] : [{ start, end }];
}

/** All ranges of the index that the condition allows, in the direction of reading. */
export function allowedRanges(
  { condition }: OrderedRequest,
  { prefix, parts, isReverse, ranges }: OrderedEntries,
): readonly KeyRange[] {
  const all = ranges ?? narrowed(prefix, parts, condition);
  return isReverse ? [...all].reverse() : all;
}

/** The ranges from the position of the last page on; they may begin a little before it. */
export function rangesAfter(
  request: OrderedRequest,
  entries: OrderedEntries,
  ranges: readonly KeyRange[],
): readonly KeyRange[] {
  const { after, order } = request;
  if (after === undefined) return ranges;
  const isBehindKeys = order.deduplicates === true && isRepeated(after, after);
  return rangesBehind(request, entries, after, ranges, isBehindKeys);
}

/** The rest of the ranges from the keys of a row on, or behind its keys. */
function rangesBehind(
  { reader, order }: OrderedRequest,
  { prefix, isReverse, composite }: OrderedEntries,
  { keys }: RowPlace,
  ranges: readonly KeyRange[],
  isBehindKeys: boolean,
): readonly KeyRange[] {
  const values = order.index === undefined ? keys : keys.map(order.index.valueOf);
  const key = composite ? reader.compositeKey(composite, values) : equalTo(keys[0]).start;
  const whole = concatBytes(prefix, key);
  // Truncated texts that begin alike are read together, so the range begins with the first of them.
  const shared = reader.truncatedAt(bytesToLatin1(whole), composite);
  const first = whole.subarray(0, shared);
  const past = prefixEnd(first);
  const isPastKeys = isBehindKeys && shared === undefined;
  const from = isPastKeys ? past : first;
  const to = isPastKeys ? first : past;
  if (from === undefined && !isReverse) return [];
  const left = isReverse
    ? { start: EMPTY_KEY, end: to }
    : { start: from ?? EMPTY_KEY, end: undefined };
  return ranges.flatMap((range) => intersection(range, left));
}

/** The smaller end; undefined is no end. */
function smaller(a: KeyRange['end'], b: KeyRange['end']): KeyRange['end'] {
  if (a === undefined || b === undefined) return a ?? b;
  return compareBytes(a, b) <= 0 ? a : b;
}
