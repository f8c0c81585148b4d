/** The rows of the items without a value at a path, which its index does not have, in the order of their rids. */
import { andThen, type Bytes, type MaybePromise, prefixEnd } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import { KeyWriter, type Path, type Value } from '../../value/index.ts';
import { type Batches, counted } from '../candidates/candidates.ts';
import {
  firstEntries,
  LATER_ENTRIES,
  type OrderedRequest,
  type OrderedRow,
  orderedRowsOf,
} from './ordered-rows.ts';
import { type ComparePlaces, placeComparison } from './row-order.ts';

const PAGE_BYTES = 1024 * 1024;
const writer = new KeyWriter();

interface AbsentRowsOptions {
  readonly path: Path;
  readonly isReverse: boolean;
  /** The prefix of the entries of null, where null has the same place in the order as no value. */
  readonly nulls: Bytes | undefined;
  /** True where the last page ended among these rows. */
  readonly isBegun: boolean;
}

export class AbsentRows implements Batches<OrderedRow> {
  readonly #request: OrderedRequest;
  readonly #options: AbsentRowsOptions;
  readonly #compare: ComparePlaces;
  /** The rids of the items without a value, in the direction of reading; undefined before the first read. */
  #rids: readonly number[] | undefined;
  #at = 0;
  /** The rids of items with null that were read and are not given, and the range of those that are not read. */
  #nullRids: readonly number[] = [];
  #nulls: KeyRange | undefined;
  #limit: number;

  constructor(request: OrderedRequest, options: AbsentRowsOptions) {
    this.#request = request;
    this.#options = options;
    this.#compare = placeComparison(request.order);
    this.#limit = firstEntries(request);
    this.#nulls = options.nulls && this.#nullsLeft(options.nulls);
  }

  next(): MaybePromise<readonly OrderedRow[] | undefined> {
    const { reader } = this.#request;
    if (this.#rids === undefined)
      return andThen(reader.ridsWithout(this.#options.path), (all) => {
        this.#rids = this.#left(all);
        return this.next();
      });
    if (this.#nulls !== undefined && this.#nullRids.length === 0)
      return andThen(this.#readNulls(this.#nulls), () => this.next());
    const rids = this.#merged(this.#rids);
    return rids.length === 0 ? undefined : this.#rowsOf(rids);
  }

  /** The rids in the order of the rows, from the position of the last page on. */
  #left(all: readonly number[]): readonly number[] {
    const from = this.#from();
    if (this.#options.isReverse)
      return all.filter((rid) => from === undefined || rid <= from).toReversed();
    return from === undefined ? all : all.filter((rid) => rid >= from);
  }

  #nullsLeft(prefix: Bytes): KeyRange {
    const from = this.#from();
    if (from === undefined) return { start: prefix, end: prefixEnd(prefix) };
    return this.#options.isReverse
      ? { start: prefix, end: withRid(prefix, from + 1) }
      : { start: withRid(prefix, from), end: prefixEnd(prefix) };
  }

  /** The rid of the last row that was given, where it is one of these. */
  #from(): number | undefined {
    const from = this.#options.isBegun ? this.#request.after?.rid : undefined;
    // Dialects may name a row behind all rids.
    return from === undefined ? undefined : Math.min(from, Number.MAX_SAFE_INTEGER - 1);
  }

  #readNulls(range: KeyRange): MaybePromise<void> {
    const { reader, stats } = this.#request;
    const options = { limit: this.#limit, bytesMax: PAGE_BYTES, reverse: this.#options.isReverse };
    return andThen(reader.scanIndex(range, options), ({ entries, rest }) => {
      stats.indexEntries += entries.length;
      this.#nullRids = entries.map(reader.ridOf);
      this.#nulls = rest;
    });
  }

  /** The next rids of both lists, each once: an item may have been given a null since it had no value. */
  #merged(rids: readonly number[]): readonly number[] {
    const sign = this.#options.isReverse ? -1 : 1;
    const found: number[] = [];
    let at = 0;
    while (found.length < this.#limit) {
      const absent = rids[this.#at];
      const ofNull = this.#nullRids[at];
      if (ofNull === undefined && (absent === undefined || this.#nulls !== undefined)) break;
      if (ofNull === undefined || (absent !== undefined && sign * (absent - ofNull) < 0)) {
        found.push(absent as number);
        this.#at++;
        continue;
      }
      found.push(ofNull);
      at++;
      if (absent === ofNull) this.#at++;
    }
    this.#nullRids = this.#nullRids.slice(at);
    this.#limit = LATER_ENTRIES;
    return found;
  }

  #rowsOf(rids: readonly number[]): MaybePromise<readonly OrderedRow[]> {
    const { reader, stats, order } = this.#request;
    return andThen(reader.readMany(rids), (read) =>
      andThen(
        orderedRowsOf(this.#request, counted(read, reader, stats), this.#compare),
        (found) => {
          // The list may name items that have a value by now.
          const rows = found.filter(({ keys }) => this.#isAbsent(keys[0]));
          if (order.deduplicates && rows.length > 0) this.#at = this.#rids?.length ?? 0;
          return rows;
        },
      ),
    );
  }

  #isAbsent(key: Value): boolean {
    return key === undefined || (key === null && this.#options.nulls !== undefined);
  }
}

function withRid(prefix: Bytes, rid: number): Bytes {
  return writer.reset().raw(prefix).u64(rid).take();
}
