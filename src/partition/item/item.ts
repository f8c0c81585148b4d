/**
 * What an item is, for all five APIs: a row key within a partition key, and the bytes its home API returns.
 */
import {
  type Bytes,
  bytesEqualAt,
  bytesToLatin1,
  equalBytes,
  murmur3x86_32,
} from '../../base/index.ts';
import { type Encoding, type Epk, entityTime, type Value } from '../../value/index.ts';

/** Log sequence number of a partition: grows by one with every committed intent. */
export type Lsn = number;

/** Names an item inside its container for life: 13 bits of partition prefix, 40 bits of counter. Never reused. */
export type Rid = number;

export const RID_COUNTER_BITS = 40;

/** How many hashes of keys there are: V8 keeps smaller numbers without an object for each. */
export const KEY_HASHES = 2 ** 30;

/** An item's identity, encoded once at the door: the place in the hash space and the whole primary key. */
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
   * To look up in maps that every request asks: V8 looks a text up among all texts of the process before it looks into
   * a map, and keeps it there for a while. Two keys may have the same.
   */
  get hash(): number {
    if (this.#hash < 0) this.#hash = keyHash(this.primary);
    return this.#hash;
  }

  /** The bytes of the primary key as text (latin1), to look up in other maps. */
  get text(): string {
    this.#text ??= bytesToLatin1(this.primary);
    return this.#text;
  }

  equals(other: ItemKey): boolean {
    return this === other || equalBytes(this.primary, other.primary);
  }
}

/** Of a primary key. */
export function keyHash(primary: Bytes): number {
  return murmur3x86_32(primary) % KEY_HASHES;
}

/** Writes of one item in one intent, so that 48 bits of etag hold LSN and operation: 2^41 LSNs. */
export const WRITES_PER_ITEM_MAX = 128;

/** Items of one intent: what a script may touch in one transaction. */
export const INTENT_KEYS_MAX = 10_000;

/** What stands before key and body in a record (record.ts). */
export const RECORD_HEADER_BYTES = 32;

/**
 * An item as stored: views into one record (record.ts), so that keeping an item keeps just its bytes.
 * A class, because the etag's text is made only when somebody asks for it.
 */
export class Item {
  /** The stored form. */
  readonly record: Bytes;
  readonly rid: Rid;
  readonly version: ItemVersion;
  readonly timestampSec: number;
  /** Seconds the item lives after `timestampSec`; 0 = as the container says, -1 = for ever. */
  readonly ttlSec: number;
  readonly encoding: Encoding;
  /** Exactly what the home API returns. */
  readonly body: Bytes;
  /** Set when the item is indexed, or taken out of the index. */
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

  /** Few who have an item ask for it: made anew every time. */
  get primary(): Bytes {
    return this.record.subarray(RECORD_HEADER_BYTES, this.record.length - this.body.length);
  }

  /** Whether this is the item of the key. */
  isOf({ primary }: ItemKey): boolean {
    const { record, body } = this;
    return bytesEqualAt(record, RECORD_HEADER_BYTES, record.length - body.length, primary);
  }

  get lsn(): Lsn {
    return this.version.lsn;
  }

  /** When an entity was written, to 100 ns (write-times.ts), as its text has it; empty for items of other encodings. */
  get time(): string {
    return this.encoding === 'edm' ? entityTime(this.body) : '';
  }

  /** Quoted, as HTTP wants it. Differs for every write. */
  get etag(): string {
    this.#etag ??= formatEtag(this.version);
    return this.#etag;
  }
}

export type ItemFields = Omit<
  Item,
  'primary' | 'isOf' | 'etag' | 'lsn' | 'time' | 'indexEntryCount'
> & {
  readonly etag?: string | undefined;
};

/** What makes a write of an item different from every other. */
export interface ItemVersion {
  /** Of the container: keeps etags of one that was dropped and made again apart. */
  readonly salt: number;
  readonly lsn: Lsn;
  /** Place of the write among those of its intent; at least among those of the same item. */
  readonly operation: number;
}

/** Made for every write, and for every read of an item that is not in the cache. */
export function formatEtag({ salt, lsn, operation }: ItemVersion): string {
  const write = hex(lsn * WRITES_PER_ITEM_MAX + operation, 12);
  return `"0000${hex(salt, 4)}-0000-0000-0000-${write}"`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** What the committer assigns to an item when it is written. */
export interface Stamp {
  readonly rid: Rid;
  readonly version: ItemVersion;
  readonly etag: string;
  readonly timestampSec: number;
  /** Of entities: to 100 ns, see write-times.ts; empty for items of other encodings. */
  readonly time: string;
}

/**
 * Turns the body a client sent into the body its home API returns, by adding what only the committer knows.
 * Pure; one per container, made by the API that owns the container's encoding.
 */
export interface BodyFinisher {
  (body: Bytes, stamp: Stamp): Bytes;
  /** Where sealing is putting this ASCII text in the place of the body's last byte, then `overwrite`: spares a copy. */
  readonly tail?: (stamp: Stamp) => string;
  /** Writes over bytes of what was made with `tail`. Absent: nothing more is to be done. */
  readonly overwrite?: (body: Buffer, stamp: Stamp) => void;
  /** The same for the decoded body, so that the index need not decode it again. Absent: nothing is added. */
  readonly ofValue?: (value: Value, stamp: Stamp) => Value;
}
