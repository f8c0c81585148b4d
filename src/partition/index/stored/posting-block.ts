/**
 * Entries of one term prefix with neighbouring rids as one row of the store: where many items have a value, two bytes
 * each replace as many keys. New rids are appended, which the store does without reading the row.
 *
 *   24 terms, 25 composites   term prefix without its first byte · rid8 of the last possible rid → u16 offset each, any order
 *
 * The key is the upper end, so that a scan from any entry on begins with the block that the entry would be in.
 */
import { type Bytes, bytesToLatin1 } from '../../../base/index.ts';
import type { Entry, KeyRange } from '../../../engine/index.ts';
import type { Rid } from '../../item/item.ts';
import { ridText } from '../memory/index-run.ts';

/** Rids of one block: 2 KB at most, read and written as a whole. */
const BLOCK_RIDS = 1024;
/** Difference between the key prefix of a block and that of its entries. */
const PREFIX_STEP = 4;
const RID_BYTES = 8;

/** The number of the block of a rid. */
export function blockNumber(rid: Rid): number {
  return Math.floor(rid / BLOCK_RIDS);
}

export function blockKey(termPrefix: string, block: number): Bytes {
  const key = termPrefix.slice(1) + ridText(block * BLOCK_RIDS + BLOCK_RIDS - 1);
  return Buffer.from(String.fromCharCode(termPrefix.charCodeAt(0) + PREFIX_STEP) + key, 'latin1');
}

export function encodeBlock(rids: readonly Rid[]): Bytes {
  const value = Buffer.allocUnsafe(rids.length * 2);
  rids.forEach((rid, at) => {
    value.writeUInt16BE(rid % BLOCK_RIDS, at * 2);
  });
  return value;
}

/** Offsets of rids in their block, ascending, each once. */
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

/** The block without some of its rids; undefined where none is left. */
export function withoutRids(value: Bytes, removed: readonly Rid[]): Bytes | undefined {
  const removedOffsets = new Set(removed.map((rid) => rid % BLOCK_RIDS));
  const kept = decodeOffsets(value).filter((offset) => !removedOffsets.has(offset));
  return kept.length === 0 ? undefined : encodeBlock(kept);
}

/** A stored block, whose entries are made on demand. */
export class PostingBlock {
  /** Bounds of the possible entries; the block need not have them. */
  readonly first: string;
  readonly last: string;
  readonly #common: string;
  readonly #upper: number;
  readonly #value: Bytes;
  #offsets: readonly number[] | undefined;

  constructor({ key, value }: Entry) {
    const text = bytesToLatin1(key);
    // Entries of a block differ in the last ten bits.
    this.#common = String.fromCharCode(text.charCodeAt(0) - PREFIX_STEP) + text.slice(1, -2);
    this.#upper = (key[key.length - 2] as number) & 0xfc;
    this.#value = value;
    this.first = this.#at(0);
    this.last = this.#at(BLOCK_RIDS - 1);
  }

  get size(): number {
    return this.#sortedOffsets().length;
  }

  /** In order. */
  entry(at: number): string {
    return this.#at(this.#sortedOffsets()[at] as number);
  }

  #sortedOffsets(): readonly number[] {
    this.#offsets ??= decodeOffsets(this.#value);
    return this.#offsets;
  }

  #at(offset: number): string {
    return this.#common + String.fromCharCode(this.#upper | (offset >>> 8), offset & 0xff);
  }
}

/** Adds the rids of a block, ascending. */
export function addBlockRids({ key, value }: Entry, rids: Rid[]): void {
  // Rids of a block differ in the last ten bits of the key.
  let first = 0;
  for (let at = key.length - RID_BYTES; at < key.length; at++)
    first = first * 256 + (key[at] as number);
  first -= BLOCK_RIDS - 1;
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

/** The blocks of a range of entries. Entries at its end may be in a block after it. */
export function blockRange({ start, end }: KeyRange): KeyRange {
  return { start: moved(start), end: end && moved(end) };
}

/** The shortest key of a block: a prefix, the number of an index, one byte of a value, a rid. */
const BLOCK_KEY_BYTES_MIN = 1 + 2 + 1 + RID_BYTES;

/** The range of the one block that a range of entries may end in; undefined where its end is too short. */
export function blockRangeAfter(end: Bytes): KeyRange | undefined {
  if (end.length < BLOCK_KEY_BYTES_MIN - 2) return undefined;
  const start = moved(end);
  return { start, end: Uint8Array.of((start[0] as number) + 1) };
}

function moved(key: Bytes): Bytes {
  const copy = Uint8Array.prototype.slice.call(key);
  copy[0] = (copy[0] as number) + PREFIX_STEP;
  return copy;
}

/** The term prefix of an entry. */
export function termPrefixOfEntry(entry: string): string {
  return entry.slice(0, -RID_BYTES);
}
