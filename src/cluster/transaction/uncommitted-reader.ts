/** The uncommitted items of a transaction for the query executor: all in memory, without an index. */
import { assert, type Bytes, type MaybePromise } from '../../base/index.ts';
import type {
  Candidate,
  CompositeMatch,
  CompositeOrder,
  IndexEntries,
  ItemReader,
} from '../../query/index.ts';
import type { Path, TRUNCATED, Value } from '../../value/index.ts';

export class UncommittedReader implements ItemReader {
  readonly #items: readonly Candidate[];
  readonly #decode: (item: Candidate) => Value;

  constructor(items: readonly Candidate[], decode: (item: Candidate) => Value) {
    this.#items = items.toSorted((a, b) => a.rid - b.rid);
    this.#decode = decode;
  }

  get itemCount(): number {
    return this.#items.length;
  }

  get excludes(): ItemReader['excludes'] {
    return { others: false, invisible: false };
  }

  scanItems(from: number, limit: number): ReturnType<ItemReader['scanItems']> {
    const left = this.#items.filter(({ rid }) => rid >= from);
    return { items: left.slice(0, limit), next: left[limit]?.rid };
  }

  readMany(rids: readonly number[]): MaybePromise<readonly (Candidate | undefined)[]> {
    return rids.map((rid) => this.#items.find((item) => item.rid === rid));
  }

  termsOf(_path: Path): Bytes | undefined {
    return undefined;
  }

  compositeOf(_parts: readonly CompositeOrder[]): CompositeMatch | undefined {
    return undefined;
  }

  decode(item: Candidate): Value {
    return this.#decode(item);
  }

  isWithin(): boolean {
    return true;
  }

  release(): void {}

  scanIndex(): MaybePromise<IndexEntries> {
    return noIndex();
  }

  ridsFrom(): ReturnType<ItemReader['ridsFrom']> {
    return noIndex();
  }

  ridsWithout(): MaybePromise<readonly number[]> {
    return noIndex();
  }

  truncatedAt(): number | undefined {
    return noIndex();
  }

  ridOf(): number {
    return noIndex();
  }

  valueOf(): Value | typeof TRUNCATED {
    return noIndex();
  }

  isSameTerm(): boolean {
    return noIndex();
  }

  compositeKey(): Bytes {
    return noIndex();
  }
}

function noIndex(): never {
  assert(false, 'there is no index to read');
}
