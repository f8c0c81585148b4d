/** Posting lists of frequent values by their bytes in the JSON text, so that these need not be decoded. */
import { bytesEqualAt } from '../../../base/index.ts';
import type { PostingList } from './posting-lists.ts';

/** Slots of the cache; a new value replaces another one. */
const SLOTS = 1024;

/** Longer texts are not kept; see `isCacheable`. */
const TEXT_BYTES_MAX = 1024;

/** Most values differ in their last bytes. */
const HASHED_BYTES = 24;

/** From this length on a native comparison is faster. */
const LONG_BYTES = 64;

interface CachedValueBytes {
  /** The path it is a value of. */
  readonly path: Path;
  readonly text: Buffer;
  readonly list: PostingList;
}

/** A path is compared by identity and has a small number. */
interface Path {
  readonly id: number;
}

export class ValueBytesCache {
  readonly #slots: (CachedValueBytes | undefined)[] = [];

  find(path: Path, text: Buffer, start: number, end: number): PostingList | undefined {
    const cached = this.#slots[slotFor(path, text, start, end)];
    if (cached === undefined || cached.path !== path || !isSame(text, start, end, cached.text))
      return undefined;
    return cached.list;
  }

  add(path: Path, text: Buffer, start: number, end: number, list: PostingList): void {
    if (end - start > TEXT_BYTES_MAX) return;
    while (this.#slots.length < SLOTS) this.#slots.push(undefined);
    // A copy, so that the cache does not keep the whole item.
    const own = Buffer.from(text.subarray(start, end));
    this.#slots[slotFor(path, text, start, end)] = { path, text: own, list };
  }
}

function slotFor({ id }: Path, text: Buffer, start: number, end: number): number {
  let hash = id + end - start;
  for (let at = Math.max(start, end - HASHED_BYTES); at < end; at++)
    hash = (Math.imul(hash, 31) + (text[at] as number)) | 0;
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

function isSame(text: Buffer, start: number, end: number, other: Buffer): boolean {
  const { length } = other;
  if (end - start !== length) return false;
  if (length < LONG_BYTES) return bytesEqualAt(text, start, end, other);
  return text.compare(other, 0, length, start, end) === 0;
}
