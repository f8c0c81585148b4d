/**
 * Batches on their way to the writer thread: one buffer that changes owner instead of a clone of every key.
 *
 * buffer := batch*    batch := list{expects} list{deleteRanges} list{deletes} list{puts} list{appends}
 * list := u32 count, item*
 * item := one or two byte strings    byte string := u32 length, bytes; length ffffffff means absent
 *
 * The format lives within one process and may change at will.
 */
import { type Bytes, EMPTY_BYTES } from '../../../base/index.ts';
import type { Batch, Entry, Expectation, KeyRange } from '../../engine.ts';

const ABSENT = 0xffffffff;
const LENGTH_BYTES = 4;
const NONE: readonly never[] = [];

/** The buffer belongs to the caller, who may transfer it. */
export function packBatches(batches: readonly Batch[]): ArrayBuffer {
  let size = 0;
  for (const batch of batches) size += packedBytes(batch);
  // Not from the pool, which could not be transferred, and not zeroed.
  const bytes = Buffer.allocUnsafeSlow(size);
  const writer = new FrameWriter(bytes);
  for (const { expects, deleteRanges, deletes, puts, appends } of batches) {
    writer.entries(expects);
    writer.ranges(deleteRanges);
    writer.keys(deletes);
    writer.entries(puts);
    writer.entries(appends);
  }
  return bytes.buffer;
}

/** Bytes of a batch in a frame; also the measure of how much is queued for a store. */
export function packedBytes({ expects, deleteRanges, deletes, puts, appends }: Batch): number {
  let size = 5 * LENGTH_BYTES + entriesBytes(expects) + entriesBytes(puts) + entriesBytes(appends);
  if (deleteRanges !== undefined)
    for (const { start, end } of deleteRanges) size += pairBytes(start, end);
  if (deletes !== undefined) for (const key of deletes) size += LENGTH_BYTES + key.length;
  return size;
}

// A loop without an iterator: this code runs too rarely to be optimised, and each iterator step would allocate.
function entriesBytes(entries: readonly Expectation[] = NONE): number {
  let size = 0;
  for (let at = 0; at < entries.length; at++) {
    const { key, value } = entries[at] as Expectation;
    size += pairBytes(key, value);
  }
  return size;
}

function pairBytes(first: Bytes, second: Bytes | undefined): number {
  return 2 * LENGTH_BYTES + first.length + (second?.length ?? 0);
}

/** The bytes of the batches are views of the buffer. */
export function unpackBatches(buffer: ArrayBuffer): Required<Batch>[] {
  const reader = new FrameReader(buffer);
  const batches: Required<Batch>[] = [];
  while (reader.hasMore()) {
    const expects: Expectation[] = [];
    for (let count = reader.length(); count > 0; count--)
      expects.push({ key: reader.string(), value: reader.optional() });
    const deleteRanges: KeyRange[] = [];
    for (let count = reader.length(); count > 0; count--)
      deleteRanges.push({ start: reader.string(), end: reader.optional() });
    const deletes: Bytes[] = [];
    for (let count = reader.length(); count > 0; count--) deletes.push(reader.string());
    const puts: Entry[] = [];
    for (let count = reader.length(); count > 0; count--)
      puts.push({ key: reader.string(), value: reader.string() });
    const appends: Entry[] = [];
    for (let count = reader.length(); count > 0; count--)
      appends.push({ key: reader.string(), value: reader.string() });
    batches.push({ expects, deleteRanges, deletes, puts, appends });
  }
  return batches;
}

class FrameWriter {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  #length(length: number): void {
    this.#at = this.#bytes.writeUInt32LE(length, this.#at);
  }

  #string(string: Bytes): void {
    this.#length(string.length);
    this.#bytes.set(string, this.#at);
    this.#at += string.length;
  }

  entries(entries: readonly Expectation[] = NONE): void {
    this.#length(entries.length);
    for (let at = 0; at < entries.length; at++) {
      const { key, value } = entries[at] as Expectation;
      this.#string(key);
      this.#optional(value);
    }
  }

  ranges(ranges: readonly KeyRange[] = NONE): void {
    this.#length(ranges.length);
    for (const { start, end } of ranges) {
      this.#string(start);
      this.#optional(end);
    }
  }

  keys(keys: readonly Bytes[] = NONE): void {
    this.#length(keys.length);
    for (const key of keys) this.#string(key);
  }

  #optional(string: Bytes | undefined): void {
    if (string === undefined) this.#length(ABSENT);
    else this.#string(string);
  }
}

class FrameReader {
  readonly #buffer: ArrayBuffer;
  readonly #view: DataView;
  #at = 0;

  constructor(buffer: ArrayBuffer) {
    this.#buffer = buffer;
    this.#view = new DataView(buffer);
  }

  hasMore(): boolean {
    return this.#at < this.#buffer.byteLength;
  }

  length(): number {
    const length = this.#view.getUint32(this.#at, true);
    this.#at += LENGTH_BYTES;
    return length;
  }

  string(): Bytes {
    const string = this.optional();
    if (string === undefined) throw new RangeError('a frame lacks a byte string');
    return string;
  }

  optional(): Bytes | undefined {
    const length = this.length();
    if (length === ABSENT) return undefined;
    if (length === 0) return EMPTY_BYTES;
    const string = new Uint8Array(this.#buffer, this.#at, length);
    this.#at += length;
    return string;
  }
}
