/**
 * The format of a partition's store and who may write to it. Both are stored with the first write after an opening; stores
 * from before they existed have neither. Do not renumber.
 *
 *   00 format   0 version u8    1 key format u8    2 ring u8
 *   06 owner    0 version u8    1 epoch u64        9 name of the owner to the end, in UTF-8
 *
 * The epoch grows with every opening: where stores are shared, a writer of an older epoch is refused.
 */
import {
  assert,
  type Bytes,
  bytesToText,
  DomainError,
  readU64,
  textToBytes,
} from '../../base/index.ts';
import type { KeyFormat } from './item-keys.ts';

const FORMAT_VERSION = 1;
const OWNER_VERSION = 1;
const OWNER_HEADER_BYTES = 9;

/** Place in the list = number on disk. */
const RINGS = ['hash', 'token'] as const;

export interface StoreFormat {
  /** How primary keys are encoded (item-keys.ts). */
  readonly keyFormat: KeyFormat;
  /** The hash space that effective partition keys are places in. */
  readonly ring: (typeof RINGS)[number];
}

interface StoreOwner {
  readonly epoch: number;
  /** Empty where there is one node. */
  readonly name: string;
}

export function encodeFormat({ keyFormat, ring }: StoreFormat): Bytes {
  return Uint8Array.of(FORMAT_VERSION, keyFormat, RINGS.indexOf(ring));
}

/** Throws where the store has another format than its container, or one that this program does not know. */
export function checkFormat(stored: Bytes, expected: StoreFormat): void {
  const [version, keyFormat, ring] = stored;
  if (version !== FORMAT_VERSION || stored.length !== 3)
    throw new DomainError(
      'unavailable',
      `Partition format version ${version} is not understood; this program reads version ${FORMAT_VERSION}.`,
    );
  if (keyFormat !== expected.keyFormat || RINGS[ring ?? -1] !== expected.ring)
    throw new DomainError(
      'unavailable',
      `The partition has keys of format ${keyFormat} on ring ${RINGS[ring ?? -1]}; its container has ${expected.keyFormat} on ${expected.ring}.`,
    );
}

export function encodeOwner({ epoch, name }: StoreOwner): Bytes {
  const text = textToBytes(name);
  const bytes = Buffer.allocUnsafe(OWNER_HEADER_BYTES + text.length);
  bytes.writeUInt8(OWNER_VERSION, 0);
  bytes.writeBigUInt64BE(BigInt(epoch), 1);
  bytes.set(text, OWNER_HEADER_BYTES);
  return bytes;
}

export function decodeOwner(stored: Bytes): StoreOwner {
  assert(stored[0] === OWNER_VERSION, 'owner: unknown version');
  return { epoch: readU64(stored, 1), name: bytesToText(stored.subarray(OWNER_HEADER_BYTES)) };
}
