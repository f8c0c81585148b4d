/** A page of rows in an order, merged from all partitions; without a promise where no partition needs one. */
import { andThen, isPromise, type MaybePromise, withFinally } from '../../base/index.ts';
import { type AccessPath, chooseForOrder } from '../candidates/access-path.ts';
import type { Batches } from '../candidates/candidates.ts';
import type { Order, Streaming } from '../executable-query.ts';
import { type PageRequest, PageRows, type ResultPage, type Target } from '../page/page.ts';
import { fitsInToken, type Position, type Window } from '../page/position.ts';
import { TimedReader } from '../timed-reader.ts';
import { NotInOrder } from './declared-order.ts';
import { MergedRows } from './merge.ts';
import { entriesInOrder, findsAll, isSortCheaper, orderedRows } from './ordered.ts';
import type { OrderedEntries, OrderedRow } from './ordered-rows.ts';
import { isRepeated, placeComparison, positionKeys, type RowPlace } from './row-order.ts';

export function orderedPage(
  request: PageRequest,
  shape: Streaming,
  order: Order,
): MaybePromise<ResultPage> {
  const { position } = request;
  const window = position?.kind === 'ordered' ? position.window : shape;
  const after = position?.kind === 'ordered' ? position.after : undefined;
  if (window.take === 0) return { rows: [], position: undefined };
  const targets = request.ranges.flatMap((range) => request.targetsIn(range));
  return andThen(openAll(targets, request), (readers) =>
    withFinally(
      () => {
        const page = new OrderedPage(request, shape, order, window, after);
        return andThen(page.sources(readers), (sources) => page.fill(sources));
      },
      () => {
        for (const reader of readers) reader.release();
      },
    ),
  );
}

class OrderedPage {
  readonly #request: PageRequest;
  readonly #shape: Streaming;
  readonly #order: Order;
  readonly #after: RowPlace | undefined;
  readonly #wanted: number;
  readonly #page: PageRows;
  #skip: number;
  #take: number;
  /** The last row whose keys fit in a token, and how many rows were added or skipped since. */
  #named: RowPlace | undefined;
  #since = 0;
  /** The row before the next one. */
  #before: RowPlace | undefined;

  constructor(
    request: PageRequest,
    shape: Streaming,
    order: Order,
    { skip, take }: Window,
    after: RowPlace | undefined,
  ) {
    this.#request = request;
    this.#shape = shape;
    this.#order = order;
    this.#after = after;
    this.#wanted = skip + Math.min(take, request.rowsMax);
    this.#page = new PageRows(request);
    this.#skip = skip;
    this.#take = take;
    this.#named = after;
    this.#before = after;
  }

  /** The sorted rows of each reader. */
  sources(readers: readonly TimedReader[]): MaybePromise<readonly Batches<OrderedRow>[]> {
    const [first] = readers;
    // Most queries read one partition and need no promise here.
    if (readers.length === 1 && first !== undefined)
      return andThen(this.#source(first), (source) => [source]);
    return this.#manySources(readers);
  }

  async #manySources(readers: readonly TimedReader[]): Promise<readonly Batches<OrderedRow>[]> {
    const sources: Batches<OrderedRow>[] = [];
    for (const reader of readers) sources.push(await this.#source(reader));
    return sources;
  }

  #source(reader: TimedReader): MaybePromise<Batches<OrderedRow>> {
    const found = entriesInOrder(reader, this.#order, this.#request.query.condition);
    if (isPromise(found)) return found.then((entries) => this.#sourceOf(reader, entries));
    return this.#sourceOf(reader, found);
  }

  #sourceOf(
    reader: TimedReader,
    entries: OrderedEntries | undefined,
  ): MaybePromise<Batches<OrderedRow>> {
    const { stats, query } = this.#request;
    const { condition } = query;
    const order = this.#order;
    const wanted = this.#wanted;
    const after = this.#after;
    const isChosen = entries !== undefined && order.index !== undefined && after !== undefined;
    const access: MaybePromise<AccessPath> =
      isChosen || (entries !== undefined && findsAll(entries, condition))
        ? SCAN
        : this.#otherAccess(reader, entries);
    return andThen(access, (chosen) => {
      const ordered = { reader, shape: this.#shape, order, condition, after, wanted, stats };
      return orderedRows(ordered, chosen, entries);
    });
  }

  /** The best access path without the order. */
  #otherAccess(reader: TimedReader, entries: OrderedEntries | undefined): MaybePromise<AccessPath> {
    const { stats, query } = this.#request;
    const isFirst = this.#order.index !== undefined && this.#after === undefined;
    if (isFirst && entries === undefined) throw new NotInOrder();
    const wanted = isFirst ? this.#skip + this.#take : this.#wanted;
    const hasOrder = isFirst && entries !== undefined;
    const access = chooseForOrder(reader, query.condition, { wanted, hasOrder }, stats);
    if (!isFirst) return access;
    return andThen(access, (chosen) => {
      if (isSortCheaper({ reader, wanted: Math.min(wanted, reader.itemCount) }, chosen))
        throw new NotInOrder();
      return SCAN;
    });
  }

  fill(sources: readonly Batches<OrderedRow>[]): MaybePromise<ResultPage> {
    return this.#fill(new MergedRows(sources, placeComparison(this.#order)));
  }

  #fill(merged: MergedRows): MaybePromise<ResultPage> {
    for (;;) {
      const found = merged.next();
      if (isPromise(found)) return found.then((row) => this.#add(row) ?? this.#fill(merged));
      const whole = this.#add(found);
      if (whole !== undefined) return whole;
    }
  }

  /** Adds a row; returns the page where it ends with or before the row. */
  #add(row: OrderedRow | undefined): ResultPage | undefined {
    const { rows } = this.#page;
    if (row === undefined) return { rows, position: undefined };
    if (this.#order.deduplicates && isRepeated(row, this.#before)) return undefined;
    this.#before = row;
    const isSkipped = this.#skip > 0;
    if (this.#page.isFull || !(isSkipped || this.#page.add(row))) {
      const window = { skip: this.#skip + this.#since, take: this.#take };
      return { rows, position: positionAfter(this.#named, window) };
    }
    const keys = positionKeys(this.#order, row.keys);
    const isNamed = fitsInToken(keys);
    if (isNamed) this.#named = { keys, rid: row.rid, row: row.row };
    this.#since = isNamed ? 0 : this.#since + 1;
    if (isSkipped) {
      this.#skip--;
      return undefined;
    }
    return --this.#take === 0 ? { rows, position: undefined } : undefined;
  }
}

const SCAN: AccessPath = { kind: 'scan' };

function openAll(targets: readonly Target[], request: PageRequest): MaybePromise<TimedReader[]> {
  const [first] = targets;
  if (targets.length === 1 && first !== undefined)
    return andThen(first.open(), (reader) => [new TimedReader(reader, request)]);
  return openMany(targets, request);
}

/** Opens all targets or none: where one cannot be opened, the others are released. */
async function openMany(targets: readonly Target[], request: PageRequest): Promise<TimedReader[]> {
  const opened = await Promise.allSettled(targets.map(async (target) => target.open()));
  const readers = opened.flatMap((result) =>
    result.status === 'fulfilled' ? [new TimedReader(result.value, request)] : [],
  );
  const failed = opened.find((result) => result.status === 'rejected');
  if (failed === undefined) return readers;
  for (const reader of readers) reader.release();
  throw failed.reason;
}

function positionAfter(after: RowPlace | undefined, window: Window): Position {
  return { kind: 'ordered', after, window };
}
