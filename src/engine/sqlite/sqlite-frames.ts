/**
 * Batches on their way to the writer thread: one buffer that changes owner instead of a clone of every key.
 *
 * buffer := batch*    batch := list{expects} list{deleteRanges} list{deletes} list{puts} list{appends}
 * list := u32 count, item*
 * item := one or two byte strings    byte string := u32 length, bytes; length ffffffff means absent
 *
 * The format lives within one process and may change at will.
 */
import type { Bytes } from '../../base/index.ts';
import type { Batch, Entry, Expectation, KeyRange } from '../engine.ts';

const ABSENT = 0xffffffff;
const LENGTH_BYTES = 4;

/** The buffer belongs to the caller, who may transfer it. */
export function packBatches(batches: readonly Batch[]): ArrayBuffer {
  let size = 0;
  for (const batch of batches) size += packedBytes(batch);
  // Not from the pool, which could not be transferred, and not zeroed.
  const bytes = Buffer.allocUnsafeSlow(size);
  const writer = new FrameWriter(bytes);
  for (const {
    expects = [],
    deleteRanges = [],
    deletes = [],
    puts = [],
    appends = [],
  } of batches) {
    writer.length(expects.length);
    for (const { key, value } of expects) writer.pair(key, value);
    writer.length(deleteRanges.length);
    for (const { start, end } of deleteRanges) writer.pair(start, end);
    writer.length(deletes.length);
    for (const key of deletes) writer.string(key);
    writer.length(puts.length);
    for (const { key, value } of puts) writer.pair(key, value);
    writer.length(appends.length);
    for (const { key, value } of appends) writer.pair(key, value);
  }
  return bytes.buffer;
}

/** What a batch takes in a frame; also the measure of how much work waits for a store. */
export function packedBytes({ expects, deleteRanges, deletes, puts, appends }: Batch): number {
  let size = 5 * LENGTH_BYTES;
  if (expects !== undefined) for (const { key, value } of expects) size += pairBytes(key, value);
  if (deleteRanges !== undefined)
    for (const { start, end } of deleteRanges) size += pairBytes(start, end);
  if (deletes !== undefined) for (const key of deletes) size += LENGTH_BYTES + key.length;
  if (puts !== undefined) for (const { key, value } of puts) size += pairBytes(key, value);
  if (appends !== undefined) for (const { key, value } of appends) size += pairBytes(key, value);
  return size;
}

function pairBytes(first: Bytes, second: Bytes | undefined): number {
  return 2 * LENGTH_BYTES + first.length + (second?.length ?? 0);
}

/** The bytes of the batches are views into the buffer. */
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

  length(length: number): void {
    this.#at = this.#bytes.writeUInt32LE(length, this.#at);
  }

  string(string: Bytes): void {
    this.length(string.length);
    this.#bytes.set(string, this.#at);
    this.#at += string.length;
  }

  pair(first: Bytes, second: Bytes | undefined): void {
    this.string(first);
    if (second === undefined) this.length(ABSENT);
    else this.string(second);
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
    const string = new Uint8Array(this.#buffer, this.#at, length);
    this.#at += length;
    return string;
  }
}
