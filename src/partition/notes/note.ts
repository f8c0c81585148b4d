/**
 * A note beside the items of a partition key, with an expiry. Format version 1; do not renumber.
 *
 *   key    35 · bytes(epk) · 01 · owner to the end
 *   value  0 version u8    1 expiresAtSec u32    5 bytes to the end
 */
import { assert, type Bytes, DomainError, NOTE_BYTES_MAX, readU32 } from '../../base/index.ts';
import { type Epk, KeyReader, KeyWriter } from '../../value/index.ts';
import { PREFIX_NOTE } from '../item/keyspace.ts';

const NOTE_VERSION = 1;
const HEADER_BYTES = 5;
/** An owner may begin with FF, which after the end of the bytes would be read as an escape. */
const OWNER_MARK = 1;
/** Bytes of an owner: a session id and a statement number, with room. */
const OWNER_BYTES_MAX = 256;

/** The note that a write leaves. */
export interface WriteNote {
  /** Names the note within its partition key. A later note of the same owner replaces it. */
  readonly owner: Bytes;
  /** Undefined: the reply of the updater, which then is bytes. */
  readonly bytes?: Bytes | undefined;
  readonly expiresAtSec: number;
}

const writer = new KeyWriter();

export function noteKey(epk: Epk, owner: Bytes): Bytes {
  if (owner.length === 0 || owner.length > OWNER_BYTES_MAX)
    throw new DomainError('invalidInput', `The owner of a note has 1 to ${OWNER_BYTES_MAX} bytes.`);
  return writer.reset().u8(PREFIX_NOTE).bytes(epk).u8(OWNER_MARK).raw(owner).take();
}

/** Notes of the partition keys in a part of the hash space. */
export function noteRange(min: Epk, max: Epk): { readonly start: Bytes; readonly end: Bytes } {
  return {
    start: writer.reset().u8(PREFIX_NOTE).bytes(min).take(),
    end: writer.reset().u8(PREFIX_NOTE).bytes(max).take(),
  };
}

export function epkOfNote(key: Bytes): Epk {
  return new KeyReader(key, 1).bytes();
}

export function encodeNote(bytes: Bytes, expiresAtSec: number): Bytes {
  if (bytes.length > NOTE_BYTES_MAX)
    throw new DomainError('tooLarge', `A note holds at most ${NOTE_BYTES_MAX} bytes.`);
  const value = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  value.writeUInt8(NOTE_VERSION, 0);
  value.writeUInt32BE(expiresAtSec, 1);
  value.set(bytes, HEADER_BYTES);
  return value;
}

/** Undefined where the note has expired. */
export function decodeNote(value: Bytes, nowMs: number): Bytes | undefined {
  assert(value[0] === NOTE_VERSION, 'note: unknown version');
  return expiryOfNote(value) * 1000 <= nowMs ? undefined : value.subarray(HEADER_BYTES);
}

export function expiryOfNote(value: Bytes): number {
  return readU32(value, 1);
}
