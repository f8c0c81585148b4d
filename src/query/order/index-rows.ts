/** The rows of one partition in the order of an index. */
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
import type { Path } from '../../value/index.ts';
import { type Batches, counted } from '../candidates.ts';
import { isLimited, narrowed } from '../condition/narrow.ts';
import { equalTo } from '../condition/value-ranges.ts';
import { yieldToEventLoop } from '../yield.ts';
import {
  type OrderedEntries,
  type OrderedRequest,
  type OrderedRow,
  orderedRowsOf,
} from './ordered-rows.ts';
import { type ComparePlaces, isRepeated, placeComparison, type RowPlace } from './row-order.ts';
import { TopRows } from './top-rows.ts';

const PAGE_BYTES = 1024 * 1024;
/** Entries of later reads. The first reads as many as are wanted; where that is not enough, a filter drops many. */
const LATER_ENTRIES = 200;
/** Entries of a read where rows repeat each other: a few show it, and the next key is read instead. */
const REPEATED_ENTRIES = 10;

export function indexRows(request: OrderedRequest, entries: OrderedEntries): Batches<OrderedRow> {
  const found = new IndexRows(request, entries);
  const [part] = entries.parts;
  // Only the index of one path lacks the items without a value there.
  if (entries.composite !== undefined || part === undefined) return found;
  if (request.order.parts[0]?.isInEvery || isLimited(request.condition, part.path)) return found;
  const without = new UndefinedRows(request, part.path, entries.isReverse);
  return concatenated(entries.isReverse ? [found, without] : [without, found]);
}

function firstEntries({ order, wanted }: OrderedRequest): number {
  return order.deduplicates ? REPEATED_ENTRIES : Math.min(100, Math.max(10, wanted));
}

function concatenated([first, second]: readonly [
  Batches<OrderedRow>,
  Batches<OrderedRow>,
]): Batches<OrderedRow> {
  let current = first;
  const next = (): MaybePromise<readonly OrderedRow[] | undefined> =>
    andThen(current.next(), (batch) => {
      if (batch !== undefined || current === second) return batch;
      current = second;
      return next();
    });
  return { next };
}

/** Rows of the items without a value at the path: first in ascending order, last in descending order. */
class UndefinedRows implements Batches<OrderedRow> {
  readonly #request: OrderedRequest;
  readonly #path: Path;
  readonly #isReverse: boolean;
  readonly #compare: ComparePlaces;
  #rids: readonly number[] | undefined;
  #at = 0;
  #limit: number;

  constructor(request: OrderedRequest, path: Path, isReverse: boolean) {
    this.#request = request;
    this.#path = path;
    this.#isReverse = isReverse;
    this.#compare = placeComparison(request.order);
    this.#limit = firstEntries(request);
    const { after } = request;
    if (!isReverse && after !== undefined && after.keys[0] !== undefined) this.#rids = [];
  }

  next(): MaybePromise<readonly OrderedRow[] | undefined> {
    if (this.#rids !== undefined) return this.#read(this.#rids);
    return andThen(this.#request.reader.ridsWithout(this.#path), (all) => {
      const rids = this.#left(all);
      this.#rids = rids;
      return this.#read(rids);
    });
  }

  /** The rids in the order of the rows, from the position of the last page on. */
  #left(all: readonly number[]): readonly number[] {
    const { after } = this.#request;
    const from = after !== undefined && after.keys[0] === undefined ? after.rid : undefined;
    if (this.#isReverse) return all.filter((rid) => from === undefined || rid <= from).toReversed();
    return from === undefined ? all : all.filter((rid) => rid >= from);
  }

  #read(rids: readonly number[]): MaybePromise<readonly OrderedRow[] | undefined> {
    if (this.#at >= rids.length) return undefined;
    const { reader, stats, order } = this.#request;
    const some = rids.slice(this.#at, this.#at + this.#limit);
    this.#at += some.length;
    this.#limit = LATER_ENTRIES;
    return andThen(reader.readMany(some), (read) =>
      andThen(
        orderedRowsOf(this.#request, counted(read, reader, stats), this.#compare),
        (found) => {
          // The list may name items that have a value by now.
          const rows = found.filter(({ keys }) => keys[0] === undefined);
          if (order.deduplicates && rows.length > 0) this.#at = rids.length;
          return rows;
        },
      ),
    );
  }
}

/**
 * Rows of index entries. Entries with truncated texts that begin alike are not in the order of their texts, so their
 * rows are read together and sorted.
 */
class IndexRows implements Batches<OrderedRow> {
  readonly #request: OrderedRequest;
  readonly #entries: OrderedEntries;
  readonly #compare: ComparePlaces;
  /** The ranges left, in the direction of reading. */
  #ranges: readonly KeyRange[];
  #limit: number;
  #isBegun = false;

  constructor(request: OrderedRequest, entries: OrderedEntries) {
    this.#request = request;
    this.#entries = entries;
    this.#compare = placeComparison(request.order);
    this.#limit = firstEntries(request);
    this.#ranges = rangesAfter(request, entries);
  }

  next(): MaybePromise<readonly OrderedRow[] | undefined> {
    const [range, ...others] = this.#ranges;
    if (range === undefined) return undefined;
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
        const shared = reader.cutAt(entry, composite);
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
    return andThen(reader.readMany(entries.map(reader.ridOf)), (read) =>
      orderedRowsOf(this.#request, counted(read, reader, stats), this.#compare),
    );
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
            `The query would have to sort more than ${QUERY_ROWS_MAX} rows of texts that begin alike. Add a filter.`,
          );
        range = page.rest;
        await yieldToEventLoop();
      }
    }
    return first.sorted();
  }
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
function intersection(a: KeyRange, b: KeyRange): readonly KeyRange[] {
  const start = compareBytes(a.start, b.start) >= 0 ? a.start : b.start;
  const end = smaller(a.end, b.end);
  return end !== undefined && compareBytes(start, end) >= 0 ? [] : [{ start, end }];
}

/** The ranges from the position of the last page on; they may begin a little before it. */
function rangesAfter(request: OrderedRequest, entries: OrderedEntries): readonly KeyRange[] {
  const { after, condition, order } = request;
  const all = narrowed(entries.prefix, entries.parts, condition);
  const ranges = entries.isReverse ? [...all].reverse() : all;
  if (after === undefined) return ranges;
  const isBehindKeys = order.deduplicates === true && isRepeated(after, after);
  return rangesBehind(request, entries, after, ranges, isBehindKeys);
}

/** The rest of the ranges from the keys of a row on, or behind its keys. */
function rangesBehind(
  { reader }: OrderedRequest,
  { prefix, isReverse, composite }: OrderedEntries,
  { keys }: RowPlace,
  ranges: readonly KeyRange[],
  isBehindKeys: boolean,
): readonly KeyRange[] {
  const key = composite ? reader.compositeKey(composite, keys) : equalTo(keys[0]).start;
  const whole = concatBytes(prefix, key);
  // Truncated texts that begin alike are read together, so the range begins with the first of them.
  const shared = reader.cutAt(bytesToLatin1(whole), composite);
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
