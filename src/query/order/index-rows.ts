/** Rows in the order of an index. */
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
/** The first page is as long as what is wanted, later ones longer: then much is filtered out. */
const LATER_ENTRIES = 200;
/** Where rows repeat each other, a few tell that. */
const REPEATED_ENTRIES = 10;

export function indexRows(request: OrderedRequest, entries: OrderedEntries): Batches<OrderedRow> {
  const found = new IndexRows(request, entries);
  const [part] = entries.parts;
  // Only the index of one path leaves out the items without it.
  if (entries.composite !== undefined || part === undefined) return found;
  if (request.order.parts[0]?.isInEvery || isLimited(request.condition, part.path)) return found;
  const without = new RowsWithout(request, part.path, entries.isReverse);
  return oneAfterTheOther(entries.isReverse ? [found, without] : [without, found]);
}

function firstEntries({ order, wanted }: OrderedRequest): number {
  return order.deduplicates ? REPEATED_ENTRIES : Math.min(100, Math.max(10, wanted));
}

function oneAfterTheOther([first, second]: readonly [
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

/** Rows of the items that have no value at the path: first where the order rises, last where it falls. */
class RowsWithout implements Batches<OrderedRow> {
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

  /** In the order of the rows, from the place where the last page ended. */
  #left(all: readonly number[]): readonly number[] {
    const { after } = this.#request;
    const from = after !== undefined && after.keys[0] === undefined ? after.rid : undefined;
    if (this.#isReverse) return all.filter((rid) => from === undefined || rid <= from).toReversed();
    return from === undefined ? all : all.filter((rid) => rid >= from);
  }

  #read(rids: readonly number[]): MaybePromise<readonly OrderedRow[] | undefined> {
    if (this.#at >= rids.length) return undefined;
    const { reader, work, order } = this.#request;
    const some = rids.slice(this.#at, this.#at + this.#limit);
    this.#at += some.length;
    this.#limit = LATER_ENTRIES;
    return andThen(reader.readMany(some), (read) =>
      andThen(orderedRowsOf(this.#request, counted(read, reader, work), this.#compare), (found) => {
        // The list may name others.
        const rows = found.filter(({ keys }) => keys[0] === undefined);
        if (order.deduplicates && rows.length > 0) this.#at = rids.length;
        return rows;
      }),
    );
  }
}

/**
 * Rows of index entries. Entries of long texts that begin alike are in no order among themselves: their rows are sorted,
 * those of one beginning together.
 */
class IndexRows implements Batches<OrderedRow> {
  readonly #request: OrderedRequest;
  readonly #entries: OrderedEntries;
  readonly #compare: ComparePlaces;
  /** What is left, in the direction of reading. */
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
    const { reader, work } = this.#request;
    const { isReverse, composite } = this.#entries;
    const limit = this.#limit;
    this.#limit = LATER_ENTRIES;
    const page = reader.scanIndex(range, { limit, bytesMax: PAGE_BYTES, reverse: isReverse });
    return andThen(page, ({ entries, rest }) => {
      work.indexEntries += entries.length;
      for (let at = 0; at < entries.length; at++) {
        const entry = entries[at] as string;
        const cut = reader.cutAt(entry, composite);
        if (cut === undefined) continue;
        const beginning = Buffer.from(entry.slice(0, cut), 'latin1');
        const left = divided([range, ...others], beginning, isReverse);
        this.#ranges = at === 0 ? left.behind : [...left.within, ...left.behind];
        return at === 0 ? this.#sorted(left.within) : this.#rowsOf(entries.slice(0, at));
      }
      this.#ranges = rest === undefined ? others : [rest, ...others];
      return andThen(this.#rowsOf(entries), (rows) => this.#given(rows));
    });
  }

  #rowsOf(entries: readonly string[]): MaybePromise<readonly OrderedRow[]> {
    const { reader, work } = this.#request;
    return andThen(reader.readMany(entries.map(reader.ridOf)), (read) =>
      orderedRowsOf(this.#request, counted(read, reader, work), this.#compare),
    );
  }

  /** Where rows repeat each other the index goes on with the next key: what a few values cost does not grow with their items. */
  #given(rows: readonly OrderedRow[]): readonly OrderedRow[] {
    const last = rows.at(-1);
    const { order } = this.#request;
    if (order.deduplicates && last !== undefined && isRepeated(last, rows.at(-2))) {
      this.#limit = REPEATED_ENTRIES;
      this.#ranges = rangesBehind(this.#request, this.#entries, last, this.#ranges, true);
    }
    return rows;
  }

  /** The first rows of all entries in some ranges; who asked takes no more of them. */
  async #sorted(ranges: readonly KeyRange[]): Promise<readonly OrderedRow[]> {
    const { reader, work, wanted, order } = this.#request;
    const isSame = order.deduplicates ? isRepeated : undefined;
    const first = new TopRows<OrderedRow>(wanted + 1, this.#compare, isSame);
    for (const whole of ranges) {
      for (let range: KeyRange | undefined = whole; range !== undefined; ) {
        const page = await reader.scanIndex(range, { limit: LATER_ENTRIES, bytesMax: PAGE_BYTES });
        work.indexEntries += page.entries.length;
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

/** The parts of ranges whose keys begin so, and those behind them. */
function divided(
  ranges: readonly KeyRange[],
  beginning: Bytes,
  isReverse: boolean,
): { readonly within: readonly KeyRange[]; readonly behind: readonly KeyRange[] } {
  const end = prefixEnd(beginning);
  const within = ranges.flatMap((range) => common(range, { start: beginning, end }));
  const outside = isReverse ? { start: NOTHING, end: beginning } : { start: end, end: undefined };
  const { start } = outside;
  if (start === undefined) return { within, behind: [] };
  return { within, behind: ranges.flatMap((range) => common(range, { ...outside, start })) };
}

const NOTHING: Bytes = new Uint8Array();

/** A list of one or none. */
function common(a: KeyRange, b: KeyRange): readonly KeyRange[] {
  const start = compareBytes(a.start, b.start) >= 0 ? a.start : b.start;
  const end = smaller(a.end, b.end);
  return end !== undefined && compareBytes(start, end) >= 0 ? [] : [{ start, end }];
}

/** The entries from the place where the last page ended, which may begin a little before it. */
function rangesAfter(request: OrderedRequest, entries: OrderedEntries): readonly KeyRange[] {
  const { after, condition, order } = request;
  const all = narrowed(entries.prefix, entries.parts, condition);
  const ranges = entries.isReverse ? [...all].reverse() : all;
  if (after === undefined) return ranges;
  const isBehindKeys = order.deduplicates === true && isRepeated(after, after);
  return rangesBehind(request, entries, after, ranges, isBehindKeys);
}

/** What is left of the ranges from the keys of a row on, or behind all of its keys. */
function rangesBehind(
  { reader }: OrderedRequest,
  { prefix, isReverse, composite }: OrderedEntries,
  { keys }: RowPlace,
  ranges: readonly KeyRange[],
  isBehindKeys: boolean,
): readonly KeyRange[] {
  const key = composite ? reader.compositeKey(composite, keys) : equalTo(keys[0]).start;
  const whole = concatBytes(prefix, key);
  // Texts that begin alike are looked at together, whichever comes first.
  const cut = reader.cutAt(bytesToLatin1(whole), composite);
  const first = whole.subarray(0, cut);
  const past = prefixEnd(first);
  const isPastKeys = isBehindKeys && cut === undefined;
  const from = isPastKeys ? past : first;
  const to = isPastKeys ? first : past;
  if (from === undefined && !isReverse) return [];
  const left = isReverse ? { start: NOTHING, end: to } : { start: from ?? NOTHING, end: undefined };
  return ranges.flatMap((range) => common(range, left));
}

/** Undefined: no end. */
function smaller(a: KeyRange['end'], b: KeyRange['end']): KeyRange['end'] {
  if (a === undefined || b === undefined) return a ?? b;
  return compareBytes(a, b) <= 0 ? a : b;
}
