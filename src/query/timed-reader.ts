/** A reader that adds the time spent in the index and in loading items to the execution stats. */
import { type Bytes, EvaluationTooLong, isPromise, type MaybePromise } from '../base/index.ts';
import type { KeyRange, KeyScanOptions } from '../engine/index.ts';
import type { Path, TRUNCATED, Value } from '../value/index.ts';
import type { ExecutableQuery } from './executable-query.ts';
import type { ExecutionStats } from './execution-stats.ts';
import type {
  Candidate,
  CompositeMatch,
  CompositeOrder,
  IndexEntries,
  ItemReader,
} from './reader.ts';
import type { Search, SearchAccess } from './search.ts';

/** Larger items are decoded in another thread: here they would block the event loop for some milliseconds. */
const DECODED_BYTES_MAX = 512 * 1024;

export function timed(
  reader: ItemReader & { release(): void },
  { stats, query }: { readonly stats: ExecutionStats; readonly query: ExecutableQuery },
): TimedReader {
  return new TimedReader(reader, stats, query.mover !== undefined);
}

export class TimedReader implements ItemReader {
  readonly itemCount: number;
  readonly excludes: ItemReader['excludes'];
  readonly ridsOf: ItemReader['ridsOf'];
  readonly #reader: ItemReader & { release(): void };
  readonly #stats: ExecutionStats;
  readonly #isMovable: boolean;

  /** @param isMovable - whether large items can be decoded in another thread. */
  constructor(reader: ItemReader & { release(): void }, stats: ExecutionStats, isMovable: boolean) {
    this.#reader = reader;
    this.#stats = stats;
    this.#isMovable = isMovable;
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

  ridsWithout(path: Path): MaybePromise<readonly number[]> {
    return this.#timed('indexMs', () => this.#reader.ridsWithout(path));
  }

  cutAt(entry: string, composite: CompositeMatch | undefined): number | undefined {
    return this.#reader.cutAt(entry, composite);
  }

  termsOf(path: Path): Bytes | undefined {
    return this.#reader.termsOf(path);
  }

  compositeOf(parts: readonly CompositeOrder[]): CompositeMatch | undefined {
    return this.#reader.compositeOf(parts);
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
