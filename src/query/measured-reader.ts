/** A partition's reader that adds the time spent in the index and in loading items to the work. */
import { type Bytes, EvaluationTooLong, isPromise, type MaybePromise } from '../base/index.ts';
import type { KeyRange, KeyScanOptions } from '../engine/index.ts';
import type { IN_PART, Path, Value } from '../value/index.ts';
import type { Program } from './program.ts';
import type {
  Candidate,
  CompositeMatch,
  CompositeOrder,
  IndexEntries,
  ItemReader,
} from './reader.ts';
import type { Search, SearchAccess } from './search.ts';
import type { Work } from './work.ts';

/** Larger items take more than some milliseconds to decode, in which nobody is served. */
const DECODED_BYTES_MAX = 512 * 1024;

export function measured(
  reader: ItemReader & { release(): void },
  { work, program }: { readonly work: Work; readonly program: Program },
): MeasuredReader {
  return new MeasuredReader(reader, work, program.mover !== undefined);
}

export class MeasuredReader implements ItemReader {
  readonly itemCount: number;
  readonly leavesOut: ItemReader['leavesOut'];
  readonly ridsOf: ItemReader['ridsOf'];
  readonly #reader: ItemReader & { release(): void };
  readonly #work: Work;
  readonly #isMovable: boolean;

  /** @param isMovable - whether items that take long to decode can be decoded elsewhere. */
  constructor(reader: ItemReader & { release(): void }, work: Work, isMovable: boolean) {
    this.#reader = reader;
    this.#work = work;
    this.#isMovable = isMovable;
    this.itemCount = reader.itemCount;
    this.leavesOut = reader.leavesOut;
    this.ridsOf =
      reader.ridsOf &&
      ((stem, limit, knownLimit) =>
        this.#timed('indexMs', () => reader.ridsOf?.(stem, limit, knownLimit)));
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

  valueOf(entry: string): Value | typeof IN_PART {
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
      this.#work[part] += performance.now() - startMs;
      return result;
    }
    return result.then((later) => {
      this.#work[part] += performance.now() - startMs;
      return later;
    });
  }
}
