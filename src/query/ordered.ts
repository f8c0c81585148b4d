/** Rows of one partition in the order asked for, from the index where one has that order, else sorted here. */
import {
  afterPrefix,
  andThen,
  type Bytes,
  bytesToText,
  compareBytes,
  concatBytes,
  DomainError,
  isPromise,
  type MaybePromise,
  QUERY_ROWS_MAX,
} from '../base/index.ts';
import type { KeyRange } from '../engine/index.ts';
import type { Path, Value } from '../value/index.ts';
import type { Access } from './access.ts';
import { type Batches, candidates, counted } from './candidates.ts';
import { type Condition, equalTo } from './condition.ts';
import { FirstRows } from './first-rows.ts';
import { isAbout, narrowed } from './narrow.ts';
import type { Order, Streaming } from './program.ts';
import type { Candidate, CompositeMatch, CompositeOrder, ItemReader } from './reader.ts';
import { type ComparePlaces, isRepeated, placeComparison, type RowPlace } from './row-order.ts';
import { type LaterRows, rowsLater } from './rows-later.ts';
import { pause } from './turn.ts';
import type { Work } from './work.ts';

export interface OrderedRow extends RowPlace {
  /** Of the row, where it is the item as it is stored. */
  readonly text?: string;
  readonly value: Value;
  readonly document: Value;
  readonly item: Candidate;
}

export interface OrderedRequest {
  readonly reader: ItemReader;
  readonly shape: Streaming;
  readonly order: Order;
  /** Which items can match, at most: narrows an index that has the order. */
  readonly condition: Condition;
  /** Rows up to and with this one were given before. */
  readonly after: RowPlace | undefined;
  /** Rows the caller will take at most. */
  readonly wanted: number;
  readonly work: Work;
}

/** Sorted rows in batches; only those behind `after`. */
export function orderedRows(
  request: OrderedRequest,
  access: Access,
  entries: OrderedEntries | undefined,
): Batches<OrderedRow> {
  if (entries !== undefined && !isSortCheaper(request, access)) {
    request.work.accesses.push(`${entries.text} in order${entries.isReverse ? ', backwards' : ''}`);
    return byIndex(request, entries);
  }
  request.work.accesses.push(`${access.kind === 'rids' ? access.text : access.kind}, then sort`);
  return bySort(request, access);
}

/** True where the index that has the order finds all that the condition is about: no other way can be better. */
export function findsAll({ parts }: OrderedEntries, condition: Condition): boolean {
  return isAbout(
    condition,
    parts.map(({ path }) => path),
  );
}

/** Entries that have an order. */
export interface OrderedEntries {
  readonly prefix: Bytes;
  readonly parts: readonly CompositeOrder[];
  readonly isReverse: boolean;
  readonly composite: CompositeMatch | undefined;
  readonly text: string;
}

/** Undefined where no index has the order. */
export function entriesInOrder(reader: ItemReader, { parts }: Order): OrderedEntries | undefined {
  if (parts.some(({ path }) => path === undefined)) return undefined;
  if (parts.length === 1) {
    const { path, isDescending } = parts[0] as CompositeOrder;
    const prefix = reader.termsOf(path);
    return (
      prefix && {
        prefix,
        parts: [{ path, isDescending: false }],
        isReverse: isDescending,
        composite: undefined,
        text: 'index',
      }
    );
  }
  const composite = reader.compositeOf(parts as readonly CompositeOrder[]);
  return (
    composite && {
      prefix: composite.prefix,
      parts: parts.map(({ path }, at) => ({
        path: path as Path,
        isDescending: composite.isDescending[at] === true,
      })),
      isReverse: composite.isReversed,
      composite,
      text: 'composite index',
    }
  );
}

/** Few candidates are sorted; many are met on the way through the order soon enough. */
function isSortCheaper({ reader, wanted }: OrderedRequest, access: Access): boolean {
  if (access.kind === 'none') return true;
  if (access.kind !== 'rids') return false;
  const metOnTheWay = (wanted * reader.itemCount) / Math.max(1, access.rids.length);
  return access.rids.length < Math.min(metOnTheWay, reader.itemCount);
}

function byIndex(request: OrderedRequest, entries: OrderedEntries): Batches<OrderedRow> {
  const { reader, work, wanted } = request;
  const compare = placeComparison(request.order);
  let [range, ...parts] = rangesAfter(request, entries);
  // The first page is as long as what is wanted, later ones longer: then much is filtered out. Where rows repeat each other,
  // a few tell that.
  let limit = request.order.dropsRepeated ? 10 : Math.min(100, Math.max(10, wanted));
  const read = (from: KeyRange): MaybePromise<readonly OrderedRow[]> => {
    const page = reader.scanIndex(from, {
      limit,
      bytesMax: 1024 * 1024,
      reverse: entries.isReverse,
    });
    limit = 200;
    return andThen(page, ({ entries: found, rest }) => {
      if (rest === undefined) [range, ...parts] = parts;
      else range = rest;
      work.indexEntries += found.length;
      return andThen(reader.readMany(found.map(reader.ridOf)), (read) => {
        const items = counted(read, reader, work);
        const later = rowsLater(request.shape, reader, items);
        return later === undefined
          ? given(rowsOf(request, items, compare, undefined))
          : later.then((settled) => given(rowsOf(request, items, compare, settled)));
      });
    });
  };
  // Where rows repeat each other the index goes on with the next key: what a few values cost does not grow with their items.
  const given = (rows: readonly OrderedRow[]): readonly OrderedRow[] => {
    const last = rows.at(-1);
    if (request.order.dropsRepeated && last !== undefined && isRepeated(last, rows.at(-2))) {
      limit = 10;
      const left = range === undefined ? [] : [range, ...parts];
      [range, ...parts] = rangesBehind(request, entries, last, left, true);
    }
    return rows;
  };
  let isBegun = false;
  return {
    next() {
      const from = range;
      if (from === undefined) return undefined;
      const rest = isBegun ? pause() : undefined;
      isBegun = true;
      return rest === undefined ? read(from) : rest.then(() => read(from));
    },
  };
}

/** The entries from the place where the last page ended, which may begin a little before it. */
function rangesAfter(request: OrderedRequest, entries: OrderedEntries): readonly KeyRange[] {
  const { after, condition, order } = request;
  const all = narrowed(entries.prefix, entries.parts, condition);
  const ranges = entries.isReverse ? [...all].reverse() : all;
  if (after === undefined) return ranges;
  const isBehindKeys = order.dropsRepeated === true && isRepeated(after, after);
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
  const first = concatBytes(prefix, key);
  const past = afterPrefix(first);
  const from = isBehindKeys ? past : first;
  const to = isBehindKeys ? first : past;
  if (from === undefined) return [];
  return ranges.flatMap(({ start, end }): readonly KeyRange[] => {
    const left = isReverse
      ? { start, end: smaller(end, to) }
      : { start: compareBytes(start, from) >= 0 ? start : from, end };
    return left.end !== undefined && compareBytes(left.start, left.end) >= 0 ? [] : [left];
  });
}

/** Undefined: no end. */
function smaller(a: KeyRange['end'], b: KeyRange['end']): KeyRange['end'] {
  if (a === undefined || b === undefined) return a ?? b;
  return compareBytes(a, b) <= 0 ? a : b;
}

function bySort(request: OrderedRequest, access: Access): Batches<OrderedRow> {
  let isGiven = false;
  return {
    next() {
      if (isGiven) return undefined;
      isGiven = true;
      return sortedRows(request, access);
    },
  };
}

function sortedRows(request: OrderedRequest, access: Access): MaybePromise<readonly OrderedRow[]> {
  const { reader, shape } = request;
  const compare = placeComparison(request.order);
  // One more tells that there is a next page.
  const rows = new FirstRows<OrderedRow>(
    request.wanted + 1,
    compare,
    request.order.dropsRepeated ? isRepeated : undefined,
  );
  const batches = candidates(reader, access, 0, request.work);
  let isBegun = false;
  const add = (items: readonly Candidate[], later: LaterRows | undefined): void => {
    for (const row of rowsOf(request, items, compare, later)) rows.add(row);
    if (rows.size > QUERY_ROWS_MAX)
      throw new DomainError(
        'invalidInput',
        `The query would have to sort more than ${QUERY_ROWS_MAX} rows. Add a filter, or index the path it is ordered by.`,
      );
  };
  const take = (items: readonly Candidate[]): Promise<void> | undefined => {
    const later = rowsLater(shape, reader, items);
    if (later !== undefined) return later.then((settled) => add(items, settled));
    add(items, undefined);
    // The first batch is what the request is about.
    const rest = isBegun ? pause() : undefined;
    isBegun = true;
    return rest;
  };
  const gather = (): MaybePromise<readonly OrderedRow[]> => {
    for (;;) {
      const found = batches.next();
      if (isPromise(found))
        return found.then((items) => {
          if (items === undefined) return rows.sorted();
          const wait = take(items);
          return wait === undefined ? gather() : wait.then(gather);
        });
      if (found === undefined) return rows.sorted();
      const wait = take(found);
      if (wait !== undefined) return wait.then(gather);
    }
  };
  return gather();
}

function rowsOf(
  { reader, shape, order, after, work }: OrderedRequest,
  items: readonly Candidate[],
  compare: ComparePlaces,
  later: LaterRows | undefined,
): readonly OrderedRow[] {
  const rows: OrderedRow[] = [];
  let at = 0;
  for (const item of items) {
    const told = shape.keysOfText && toldRow(shape.keysOfText, item);
    if (told !== undefined) {
      work.itemsMatched++;
      if (after === undefined || compare(told, after) > 0) rows.push(told);
      continue;
    }
    const document = later === undefined ? reader.decode(item) : later.documents[at];
    const found = later?.rows[at++] ?? shape.rowsOf(document);
    if (found.length > 0) work.itemsMatched++;
    for (let row = 0; row < found.length; row++) {
      const { value, keys } = found[row] as (typeof found)[number];
      const place = { keys, rid: item.rid, row };
      if (order.dropsRepeated && isRepeated(place, after)) continue;
      if (after === undefined || compare(place, after) > 0)
        rows.push({ ...place, value, document, item });
    }
  }
  return rows;
}

function toldRow(
  keysOf: NonNullable<Streaming['keysOfText']>,
  item: Candidate,
): OrderedRow | undefined {
  const text = bytesToText(item.body);
  const keys = keysOf(text);
  return keys && { keys, rid: item.rid, row: 0, text, value: undefined, document: undefined, item };
}
