/**
 * The compressions that drivers may ask for. Envelopes of protocols 3 and 4 have compressed bodies; protocol 5
 * compresses segments, with lz4 only.
 *   lz4     4 bytes, big-endian: length of the content · a block of LZ4
 *   snappy  a block of Snappy, which begins with the length of its content
 */
import { compressSync as lz4Compress, uncompressSync as lz4Uncompress } from 'lz4-napi';
import { compressSync as snappyCompress, uncompressSync as snappyUncompress } from 'snappy';
import { protocolError } from '../errors.ts';
import { ENVELOPE_BYTES_MAX } from '../limits.ts';

export interface Compression {
  readonly name: 'lz4' | 'snappy';
  compress(content: Buffer): Buffer;
  /** Refuses what is damaged, or larger than an envelope may be, before it takes memory for it. */
  decompress(bytes: Buffer): Buffer;
}

const LENGTH_BYTES = 4;

const LZ4: Compression = {
  name: 'lz4',
  compress(content) {
    const bytes = lz4Compress(content);
    // The library has the same block behind a little-endian length.
    bytes.writeUInt32BE(content.length, 0);
    return bytes;
  },
  decompress(bytes) {
    if (bytes.length < LENGTH_BYTES) throw damaged();
    return lz4Block(bytes.subarray(LENGTH_BYTES), bytes.readUInt32BE(0));
  },
};

const SNAPPY: Compression = {
  name: 'snappy',
  compress: (content) => snappyCompress(content),
  decompress(bytes) {
    checkLength(snappyLength(bytes));
    return checked(() => snappyUncompress(bytes, { asBuffer: true }) as Buffer);
  },
};

export const COMPRESSIONS: ReadonlyMap<string, Compression> = new Map(
  [LZ4, SNAPPY].map((compression) => [compression.name, compression]),
);

/** The content of a block of LZ4 that has no length before it. */
export function lz4Block(block: Buffer, contentBytes: number): Buffer {
  checkLength(contentBytes);
  if (contentBytes === 0) return Buffer.alloc(0);
  const prefixed = Buffer.allocUnsafe(LENGTH_BYTES + block.length);
  prefixed.writeUInt32LE(contentBytes, 0);
  block.copy(prefixed, LENGTH_BYTES);
  const content = checked(() => lz4Uncompress(prefixed));
  if (content.length !== contentBytes) throw damaged();
  return content;
}

/** A block of LZ4 without its length. */
export function toLz4Block(content: Buffer): Buffer {
  return lz4Compress(content).subarray(LENGTH_BYTES);
}

/** Seven bits in each byte, the lowest first. */
function snappyLength(bytes: Buffer): number {
  let length = 0;
  for (let at = 0; at < 5 && at < bytes.length; at++) {
    const byte = bytes[at] as number;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return length;
  }
  throw damaged();
}

function checkLength(length: number): void {
  if (length > ENVELOPE_BYTES_MAX)
    throw protocolError(
      `Request is too big: length ${length} exceeds maximum allowed length ${ENVELOPE_BYTES_MAX}.`,
    );
}

function checked(decompress: () => Buffer): Buffer {
  try {
    return decompress();
  } catch {
    throw damaged();
  }
}

function damaged() {
  return protocolError('The compressed body of a request is damaged');
}
