/** A partition as the query executor sees it: joins the partition's reader with a part of its hash range. */
import { andThen, type Bytes, compareBytes, type MaybePromise } from '../base/index.ts';
import type { KeyRange, ScanOptions } from '../engine/index.ts';
import {
  compositePart,
  type EpkRange,
  type Item,
  type PartitionReader,
  primaryRange,
  ridOfEntry,
  valueOfTerm,
} from '../partition/index.ts';
import type {
  Candidate,
  CompositeMatch,
  CompositeOrder,
  IndexEntries,
  ItemReader,
} from '../query/index.ts';
import type { Path, Value } from '../value/index.ts';

const PAGE_BYTES = 4 * 1024 * 1024;

export class QueryReader implements ItemReader {
  readonly #reader: PartitionReader;
  /** Primary keys of the part asked for; undefined for the whole partition. */
  readonly #primaries: KeyRange | undefined;

  constructor(reader: PartitionReader, within: EpkRange | undefined) {
    this.#reader = reader;
    this.#primaries = within && primaryRange(within.min, within.max);
  }

  get itemCount(): number {
    return this.#reader.context.itemCount;
  }

  scanItems(
    from: number,
    limit: number,
  ): MaybePromise<{ readonly items: readonly Candidate[]; readonly next: number | undefined }> {
    const after = from === 0 ? undefined : (from - 1).toString(36);
    const page = this.#reader.scanByRid({ after, limit, bytesMax: PAGE_BYTES }, undefined);
    return andThen(page, ({ items, next }) => ({
      items,
      next: next === undefined ? undefined : Number.parseInt(next, 36) + 1,
    }));
  }

  readMany(rids: readonly number[]): MaybePromise<readonly (Candidate | undefined)[]> {
    return this.#reader.readMany(rids);
  }

  scanIndex(range: KeyRange, options: ScanOptions): MaybePromise<IndexEntries> {
    return this.#reader.scanIndex(range, options);
  }

  termsOf(path: Path): Bytes | undefined {
    const { isIndexReady, indexing } = this.#reader.context;
    return isIndexReady ? indexing.termsOf(path) : undefined;
  }

  compositeOf(parts: readonly CompositeOrder[]): CompositeMatch | undefined {
    const { isIndexReady, indexing } = this.#reader.context;
    return isIndexReady ? indexing.compositeFor(parts) : undefined;
  }

  ridOf(entry: string): number {
    return ridOfEntry(entry);
  }

  valueOf(entry: string): Bytes {
    return valueOfTerm(entry);
  }

  compositeKey({ isDescending }: CompositeMatch, values: readonly Value[]): Bytes {
    return Buffer.concat(
      values.map((value, at) => compositePart(value, isDescending[at] === true)),
    );
  }

  decode(item: Candidate): Value {
    return this.#reader.decode(item as Item);
  }

  isWithin({ primary }: Candidate): boolean {
    const range = this.#primaries;
    if (range === undefined) return true;
    if (compareBytes(primary, range.start) < 0) return false;
    return range.end === undefined || compareBytes(primary, range.end) < 0;
  }

  release(): void {
    this.#reader.release();
  }
}
