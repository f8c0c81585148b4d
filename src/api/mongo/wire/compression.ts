/**
 * Compressed messages, little-endian: header, opCode4 of the message inside, its length4 without header, compressor1,
 * bytes. A reply to a compressed message is compressed in the same way.
 */
import { deflateSync, inflateSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { compressSync as snappyCompress, uncompressSync as snappyUncompress } from 'snappy';
import { HEADER_BYTES } from './frames.ts';
import { WireError } from './wire-error.ts';

export const OP_COMPRESSED = 2012;

interface Compression {
  readonly number: number;
  readonly compress: (bytes: Buffer) => Buffer;
  /** Takes memory for `length` bytes at most, whatever the bytes say. */
  readonly decompress: (bytes: Buffer, length: number) => Buffer;
}

/** By their names in `hello`. */
const COMPRESSIONS = {
  noop: { number: 0, compress: (bytes) => bytes, decompress: (bytes) => bytes },
  snappy: { number: 1, compress: (bytes) => snappyCompress(bytes), decompress: fromSnappy },
  zlib: {
    number: 2,
    compress: (bytes) => deflateSync(bytes),
    decompress: (bytes, length) => inflateSync(bytes, { maxOutputLength: Math.max(length, 1) }),
  },
  zstd: {
    number: 3,
    compress: (bytes) => zstdCompressSync(bytes),
    decompress: (bytes, length) =>
      zstdDecompressSync(bytes, { maxOutputLength: Math.max(length, 1) }),
  },
} as const satisfies Record<string, Compression>;

export type Compressor = keyof typeof COMPRESSIONS;

const START = HEADER_BYTES + 9;

/** The names that both sides know, in the order of the client. */
export function commonCompressors(names: readonly unknown[]): readonly Compressor[] {
  return names.filter((name): name is Compressor => name !== 'noop' && isCompressor(name));
}

/** The message inside, with a header of its own. Never grows beyond `bytesMax`. Throws WireError. */
export function decompressFrame(
  frame: Buffer,
  bytesMax: number,
): { readonly frame: Buffer; readonly compressor: Compressor } {
  if (frame.length < START) throw new WireError('The compressed message is too short');
  const length = frame.readInt32LE(HEADER_BYTES + 4);
  if (length < 0 || length + HEADER_BYTES > bytesMax)
    throw new WireError('The message inside is too long');
  const compressor = compressorOf(frame.readUInt8(HEADER_BYTES + 8));
  const inside = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.copy(inside, 0, 0, HEADER_BYTES);
  inside.writeInt32LE(inside.length, 0);
  inside.writeInt32LE(frame.readInt32LE(HEADER_BYTES), 12);
  const bytes = decompressed(frame.subarray(START), compressor, length);
  if (bytes.length !== length) throw new WireError('The message inside has another length');
  inside.set(bytes, HEADER_BYTES);
  return { frame: inside, compressor };
}

function isCompressor(name: unknown): name is Compressor {
  return typeof name === 'string' && Object.hasOwn(COMPRESSIONS, name);
}

function compressorOf(number: number): Compressor {
  for (const [name, known] of Object.entries(COMPRESSIONS))
    if (known.number === number) return name as Compressor;
  throw new WireError('The compressor was not agreed on');
}

function decompressed(bytes: Buffer, compressor: Compressor, length: number): Buffer {
  try {
    return COMPRESSIONS[compressor].decompress(bytes, length);
  } catch {
    throw new WireError('The compressed bytes cannot be read');
  }
}

/** A block of Snappy says first how long its content is: the library would believe it. */
function fromSnappy(bytes: Buffer, length: number): Buffer {
  let said = 0;
  for (let at = 0; at < 5; at++) {
    const byte = bytes[at] ?? 0;
    said += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) break;
  }
  if (said !== length) throw new WireError('The message inside has another length');
  return snappyUncompress(bytes, { asBuffer: true }) as Buffer;
}

export function compressFrame(frame: Buffer, compressor: Compressor): Buffer {
  const bytes = frame.subarray(HEADER_BYTES);
  const packed = COMPRESSIONS[compressor].compress(bytes);
  const made = Buffer.allocUnsafe(START + packed.length);
  frame.copy(made, 0, 0, HEADER_BYTES);
  made.writeInt32LE(made.length, 0);
  made.writeInt32LE(OP_COMPRESSED, 12);
  made.writeInt32LE(frame.readInt32LE(12), HEADER_BYTES);
  made.writeInt32LE(bytes.length, HEADER_BYTES + 4);
  made.writeUInt8(COMPRESSIONS[compressor].number, HEADER_BYTES + 8);
  made.set(packed, START);
  return made;
}
