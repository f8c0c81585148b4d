/** A partition as the query executor sees it: joins the partition's reader with a part of its hash range. */
import {
  andThen,
  type Bytes,
  compareBytes,
  keyAfter,
  type MaybePromise,
  prefixEnd,
} from '../../base/index.ts';
import type { KeyRange, KeyScanOptions } from '../../engine/index.ts';
import {
  boundedValues,
  compositePart,
  type EpkRange,
  type Item,
  isSameTerm,
  type PartitionReader,
  primaryRange,
  ridOfEntry,
  truncatedPrefixOfComposite,
  truncatedPrefixOfTerm,
  valueOfTerm,
} from '../../partition/index.ts';
import type {
  Candidate,
  CompositeMatch,
  CompositeOrder,
  CountableRanges,
  DeclaredRanges,
  IndexEntries,
  IndexInOrder,
  IndexLimit,
  ItemReader,
  Search,
  SearchAccess,
  ValuesInIndex,
} from '../../query/index.ts';
import type { SearchIndexes } from '../../search/index.ts';
import { DECLARED, type Path, type TRUNCATED, type Value } from '../../value/index.ts';

const PAGE_BYTES = 4 * 1024 * 1024;

/** Reading an item weighs as much as reading this many index entries. */
const ITEM_EFFORT = 12;

export class QueryReader implements ItemReader {
  readonly #reader: PartitionReader;
  /** The range of primary keys to read; undefined for the whole partition. */
  readonly #primaries: KeyRange | undefined;
  /** Whether the range is one place in the hash space: one partition key, but for collisions. */
  readonly #isOneKey: boolean;
  /** Index entries and items read, weighted: the part of this partition in the cost of a query. */
  effort = 0;

  /** Rids that are left out: the transaction that reads has written these items itself. */
  readonly #overwritten: ReadonlySet<number> | undefined;

  /** Undefined where the container has no vector or text indexes. */
  readonly #search: SearchIndexes | undefined;

  /** @param within - a part of the hash range, or the prefix of the primary keys of a logical partition. */
  constructor(
    reader: PartitionReader,
    within: EpkRange | Bytes | undefined,
    overwritten?: ReadonlySet<number>,
    search?: SearchIndexes | undefined,
  ) {
    this.#reader = reader;
    this.#search = search;
    this.#primaries = within && primariesOf(within);
    this.#isOneKey = within !== undefined && isOneKey(within);
    this.#overwritten = overwritten;
  }

  get itemCount(): number {
    return this.#reader.context.itemCount;
  }

  get excludes(): ItemReader['excludes'] {
    return {
      others: this.#primaries !== undefined,
      invisible: this.#overwritten !== undefined || this.#reader.context.invisible !== undefined,
    };
  }

  scanItems(
    from: number,
    limit: number,
  ): MaybePromise<{ readonly items: readonly Candidate[]; readonly next: number | undefined }> {
    const after = from === 0 ? undefined : (from - 1).toString(36);
    const page = this.#reader.scanByRid({ after, limit, bytesMax: PAGE_BYTES }, undefined);
    return andThen(page, ({ items, next }) => {
      this.effort += items.length * ITEM_EFFORT;
      return { items, next: next === undefined ? undefined : Number.parseInt(next, 36) + 1 };
    });
  }

  ridsOfKey(from: KeyRange | undefined): ReturnType<NonNullable<ItemReader['ridsOfKey']>> {
    if (this.#primaries === undefined || !this.#isOneKey) return undefined;
    return andThen(this.#reader.ridsOfKeys(from ?? this.#primaries), (page) => {
      this.effort += page.rids.length;
      return page;
    });
  }

  readMany(rids: readonly number[]): MaybePromise<readonly (Candidate | undefined)[]> {
    this.effort += rids.length * ITEM_EFFORT;
    return this.#reader.readMany(rids);
  }

  scanIndex(range: KeyRange, options: KeyScanOptions): MaybePromise<IndexEntries> {
    return andThen(this.#reader.scanIndex(range, options), (found) => {
      this.effort += found.entries.length;
      return found;
    });
  }

  ridsOf(
    termPrefix: Bytes,
    limit: number,
    cachedLimit: number,
  ): MaybePromise<ArrayLike<number> | undefined> {
    return andThen(
      this.#reader.ridsOf(termPrefix, { read: limit, cached: cachedLimit }),
      (rids) => {
        this.effort += Math.min(rids?.length ?? limit, limit);
        return rids;
      },
    );
  }

  ridsFrom(termPrefix: Bytes, from: number): ReturnType<ItemReader['ridsFrom']> {
    return andThen(this.#reader.ridsFrom(termPrefix, from), (page) => {
      this.effort += page.rids.length;
      return page;
    });
  }

  ridsWithout(path: Path): MaybePromise<readonly number[]> {
    return this.#reader.ridsWithout(path);
  }

  termsOf(path: Path): Bytes | undefined {
    const { isIndexReady, readyIndexes, indexing } = this.#reader.context;
    const isReady = path[0] === DECLARED ? readyIndexes.has(Number(path[1])) : isIndexReady;
    return isReady ? indexing.termsOf(path) : undefined;
  }

  declaredWithin(limits: readonly IndexLimit[]): DeclaredRanges | undefined {
    const { readyIndexes, indexing } = this.#reader.context;
    if (readyIndexes.size === 0 || limits.length === 0) return undefined;
    return indexing.declaredWithin(limits, (id) => readyIndexes.has(id));
  }

  countableWithin(limits: readonly IndexLimit[]): CountableRanges | undefined {
    const { readyIndexes, indexing } = this.#reader.context;
    return indexing.countableWithin(limits, (id) => readyIndexes.has(id));
  }

  valuesIn(path: Path): ValuesInIndex | undefined {
    const { readyIndexes, indexing } = this.#reader.context;
    return indexing.valuesIn(path, (id) => readyIndexes.has(id));
  }

  indexInOrder(
    id: number,
    parts: readonly CompositeOrder[],
    limits: readonly IndexLimit[],
  ): IndexInOrder | undefined {
    const { readyIndexes, indexing } = this.#reader.context;
    return readyIndexes.has(id) ? indexing.inOrder(id, parts, limits) : undefined;
  }

  compositeOf(
    parts: readonly CompositeOrder[],
    limits?: readonly IndexLimit[],
  ): CompositeMatch | undefined {
    const { isIndexReady, readyIndexes, indexing } = this.#reader.context;
    return isIndexReady
      ? indexing.compositeFor(parts, (id) => readyIndexes.has(id), limits)
      : undefined;
  }

  truncatedAt(entry: string, composite: CompositeMatch | undefined): number | undefined {
    return composite === undefined
      ? truncatedPrefixOfTerm(entry)
      : truncatedPrefixOfComposite(entry, composite);
  }

  ridOf(entry: string): number {
    return ridOfEntry(entry);
  }

  valueOf(entry: string): Value | typeof TRUNCATED {
    return valueOfTerm(entry);
  }

  isSameTerm(a: string, b: string): boolean {
    return isSameTerm(a, b);
  }

  compositeKey(
    { prefix, isDescending, collation }: CompositeMatch,
    values: readonly Value[],
  ): Bytes {
    const parts = values.map((value, at) =>
      compositePart(value, isDescending[at] === true, collation),
    );
    return boundedValues(prefix, Buffer.concat(parts));
  }

  decode(item: Candidate): Value {
    return this.#reader.decode(item as Item);
  }

  isWithin(item: Candidate): boolean {
    if (this.#overwritten?.has(item.rid)) return false;
    const range = this.#primaries;
    if (range === undefined) return true;
    // Made when it is asked for.
    const { primary } = item;
    if (compareBytes(primary, range.start) < 0) return false;
    return range.end === undefined || compareBytes(primary, range.end) < 0;
  }

  hasTextIndex(path: Path): boolean {
    return this.#search?.hasTexts(path) === true;
  }

  async searchIndex(search: Search): Promise<SearchAccess | undefined> {
    // Statistics are about all texts of the index: wrong for a part of the partition, or with invisible items in it.
    const isPart = this.#primaries !== undefined || this.#reader.context.invisible !== undefined;
    const access = await this.#search?.access(search);
    return isPart && access ? { ...access, statistics: undefined } : access;
  }

  release(): void {
    this.#reader.release();
  }
}

function isOneKey(within: EpkRange | Bytes): boolean {
  return !('min' in within) || compareBytes(within.max, keyAfter(within.min)) === 0;
}

function primariesOf(within: EpkRange | Bytes): KeyRange {
  if ('min' in within) return primaryRange(within.min, within.max);
  return { start: within, end: prefixEnd(within) };
}
