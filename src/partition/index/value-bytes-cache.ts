/** Values of an item's text whose postings are known by their bytes: finding one so needs no value to be made of them. */
import { bytesEqualAt } from '../../base/index.ts';
import type { PostingList } from './posting-lists.ts';

/** As many values as come again and again; each new one takes the place of another. */
const SLOTS = 1024;

/** Longer texts are not kept; see `isCacheable`. */
const TEXT_BYTES_MAX = 1024;

/** Values are mostly told apart by their last bytes. */
const HASHED_BYTES = 24;

/** From here on a native comparison is the shorter one. */
const LONG_BYTES = 64;

interface CachedValueBytes {
  /** The path it is a value of. */
  readonly path: Path;
  readonly text: Buffer;
  readonly posting: PostingList;
}

/** What is asked of a path: that it is the same one, and its small number. */
interface Path {
  readonly id: number;
}

export class ValueBytesCache {
  readonly #slots: (CachedValueBytes | undefined)[] = [];

  find(path: Path, text: Buffer, start: number, end: number): PostingList | undefined {
    const known = this.#slots[slotOf(path, text, start, end)];
    if (known === undefined || known.path !== path || !isSame(text, start, end, known.text))
      return undefined;
    return known.posting;
  }

  add(path: Path, text: Buffer, start: number, end: number, posting: PostingList): void {
    if (end - start > TEXT_BYTES_MAX) return;
    while (this.#slots.length < SLOTS) this.#slots.push(undefined);
    // A copy: the rest of the item is not to be kept.
    const own = Buffer.from(text.subarray(start, end));
    this.#slots[slotOf(path, text, start, end)] = { path, text: own, posting };
  }
}

function slotOf({ id }: Path, text: Buffer, start: number, end: number): number {
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
