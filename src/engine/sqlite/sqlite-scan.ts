/**
 * Scans over one connection. A short page is read row by row; a longer one in chunks, each of them one row of all its
 * bytes and one text of all its lengths (see `packedScanText`): half the CPU at 100 entries, a third without values.
 */
import type { StatementSync } from 'node:sqlite';
import { type Bytes, EMPTY_BYTES } from '../../base/index.ts';
import { KEY_BYTES_MAX } from '../checks.ts';
import type { Entry, KeyRange, ScanOptions, ScanPage } from '../engine.ts';
import { packedScanText, type ScanKind, scanText } from './sqlite-statements.ts';

/** Up to here rows one by one are cheaper; measured with values of 1 KB. */
const PLAIN_ROWS_MAX = 10;
const CHUNK_ROWS_MIN = 16;
const CHUNK_ROWS_MAX = 256;
/** Longer values are read one by one when the page really takes them, which bounds what a chunk reads in vain. */
const CHUNK_VALUE_BYTES_MAX = 16 * 1024;
/** What an entry takes where nothing is known yet. */
const ENTRY_BYTES_GUESS = 1024;
/** Greater than every key, so that a range without end needs no statement of its own. */
export const AFTER_ALL_KEYS: Bytes = new Uint8Array(KEY_BYTES_MAX + 1).fill(0xff);

/** What a scan needs of its connection. */
export interface ScanConnection {
  prepare(text: string): StatementSync;
  get(key: Bytes): Bytes | undefined;
  follow(key: Bytes, prefix: number): Bytes | undefined;
  /** All that is read within is of one moment. */
  atOneMoment<T>(read: () => T): T;
}

export class SqliteScans {
  readonly #connection: ScanConnection;
  readonly #statements = new Map<string, StatementSync>();

  constructor(connection: ScanConnection) {
    this.#connection = connection;
  }

  scan(range: KeyRange, options: ScanOptions): ScanPage {
    return options.limit <= PLAIN_ROWS_MAX
      ? this.#scanRows(range, options)
      : this.#connection.atOneMoment(() => this.#scanChunks(range, options));
  }

  #scanRows(range: KeyRange, options: ScanOptions): ScanPage {
    const { limit, bytesMax } = options;
    const statement = this.#statement(options, false);
    const rows: Iterable<unknown> = statement.iterate(...parameters(range, options, limit + 1));
    const entries: Entry[] = [];
    let bytes = 0;
    for (const row of rows) {
      if (entries.length === limit || bytes >= bytesMax) return { entries, more: true };
      const [key, value = EMPTY_BYTES] = row as readonly [Bytes, Bytes?];
      entries.push({ key, value });
      bytes += key.length + value.length;
    }
    return { entries, more: false };
  }

  /** One entry more than asked for is looked at, to know whether there is more. */
  #scanChunks(range: KeyRange, options: ScanOptions): ScanPage {
    const { limit, bytesMax, keysOnly = false } = options;
    const statement = this.#statement(options, true);
    const entries: Entry[] = [];
    let bytes = 0;
    for (let rest = range; ; rest = restOf(rest, entries, options)) {
      const entryBytes = entries.length === 0 ? ENTRY_BYTES_GUESS : bytes / entries.length;
      const rows = chunkRows(limit + 1 - entries.length, (bytesMax - bytes) / entryBytes);
      const row: unknown = statement.get(...parameters(rest, options, rows));
      const [packed, lengths] = row as readonly [Bytes | null, string | null];
      if (packed === null || lengths === null) return { entries, more: false };
      const chunk = new PackedChunk(packed, lengths, !keysOnly);
      let count = 0;
      for (; chunk.next(); count++) {
        if (entries.length === limit || bytes >= bytesMax) return { entries, more: true };
        const { key } = chunk;
        const value = chunk.value ?? this.#largeValue(key, options);
        entries.push({ key, value });
        bytes += key.length + value.length;
      }
      if (count < rows) return { entries, more: false };
    }
  }

  #largeValue(key: Bytes, { follow }: ScanOptions): Bytes {
    const value =
      follow === undefined ? this.#connection.get(key) : this.#connection.follow(key, follow);
    return value ?? EMPTY_BYTES;
  }

  #statement(options: ScanOptions, packed: boolean): StatementSync {
    const { reverse = false, keysOnly = false, follow } = options;
    const kind: ScanKind = keysOnly ? 'keysOnly' : follow === undefined ? 'values' : 'follow';
    const name = `${kind} ${reverse} ${packed}`;
    let statement = this.#statements.get(name);
    if (statement === undefined) {
      statement = this.#connection.prepare(
        packed ? packedScanText(kind, reverse, CHUNK_VALUE_BYTES_MAX) : scanText(kind, reverse),
      );
      this.#statements.set(name, statement);
    }
    return statement;
  }
}

function parameters(
  { start, end = AFTER_ALL_KEYS }: KeyRange,
  { follow }: ScanOptions,
  rows: number,
): (Bytes | number)[] {
  return follow === undefined ? [start, end, rows] : [Uint8Array.of(follow), start, end, rows];
}

function chunkRows(wanted: number, affordable: number): number {
  const useful = Math.min(Math.max(Math.ceil(affordable) + 1, CHUNK_ROWS_MIN), CHUNK_ROWS_MAX);
  return Math.min(wanted, useful);
}

/** What lies behind the last entry in the direction of the scan. */
function restOf(range: KeyRange, entries: readonly Entry[], { reverse }: ScanOptions): KeyRange {
  const last = entries.at(-1);
  if (last === undefined) return range;
  if (reverse === true) return { start: range.start, end: last.key };
  const start = new Uint8Array(last.key.length + 1);
  start.set(last.key);
  return { start, end: range.end };
}

/** Entries as views into the bytes of a chunk. */
class PackedChunk {
  key: Bytes = EMPTY_BYTES;
  /** Undefined where the value is too long to be in the chunk. */
  value: Bytes | undefined = EMPTY_BYTES;
  readonly #bytes: Bytes;
  readonly #lengths: string;
  readonly #hasValues: boolean;
  #byteAt = 0;
  #lengthAt = 0;

  constructor(bytes: Bytes, lengths: string, hasValues: boolean) {
    this.#bytes = bytes;
    this.#lengths = lengths;
    this.#hasValues = hasValues;
  }

  next(): boolean {
    if (this.#lengthAt >= this.#lengths.length) return false;
    this.key = this.#take(this.#length());
    if (!this.#hasValues) return true;
    const length = this.#length();
    this.value = length > CHUNK_VALUE_BYTES_MAX ? undefined : this.#take(length);
    return true;
  }

  #take(length: number): Bytes {
    const from = this.#byteAt;
    this.#byteAt += length;
    return this.#bytes.subarray(from, this.#byteAt);
  }

  /** The next decimal number of the text, and the space behind it. */
  #length(): number {
    let length = 0;
    while (this.#lengthAt < this.#lengths.length) {
      const digit = this.#lengths.charCodeAt(this.#lengthAt++) - 48;
      if (digit < 0) break;
      length = length * 10 + digit;
    }
    return length;
  }
}
