/**
 * Scans over one connection, in chunks. Each chunk is one row: all its bytes, and one text of all their lengths (see
 * `packedScanText`). That is as cheap as a row per entry for one entry, half the CPU at 16 entries, a third without
 * values.
 */
import type { StatementSync } from 'node:sqlite';
import { append, type Bytes, bytesToLatin1, EMPTY_BYTES } from '../../../base/index.ts';
import type {
  Entry,
  KeyPage,
  KeyRange,
  KeyScanOptions,
  ScanOptions,
  ScanPage,
} from '../../engine.ts';
import { INTEGER_KEY_PREFIX, integersWithin } from '../../integer-keys.ts';
import { NULL_LENGTH, packedScanText, type ScanKind } from '../sqlite-statements.ts';
import { type TableRange, tableRanges } from './sqlite-ranges.ts';

const CHUNK_ROWS_MIN = 16;
const CHUNK_ROWS_MAX = 256;
const KEY_CHUNK_ROWS_MAX = 1024;
/** The estimate for an entry before the first chunk. */
const ENTRY_BYTES_ESTIMATE = 1024;
/** The methods of a connection that a scan needs. */
export interface ScanConnection {
  prepare(text: string): StatementSync;
  get(key: Bytes): Bytes | undefined;
  dereference(key: Bytes, prefix: number): Bytes | undefined;
  /** All reads of `read` see one state. */
  inReadTransaction<T>(read: () => T): T;
}

/** Statements are prepared at first use. */
type Statements = { [kind in ScanKind]?: StatementSync };

export class SqliteScans {
  readonly #connection: ScanConnection;
  readonly #forwards: Statements = {};
  readonly #backwards: Statements = {};

  constructor(connection: ScanConnection) {
    this.#connection = connection;
  }

  scan(range: KeyRange, options: ScanOptions): ScanPage {
    return this.#connection.inReadTransaction(() => {
      const page = scanTables(range, options, (part, rest) => this.#scanChunks(part, rest));
      return { entries: page.found, more: page.more };
    });
  }

  /** The same for keys alone. Chunks are larger, since the unused rest of a chunk costs only a few bytes. */
  scanKeys(range: KeyRange, options: KeyScanOptions): KeyPage {
    return this.#connection.inReadTransaction(() => {
      const page = scanTables(range, options, (part, rest) => this.#scanKeyChunks(part, rest));
      return { keys: page.found, more: page.more };
    });
  }

  #scanKeyChunks(range: TableRange, options: KeyScanOptions): Page<string> {
    const { limit, bytesMax, reverse = false } = options;
    const statement = this.#statement(range.isIntegerKeyed ? 'integerKeys' : 'keys', reverse);
    const keys: string[] = [];
    let bytes = 0;
    for (let rest = range; ; ) {
      const rows = Math.min(limit + 1 - keys.length, KEY_CHUNK_ROWS_MAX);
      const row: unknown = statement.get(...parameters(rest, options, rows));
      const [packed, lengths] = row as readonly [Bytes | null, string | null];
      if (packed === null || lengths === null) return { found: keys, bytes, more: false };
      const text = bytesToLatin1(packed);
      const sizes = new Lengths(lengths);
      let at = 0;
      let count = 0;
      for (; sizes.hasMore; count++) {
        if (keys.length === limit || bytes >= bytesMax) return { found: keys, bytes, more: true };
        const length = sizes.next();
        keys.push(text.slice(at, at + length));
        at += length;
        bytes += length;
      }
      if (count < rows) return { found: keys, bytes, more: false };
      rest = rangeAfter(rest, Buffer.from(keys.at(-1) ?? '', 'latin1'), reverse);
    }
  }

  /** Reads one entry more than the limit, to know whether there are more. */
  #scanChunks(range: TableRange, options: ScanOptions): Page<Entry> {
    const { limit, bytesMax } = options;
    const statement = this.#statement(kindOf(range, options), options.reverse === true);
    const entries: Entry[] = [];
    let bytes = 0;
    for (let rest = range; ; rest = restOf(rest, entries, options)) {
      const entryBytes = entries.length === 0 ? ENTRY_BYTES_ESTIMATE : bytes / entries.length;
      const rows = chunkRows(limit + 1 - entries.length, (bytesMax - bytes) / entryBytes);
      const row: unknown = statement.get(...parameters(rest, options, rows));
      const [packed, lengths] = row as readonly [Bytes | null, string | null];
      if (packed === null || lengths === null) return { found: entries, bytes, more: false };
      const chunk = new PackedChunk(packed, lengths);
      let count = 0;
      for (; chunk.next(); count++) {
        if (entries.length === limit || bytes >= bytesMax)
          return { found: entries, bytes, more: true };
        const { key } = chunk;
        const value = chunk.value ?? this.#largeValue(key, options);
        entries.push({ key, value });
        bytes += key.length + value.length;
      }
      if (count < rows) return { found: entries, bytes, more: false };
    }
  }

  #largeValue(key: Bytes, { dereference }: ScanOptions): Bytes {
    const value =
      dereference === undefined
        ? this.#connection.get(key)
        : this.#connection.dereference(key, dereference);
    return value ?? EMPTY_BYTES;
  }

  #statement(kind: ScanKind, reverse: boolean): StatementSync {
    const statements = reverse ? this.#backwards : this.#forwards;
    let statement = statements[kind];
    if (statement === undefined) {
      statement = this.#connection.prepare(packedScanText(kind, reverse));
      statements[kind] = statement;
    }
    return statement;
  }
}

interface Page<T> {
  readonly found: readonly T[];
  /** Bytes of the found entries. */
  readonly bytes: number;
  readonly more: boolean;
}

/** Scans one table after the other until the page is full, then only checks whether there are more entries. */
function scanTables<T, Options extends ScanOptions>(
  range: KeyRange,
  options: Options,
  scan: (part: TableRange, options: Options) => Page<T>,
): Page<T> {
  const { limit, bytesMax, reverse } = options;
  const parts = tableRanges(range, options);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return scan(only, options);
  const found: T[] = [];
  let bytes = 0;
  for (const part of reverse === true ? parts.toReversed() : parts) {
    const isFull = found.length === limit || bytes >= bytesMax;
    const rest = isFull
      ? { ...options, limit: 1, bytesMax: 1 }
      : { ...options, limit: limit - found.length, bytesMax: bytesMax - bytes };
    const page = scan(part, rest);
    if (!isFull) {
      append(found, page.found);
      bytes += page.bytes;
    }
    if (page.more || (isFull && page.found.length > 0)) return { found, bytes, more: true };
  }
  return { found, bytes, more: false };
}

function kindOf({ isIntegerKeyed }: TableRange, { dereference }: ScanOptions): ScanKind {
  if (dereference === undefined) return isIntegerKeyed ? 'integerKeyedValues' : 'values';
  return dereference === INTEGER_KEY_PREFIX ? 'dereferenceInteger' : 'dereference';
}

function parameters(
  range: TableRange,
  { dereference }: ScanOptions,
  rows: number,
): (Bytes | number)[] {
  const { start, end, isIntegerKeyed } = range;
  if (isIntegerKeyed) {
    const integers = integersWithin(range);
    return [integers?.first ?? 0, integers?.end ?? 0, rows];
  }
  if (dereference === undefined || dereference === INTEGER_KEY_PREFIX) return [start, end, rows];
  return [Uint8Array.of(dereference), start, end, rows];
}

function chunkRows(wanted: number, affordable: number): number {
  const useful = Math.min(Math.max(Math.ceil(affordable) + 1, CHUNK_ROWS_MIN), CHUNK_ROWS_MAX);
  return Math.min(wanted, useful);
}

/** The rest of the range after the last entry, in the direction of the scan. */
function restOf(
  range: TableRange,
  entries: readonly Entry[],
  { reverse }: ScanOptions,
): TableRange {
  const last = entries.at(-1);
  return last === undefined ? range : rangeAfter(range, last.key, reverse === true);
}

function rangeAfter(range: TableRange, last: Bytes, isReverse: boolean): TableRange {
  if (isReverse) return { ...range, end: last };
  const start = new Uint8Array(last.length + 1);
  start.set(last);
  return { ...range, start };
}

/** Entries as views of the bytes of a chunk. */
class PackedChunk {
  key: Bytes = EMPTY_BYTES;
  /** Undefined if the value is too long to be in the chunk. */
  value: Bytes | undefined = EMPTY_BYTES;
  readonly #bytes: Bytes;
  readonly #lengths: Lengths;
  #at = 0;

  constructor(bytes: Bytes, lengths: string) {
    this.#bytes = bytes;
    this.#lengths = new Lengths(lengths);
  }

  next(): boolean {
    if (!this.#lengths.hasMore) return false;
    this.key = this.#take(this.#lengths.next());
    const length = this.#lengths.next();
    this.value = length === NULL_LENGTH ? undefined : this.#take(length);
    return true;
  }

  #take(length: number): Bytes {
    const from = this.#at;
    this.#at += length;
    return this.#bytes.subarray(from, this.#at);
  }
}

/** Reads decimal integers that are separated by spaces. */
class Lengths {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get hasMore(): boolean {
    return this.#at < this.#text.length;
  }

  next(): number {
    let length = 0;
    while (this.#at < this.#text.length) {
      const digit = this.#text.charCodeAt(this.#at++) - 48;
      if (digit < 0) break;
      length = length * 10 + digit;
    }
    return length;
  }
}
