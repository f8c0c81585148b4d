/**
 * A reader that adds the time spent in the index and in loading items to the execution stats, and that ends a query
 * that shall end.
 */
import { type Bytes, EvaluationTooLong, isPromise, type MaybePromise } from '../base/index.ts';
import type { KeyRange, KeyScanOptions } from '../engine/index.ts';
import type { Path, TRUNCATED, Value } from '../value/index.ts';
import type { ExecutionStats } from './execution-stats.ts';
import type { Interruption } from './interruption.ts';
import type { PageRequest } from './page/page.ts';
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
  ValuesInIndex,
} from './reader.ts';
import type { Search, SearchAccess } from './search.ts';

/** Larger items are decoded in another thread: here they would block the event loop for some milliseconds. */
const DECODED_BYTES_MAX = 512 * 1024;

export class TimedReader implements ItemReader {
  readonly itemCount: number;
  readonly excludes: ItemReader['excludes'];
  readonly ridsOf: ItemReader['ridsOf'];
  readonly #reader: ItemReader & { release(): void };
  readonly #stats: ExecutionStats;
  /** Whether large items can be decoded in another thread. */
  readonly #isMovable: boolean;
  readonly #interruption: Interruption | undefined;

  constructor(
    reader: ItemReader & { release(): void },
    { stats, query, interruption }: Pick<PageRequest, 'stats' | 'query' | 'interruption'>,
  ) {
    this.#reader = reader;
    this.#stats = stats;
    this.#isMovable = query.mover !== undefined;
    this.#interruption = interruption;
    this.itemCount = reader.itemCount;
    this.excludes = reader.excludes;
    this.ridsOf =
      reader.ridsOf &&
      ((termPrefix, limit, cachedLimit) =>
        this.#timed('indexMs', () => reader.ridsOf?.(termPrefix, limit, cachedLimit)));
  }

  scanItems(from: number, limit: number): ReturnType<ItemReader['scanItems']> {
    return this.#timed('loadMs', () => this.#reader.scanItems(from, limit));
  }

  readMany(rids: readonly number[]): MaybePromise<readonly (Candidate | undefined)[]> {
    return this.#timed('loadMs', () => this.#reader.readMany(rids));
  }

  scanIndex(range: KeyRange, options: KeyScanOptions): MaybePromise<IndexEntries> {
    return this.#timed('indexMs', () => this.#reader.scanIndex(range, options));
  }

  ridsFrom(termPrefix: Bytes, from: number): ReturnType<ItemReader['ridsFrom']> {
    return this.#timed('indexMs', () => this.#reader.ridsFrom(termPrefix, from));
  }

  ridsOfKey(from: KeyRange | undefined): ReturnType<NonNullable<ItemReader['ridsOfKey']>> {
    return this.#timed('indexMs', () => this.#reader.ridsOfKey?.(from));
  }

  ridsWithout(path: Path): MaybePromise<readonly number[]> {
    return this.#timed('indexMs', () => this.#reader.ridsWithout(path));
  }

  truncatedAt(entry: string, composite: CompositeMatch | undefined): number | undefined {
    return this.#reader.truncatedAt(entry, composite);
  }

  termsOf(path: Path): Bytes | undefined {
    return this.#reader.termsOf(path);
  }

  declaredWithin(limits: readonly IndexLimit[]): DeclaredRanges | undefined {
    return this.#reader.declaredWithin?.(limits);
  }

  countableWithin(limits: readonly IndexLimit[]): CountableRanges | undefined {
    return this.#reader.countableWithin?.(limits);
  }

  valuesIn(path: Path): ValuesInIndex | undefined {
    return this.#reader.valuesIn?.(path);
  }

  indexInOrder(
    id: number,
    parts: readonly CompositeOrder[],
    limits: readonly IndexLimit[],
  ): IndexInOrder | undefined {
    return this.#reader.indexInOrder?.(id, parts, limits);
  }

  compositeOf(
    parts: readonly CompositeOrder[],
    limits?: readonly IndexLimit[],
  ): CompositeMatch | undefined {
    return this.#reader.compositeOf(parts, limits);
  }

  readonly ridOf = (entry: string): number => this.#reader.ridOf(entry);

  valueOf(entry: string): Value | typeof TRUNCATED {
    return this.#reader.valueOf(entry);
  }

  isSameTerm(a: string, b: string): boolean {
    return this.#reader.isSameTerm(a, b);
  }

  compositeKey(match: CompositeMatch, values: readonly Value[]): Bytes {
    return this.#reader.compositeKey(match, values);
  }

  decode(item: Candidate): Value {
    if (this.#isMovable && item.body.length > DECODED_BYTES_MAX) throw new EvaluationTooLong(true);
    return this.#reader.decode(item);
  }

  hasTextIndex(path: Path): boolean {
    return this.#reader.hasTextIndex?.(path) === true;
  }

  async searchIndex(search: Search): Promise<SearchAccess | undefined> {
    return this.#timed('indexMs', async () => this.#reader.searchIndex?.(search));
  }

  isWithin(item: Candidate): boolean {
    return this.#reader.isWithin(item);
  }

  release(): void {
    this.#reader.release();
  }

  #timed<T>(part: 'indexMs' | 'loadMs', read: () => MaybePromise<T>): MaybePromise<T> {
    this.#interruption?.check();
    const startMs = performance.now();
    const result = read();
    if (!isPromise(result)) {
      this.#stats[part] += performance.now() - startMs;
      return result;
    }
    return result.then((value) => {
      this.#stats[part] += performance.now() - startMs;
      return value;
    });
  }
}
