/**
 * The storage contract: named stores, each an ordered map from bytes to bytes with snapshots and atomic, conditional
 * batches. Everything above is library code on this. Implementations: memory, sqlite, postgres.
 *
 * Order is unsigned lexicographic over the key bytes. Keys are 1 to 2,600 bytes, values up to 16 MiB + 64 KiB. Keys that
 * begin with INTEGER_KEY_PREFIX have a form of their own (integer-keys.ts). The caller must not change bytes after
 * passing them in. Returned bytes are never changed and may be kept. The entries of one page may share memory, so a
 * caller that keeps a few of them for long should copy them.
 *
 * Refusals: ConflictError and FormatError below. DomainError `unavailable` where the disk, the network or a thread
 * fails, or the store was closed; for a commit `outcomeUnknown` if it is unknown whether it took effect. AssertionError
 * for misuse (a store opened twice, use after release, keys and values out of bounds).
 */
import type { Bytes, MaybePromise } from '../base/index.ts';

/** Opens, lists and drops stores. One store holds one partition, or the catalog. */
export interface Engine {
  /**
   * Opens the store, creating it where it does not exist. A store is open at most once at a time. Names are parts of
   * letters, digits, `_` and `-`, joined by `/`; two names must not differ in case alone.
   */
  open(name: string): Promise<Store>;
  /** Names of all stores that exist, sorted. */
  list(): Promise<readonly string[]>;
  /** Removes a closed store and frees its space. Dropping a store that does not exist is not an error. */
  drop(name: string): Promise<void>;
  /** Closes every open store. Idempotent. */
  close(): Promise<void>;
}

/** [start, end); `end` undefined means the end of the store. */
export interface KeyRange {
  readonly start: Bytes;
  readonly end: Bytes | undefined;
}

export interface Entry {
  readonly key: Bytes;
  readonly value: Bytes;
}

export interface KeyScanOptions {
  /** The most entries of a page, at least 1. */
  readonly limit: number;
  /** The page ends after the entry with which keys and returned values reach this many bytes. */
  readonly bytesMax: number;
  readonly reverse?: boolean;
}

export interface ScanOptions extends KeyScanOptions {
  /**
   * Values are replaced by the value stored under this prefix byte followed by the value; see `dereference`. Entries
   * whose value points to no key are left out.
   */
  readonly dereference?: number;
}

export interface ScanPage {
  readonly entries: readonly Entry[];
  /** Whether the range has more entries after the last one of this page. Exact. */
  readonly more: boolean;
}

export interface KeyPage {
  /** One character per byte (latin1): a text of some dozens of bytes costs a fifth of a view of them. */
  readonly keys: readonly string[];
  /** The same as in a ScanPage. */
  readonly more: boolean;
}

export interface ReadView {
  get(key: Bytes): MaybePromise<Bytes | undefined>;
  /** One result per key, in the order of the keys. */
  getMany(keys: readonly Bytes[]): MaybePromise<readonly (Bytes | undefined)[]>;
  /**
   * Reads the value v of `key`, then the value stored under `prefix` followed by v: from an index entry to the record
   * it points to in one call (one statement, one round trip). Undefined if either is missing.
   */
  dereference(key: Bytes, prefix: number): MaybePromise<Bytes | undefined>;
  /** The same for many keys in one call: one result per key, in the order of the keys, all of one state. */
  dereferenceMany(
    keys: readonly Bytes[],
    prefix: number,
  ): MaybePromise<readonly (Bytes | undefined)[]>;
  scan(range: KeyRange, options: ScanOptions): MaybePromise<ScanPage>;
  /** Scans only the keys, of which indexes consist. */
  scanKeys(range: KeyRange, options: KeyScanOptions): MaybePromise<KeyPage>;
}

/** A frozen view of the store when it was taken. Short-lived; release is idempotent, use after release is a bug. */
export interface Snapshot extends ReadView {
  release(): void;
}

/** A store as a ReadView reads the last committed state; two calls may see different states. */
export interface Store extends ReadView {
  readonly name: string;
  /**
   * Why no commit can be completed now, such as too few replicas; undefined or absent while one can. Writers are refused
   * before anything is decided, and readers go on, but for what the store itself cannot read meanwhile.
   */
  readonly writeRefusal?: string | undefined;
  /**
   * Set where a commit can take for as long as replicas are missing: after this time its writers get `outcomeUnknown`,
   * while the commit goes on.
   */
  readonly answerWithinMs?: number | undefined;
  /** A view for several reads of one state. Waits where the engine bounds how many are open at once. */
  snapshot(): MaybePromise<Snapshot>;
  /**
   * All or nothing. Durable and visible to reads that start after the promise resolves. Commits take effect in
   * the order of the calls. Rejects with ConflictError when an expectation does not hold.
   */
  commit(batch: Batch): Promise<void>;
  stats(): MaybePromise<StoreStats>;
  /** Waits for pending commits and ends snapshots that are still open. Idempotent. */
  close(): Promise<void>;
}

/** Applied in this order: expects are checked, deleteRanges, deletes, puts, appends. */
export interface Batch {
  readonly expects?: readonly Expectation[];
  readonly deleteRanges?: readonly KeyRange[];
  readonly deletes?: readonly Bytes[];
  readonly puts?: readonly Entry[];
  /**
   * The value is appended to the stored value of the key, or becomes its value where there is none. An engine that has lost
   * a commit and writes it once more may append it twice.
   */
  readonly appends?: readonly Entry[];
}

/** The key must have exactly this value, or be absent if it is undefined. */
export interface Expectation {
  readonly key: Bytes;
  readonly value: Bytes | undefined;
}

export interface StoreStats {
  /** Space of the entries as the engine accounts for it (pages in use, or sum of their lengths). */
  readonly bytesUsed: number;
}

/** A batch was refused because an expectation did not hold. Nothing of it was applied. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
}

/** A store was written by a version of the program that this one does not understand. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}
