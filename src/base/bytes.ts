/** Bytes are Uint8Array everywhere; Buffer appears only where its native helpers do the work. */
export type Bytes = Uint8Array;

export const EMPTY_BYTES: Bytes = new Uint8Array(0);

/** The same bytes as a Buffer, for its helpers. Nothing is copied. */
export function bufferOf(bytes: Bytes): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * A copy with memory of its own, for a few bytes that are kept for long: a small Buffer is a part of a pool of 64 KB,
 * and the whole pool lives as long as one of its parts.
 */
export function ownBytes(bytes: Bytes): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

/** Unsigned lexicographic order, a proper prefix first: the order of every key in this system. */
export function compareBytes(a: Bytes, b: Bytes): number {
  return Buffer.compare(a, b);
}

export function equalBytes(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0;
}

/** Whether bytes[start, end) equals `other`. For a few bytes a loop is faster than a native call. */
export function bytesEqualAt(bytes: Bytes, start: number, end: number, other: Bytes): boolean {
  if (end - start !== other.length) return false;
  for (let at = 0; at < other.length; at++) if (bytes[start + at] !== other[at]) return false;
  return true;
}

export function concatBytes(...parts: readonly Bytes[]): Bytes {
  return Buffer.concat(parts);
}

/** Upper-case hexadecimal, as effective partition keys are written on the wire. */
export function toHex(bytes: Bytes): string {
  return bufferOf(bytes).toString('hex').toUpperCase();
}

export function fromHex(text: string): Bytes {
  return Buffer.from(text, 'hex');
}

export function textToBytes(text: string): Bytes {
  return Buffer.from(text, 'utf8');
}

export function bytesToText(bytes: Bytes): string {
  return bufferOf(bytes).toString('utf8');
}

/** One character per byte: for bytes as keys of a Map. */
export function bytesToLatin1(bytes: Bytes): string {
  return bufferOf(bytes).toString('latin1');
}

/** A big-endian number of eight bytes; exact below 2^53. A DataView would cost more than the two reads. */
export function readU64(bytes: Bytes, at: number): number {
  return readU32(bytes, at) * 2 ** 32 + readU32(bytes, at + 4);
}

/** A big-endian number of four bytes. */
export function readU32(bytes: Bytes, at: number): number {
  return readU16(bytes, at) * 2 ** 16 + readU16(bytes, at + 2);
}

/** A big-endian number of two bytes. */
export function readU16(bytes: Bytes, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/** The smallest byte string greater than this one. */
export function keyAfter(bytes: Bytes): Bytes {
  return concatBytes(bytes, ZERO);
}

const ZERO = Uint8Array.of(0);

/** The smallest byte string greater than every string that starts with `prefix`; undefined if there is none. */
export function prefixEnd(prefix: Bytes): Bytes | undefined {
  for (let at = prefix.length - 1; at >= 0; at--) {
    const byte = prefix[at] as number;
    if (byte === 0xff) continue;
    const next = Uint8Array.prototype.slice.call(prefix, 0, at + 1);
    next[at] = byte + 1;
    return next;
  }
  return undefined;
}
