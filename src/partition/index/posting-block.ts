/**
 * Entries of one stem and neighbouring rids as one row of the store: where a value is that of many items, a list of two
 * bytes each takes the place of as many keys. A list only grows at its end, which the store can do without reading it.
 *
 *   24 terms, 25 composites   stem without its prefix · rid8 of the last that may be in it → u16 offset each, any order
 *
 * The key is the upper end, so that a scan from any entry on begins with the list that the entry would be in.
 */
import { type Bytes, bytesToLatin1 } from '../../base/index.ts';
import type { Entry, KeyRange } from '../../engine/index.ts';
import type { Rid } from '../item/item.ts';
import { ridText } from './index-run.ts';

/** Rids of one list: 2 KB at most, read and written in one piece. */
const CHUNK_RIDS = 1024;
/** Between the prefix of an entry and that of the lists of its kind. */
const PREFIX_STEP = 4;
const RID_BYTES = 8;

/** Which list of its stem a rid belongs to. */
export function blockNumber(rid: Rid): number {
  return Math.floor(rid / CHUNK_RIDS);
}

export function blockKey(stem: string, chunk: number): Bytes {
  const key = stem.slice(1) + ridText(chunk * CHUNK_RIDS + CHUNK_RIDS - 1);
  return Buffer.from(String.fromCharCode(stem.charCodeAt(0) + PREFIX_STEP) + key, 'latin1');
}

export function encodeBlock(rids: readonly Rid[]): Bytes {
  const value = Buffer.allocUnsafe(rids.length * 2);
  rids.forEach((rid, at) => {
    value.writeUInt16BE(rid % CHUNK_RIDS, at * 2);
  });
  return value;
}

/** Places of rids in their list, ascending, each once. */
function decodeOffsets(value: Bytes): readonly number[] {
  const offsets: number[] = [];
  let isAscending = true;
  for (let at = 0; at + 1 < value.length; at += 2) {
    const offset = ((value[at] as number) << 8) | (value[at + 1] as number);
    isAscending &&= offset > (offsets.at(-1) ?? -1);
    offsets.push(offset);
  }
  return isAscending ? offsets : [...new Set(offsets)].sort((a, b) => a - b);
}

/** The same list without some of its rids; undefined where nothing is left. */
export function withoutRids(value: Bytes, removed: readonly Rid[]): Bytes | undefined {
  const gone = new Set(removed.map((rid) => rid % CHUNK_RIDS));
  const kept = decodeOffsets(value).filter((offset) => !gone.has(offset));
  return kept.length === 0 ? undefined : encodeBlock(kept);
}

/** A list as it is read: its entries are texts only when somebody wants them. */
export class PostingBlock {
  /** No entry of the list is below the first or above the last, whether it is in it or not. */
  readonly first: string;
  readonly last: string;
  readonly #common: string;
  readonly #upper: number;
  readonly #value: Bytes;
  #offsets: readonly number[] | undefined;

  constructor({ key, value }: Entry) {
    const text = bytesToLatin1(key);
    // The last ten bits of the key are those that differ within the list.
    this.#common = String.fromCharCode(text.charCodeAt(0) - PREFIX_STEP) + text.slice(1, -2);
    this.#upper = (key[key.length - 2] as number) & 0xfc;
    this.#value = value;
    this.first = this.#at(0);
    this.last = this.#at(CHUNK_RIDS - 1);
  }

  get size(): number {
    return this.#list().length;
  }

  /** In order. */
  entry(at: number): string {
    return this.#at(this.#list()[at] as number);
  }

  #list(): readonly number[] {
    this.#offsets ??= decodeOffsets(this.#value);
    return this.#offsets;
  }

  #at(offset: number): string {
    return this.#common + String.fromCharCode(this.#upper | (offset >>> 8), offset & 0xff);
  }
}

/** Adds the rids of a list, ascending. */
export function addBlockRids({ key, value }: Entry, rids: Rid[]): void {
  // The last ten bits of the key are those that differ within the list.
  let first = 0;
  for (let at = key.length - RID_BYTES; at < key.length; at++)
    first = first * 256 + (key[at] as number);
  first -= CHUNK_RIDS - 1;
  const sizeBefore = rids.length;
  let last = -1;
  for (let at = 0; at + 1 < value.length; at += 2) {
    const offset = ((value[at] as number) << 8) | (value[at + 1] as number);
    if (offset <= last) {
      rids.length = sizeBefore;
      for (const sorted of decodeOffsets(value)) rids.push(first + sorted);
      return;
    }
    rids.push(first + offset);
    last = offset;
  }
}

/** Where the lists of a range of entries are. Entries at its end may be in a list behind it. */
export function blockRange({ start, end }: KeyRange): KeyRange {
  return { start: moved(start), end: end && moved(end) };
}

/** The shortest key of a list: a prefix, the number of an index, one byte of a value, a rid. */
const CHUNK_KEY_BYTES_MIN = 1 + 2 + 1 + RID_BYTES;

/** Where the one list is to be looked for that a range may end in; undefined where its end is too short to be in one. */
export function blockRangeAfter(end: Bytes): KeyRange | undefined {
  if (end.length < CHUNK_KEY_BYTES_MIN - 2) return undefined;
  const start = moved(end);
  return { start, end: Uint8Array.of((start[0] as number) + 1) };
}

function moved(key: Bytes): Bytes {
  const copy = Uint8Array.prototype.slice.call(key);
  copy[0] = (copy[0] as number) + PREFIX_STEP;
  return copy;
}

/** The stem of an entry, and its rid. */
export function termPrefixOfBlock(entry: string): string {
  return entry.slice(0, -RID_BYTES);
}
