/**
 * Compressed messages, little-endian: header, opCode4 of the message inside, its length4 without header, compressor1,
 * bytes. A reply to a compressed message is compressed in the same way.
 */
import { deflateSync, inflateSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { HEADER_BYTES } from './frames.ts';
import { WireError } from './wire-error.ts';

export const OP_COMPRESSED = 2012;

/** Names in `hello`, by their numbers on the wire. Snappy is 1 and has no kept library. */
const COMPRESSORS = { noop: 0, zlib: 2, zstd: 3 } as const;

export type Compressor = keyof typeof COMPRESSORS;

const START = HEADER_BYTES + 9;

/** The names that both sides know, in the order of the client. */
export function commonCompressors(names: readonly unknown[]): readonly Compressor[] {
  return names.filter((name) => name === 'zlib' || name === 'zstd') as readonly Compressor[];
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

function compressorOf(number: number): Compressor {
  for (const [name, known] of Object.entries(COMPRESSORS))
    if (known === number) return name as Compressor;
  throw new WireError('The compressor was not agreed on');
}

function decompressed(bytes: Buffer, compressor: Compressor, length: number): Buffer {
  const options = { maxOutputLength: Math.max(length, 1) };
  try {
    if (compressor === 'zlib') return inflateSync(bytes, options);
    return compressor === 'zstd' ? zstdDecompressSync(bytes, options) : bytes;
  } catch {
    throw new WireError('The compressed bytes cannot be read');
  }
}

export function compressFrame(frame: Buffer, compressor: Compressor): Buffer {
  const bytes = frame.subarray(HEADER_BYTES);
  const packed =
    compressor === 'zlib'
      ? deflateSync(bytes)
      : compressor === 'zstd'
        ? zstdCompressSync(bytes)
        : bytes;
  const made = Buffer.allocUnsafe(START + packed.length);
  frame.copy(made, 0, 0, HEADER_BYTES);
  made.writeInt32LE(made.length, 0);
  made.writeInt32LE(OP_COMPRESSED, 12);
  made.writeInt32LE(frame.readInt32LE(12), HEADER_BYTES);
  made.writeInt32LE(bytes.length, HEADER_BYTES + 4);
  made.writeUInt8(COMPRESSORS[compressor], HEADER_BYTES + 8);
  made.set(packed, START);
  return made;
}
