/** Posting lists of frequent values by their bytes in the JSON text, so that these need not be decoded. */
import { bytesEqualAt } from '../../base/index.ts';
import { CLOSING_BRACE, CLOSING_BRACKET, COMMA } from '../../value/index.ts';
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
  /** The value that followed it at this path the last time: consecutive items are similar. */
  next: CachedValueBytes | undefined;
}

/** A path is compared by identity and has a small number. */
interface Path {
  readonly id: number;
}

export class ValueBytesCache {
  readonly #slots: (CachedValueBytes | undefined)[] = [];
  /** The last value of each path, by the path's number. */
  readonly #last: (CachedValueBytes | undefined)[] = [];

  /** The value at `start`, where it is the expected one. */
  expected(path: Path, text: Buffer, start: number): CachedValueBytes | undefined {
    const cached = this.#last[path.id]?.next;
    if (cached === undefined || cached.path !== path) return undefined;
    const end = start + cached.text.length;
    const after = text[end];
    if (after !== COMMA && after !== CLOSING_BRACE && after !== CLOSING_BRACKET) return undefined;
    if (!isSame(text, start, end, cached.text)) return undefined;
    this.#last[path.id] = cached;
    return cached;
  }

  find(path: Path, text: Buffer, start: number, end: number): PostingList | undefined {
    const cached = this.#slots[slotFor(path, text, start, end)];
    if (cached === undefined || cached.path !== path || !isSame(text, start, end, cached.text))
      return undefined;
    this.#setLast(cached);
    return cached.list;
  }

  add(path: Path, text: Buffer, start: number, end: number, list: PostingList): void {
    if (end - start > TEXT_BYTES_MAX) return;
    while (this.#slots.length < SLOTS) this.#slots.push(undefined);
    // A copy, so that the cache does not keep the whole item.
    const own = Buffer.from(text.subarray(start, end));
    const cached: CachedValueBytes = { path, text: own, list, next: undefined };
    this.#slots[slotFor(path, text, start, end)] = cached;
    this.#setLast(cached);
  }

  #setLast(cached: CachedValueBytes): void {
    const { id } = cached.path;
    while (this.#last.length <= id) this.#last.push(undefined);
    const last = this.#last[id];
    if (last !== undefined) last.next = cached;
    cached.next ??= cached;
    this.#last[id] = cached;
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
