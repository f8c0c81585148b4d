/** An item, for all APIs: an id within a partition key, and the bytes that its home API returns. */
import {
  type Bytes,
  bytesEqualAt,
  bytesToLatin1,
  equalBytes,
  murmur3x86_32,
} from '../../base/index.ts';
import { type Encoding, type Epk, entityTime, type Value } from '../../value/index.ts';

/** Log sequence number of a partition: grows by one with every committed write command. */
export type Lsn = number;

/** Names an item inside its container for life: 13 bits of partition prefix, 40 bits of counter. Never reused. */
export type Rid = number;

export const RID_COUNTER_BITS = 40;

/** Number of distinct key hashes: V8 stores integers below it without an object each. */
export const KEY_HASHES = 2 ** 30;

/** The identity of an item, encoded once per request: its place in the hash space and its primary key. */
export class ItemKey {
  readonly epk: Epk;
  /** Key of the primary entry; see keyspace.ts. */
  readonly primary: Bytes;
  #hash = -1;
  #text: string | undefined;

  constructor(epk: Epk, primary: Bytes) {
    this.epk = epk;
    this.primary = primary;
  }

  /**
   * For maps on the path of every request: a new text would first be interned in V8's table of all strings. Two keys
   * may have the same hash.
   */
  get hash(): number {
    if (this.#hash < 0) this.#hash = keyHash(this.primary);
    return this.#hash;
  }

  /** The bytes of the primary key as text (latin1), for other maps. */
  get text(): string {
    this.#text ??= bytesToLatin1(this.primary);
    return this.#text;
  }

  equals(other: ItemKey): boolean {
    return this === other || equalBytes(this.primary, other.primary);
  }
}

/** The hash of a primary key. */
export function keyHash(primary: Bytes): number {
  return murmur3x86_32(primary) % KEY_HASHES;
}

/** Writes of one item in one command. The 48 bits of an etag then hold the operation and 2^41 LSNs. */
export const WRITES_PER_ITEM_MAX = 128;

/** Items of one command: as many as a script may write in one transaction. */
export const COMMAND_KEYS_MAX = 10_000;

/** Size of the header before key and body in a record (record.ts), by its version. */
export const RECORD_HEADER_BYTES = 32;
export const FLAGGED_HEADER_BYTES = 33;

/** The version byte of a record without flags, and the place of the flags in others. */
export const PLAIN_VERSION = 1;
export const FLAGS_AT = 32;

/**
 * Bits of internal items, which only decisions and internal scans see. shadow: keeps what a deletion has to remember.
 * header: belongs to its partition key.
 */
export const ITEM_FLAGS = { shadow: 1, header: 2 } as const;

/**
 * An item as stored: views into one record (record.ts), so that a cached item keeps only its bytes. It is a class
 * because the text of the etag is made on demand.
 */
export class Item {
  /** The stored form. */
  readonly record: Bytes;
  readonly rid: Rid;
  readonly version: ItemVersion;
  readonly timestampSec: number;
  /** Time to live in seconds after `timestampSec`; 0: that of the container; -1: for ever. */
  readonly ttlSec: number;
  readonly encoding: Encoding;
  /** Exactly what the home API returns. */
  readonly body: Bytes;
  /** Set when the entries of the item are added to the index or removed from it. */
  indexEntryCount: number | undefined;
  #etag: string | undefined;

  constructor(fields: ItemFields) {
    this.record = fields.record;
    this.rid = fields.rid;
    this.version = fields.version;
    this.timestampSec = fields.timestampSec;
    this.ttlSec = fields.ttlSec;
    this.encoding = fields.encoding;
    this.body = fields.body;
    this.#etag = fields.etag;
  }

  /** Made at every call, since few callers need it. */
  get primary(): Bytes {
    return this.record.subarray(headerBytes(this.record), this.record.length - this.body.length);
  }

  /** A sum of ITEM_FLAGS; mostly 0. */
  get flags(): number {
    return this.record[0] === PLAIN_VERSION ? 0 : (this.record[FLAGS_AT] as number);
  }

  /** True for a shadow or a header: readers do not see it, no index has it, and no count includes it. */
  get isInternal(): boolean {
    return this.record[0] !== PLAIN_VERSION && this.flags !== 0;
  }

  get isShadow(): boolean {
    return (this.flags & ITEM_FLAGS.shadow) !== 0;
  }

  /** Whether this is the item of the key. */
  isOf({ primary }: ItemKey): boolean {
    const { record, body } = this;
    return bytesEqualAt(record, headerBytes(record), record.length - body.length, primary);
  }

  get lsn(): Lsn {
    return this.version.lsn;
  }

  /** The write time of an entity to 100 ns (write-times.ts), as in its body; empty for other encodings. */
  get time(): string {
    return this.encoding === 'edm' ? entityTime(this.body) : '';
  }

  /** Quoted, as in HTTP. Differs for every write. */
  get etag(): string {
    this.#etag ??= formatEtag(this.version);
    return this.#etag;
  }
}

export type ItemFields = Omit<
  Item,
  | 'primary'
  | 'isOf'
  | 'etag'
  | 'lsn'
  | 'time'
  | 'indexEntryCount'
  | 'flags'
  | 'isInternal'
  | 'isShadow'
> & {
  readonly etag?: string | undefined;
};

/** Where the primary key begins in a record. */
export function headerBytes(record: Bytes): number {
  return record[0] === PLAIN_VERSION ? RECORD_HEADER_BYTES : FLAGGED_HEADER_BYTES;
}

/** Identifies one write of an item. */
export interface ItemVersion {
  /** Sixteen bits of the container, so that the etags of a recreated container differ. */
  readonly salt: number;
  readonly lsn: Lsn;
  /** Place of the write in its command, at least among the writes of the same item. */
  readonly operation: number;
}

/** Called for every write, and for every read of an item that is not in the cache. */
export function formatEtag({ salt, lsn, operation }: ItemVersion): string {
  const write = hex(lsn * WRITES_PER_ITEM_MAX + operation, 12);
  return `"0000${hex(salt, 4)}-0000-0000-0000-${write}"`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** The values that the committer assigns to a write. */
export interface Stamp {
  readonly rid: Rid;
  readonly version: ItemVersion;
  readonly etag: string;
  readonly timestampSec: number;
  /** Time of an entity to 100 ns (write-times.ts); empty for other encodings. */
  readonly time: string;
}

/**
 * Turns the body that a client sent into the body that its home API returns, by adding the stamp. Pure; one per
 * container, made by the API that owns the container's encoding.
 */
export interface BodyFinisher {
  (body: Bytes, stamp: Stamp): Bytes;
  /** ASCII text that replaces the last byte of the body, before `overwrite`. Finishing so saves a copy. */
  readonly tail?: (stamp: Stamp) => string;
  /** Overwrites bytes of the body that was made with `tail`. Absent: `tail` is all. */
  readonly overwrite?: (body: Buffer, stamp: Stamp) => void;
  /** The same for the decoded body, so that the index need not decode it. Absent: nothing is added. */
  readonly ofValue?: (value: Value, stamp: Stamp) => Value;
}
