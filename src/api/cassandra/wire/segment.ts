/**
 * Protocol 5 carries envelopes in segments with checksums, all little-endian:
 *   header  17 bits of payload length · 1 bit whether the envelopes in it are whole · zeros: 3 bytes
 *           with lz4: 17 bits of compressed length · 17 bits of payload length · the same bit · zeros: 5 bytes
 *   crc24   3 bytes, over the header
 *   payload at most 131,071 bytes: whole envelopes, or a part of one that is larger;
 *           with lz4: a block, or the payload itself where its length is given as 0
 *   crc32   4 bytes, over the payload as it is sent, after four fixed bytes
 */
import { crc32 } from 'node:zlib';
import type { Bytes } from '../../../base/index.ts';
import type { FrameShape } from '../../../net/index.ts';
import { protocolError } from '../errors.ts';
import { lz4Block, toLz4Block } from './compression.ts';

export const SEGMENT_PAYLOAD_MAX = 2 ** 17 - 1;

const TRAILER_BYTES = 4;
const CHECKSUM_BYTES = 3;
const LENGTHS = 2 ** 17;
const CRC24_INITIAL = 0x875060;
const CRC24_POLYNOMIAL = 0x1974f0b;
/** The checksum goes on from these bytes, so that zeros have one other than zero. */
const CRC32_INITIAL = crc32(Uint8Array.of(0xfa, 0x2d, 0x55, 0xca));

export interface SegmentFormat {
  readonly shape: FrameShape;
  /** The bytes of envelopes that a whole segment carries. */
  payloadOf(segment: Buffer): Buffer;
  /** The segments that carry one envelope, or several whole ones. */
  write(envelopes: Buffer): Buffer;
}

export const PLAIN_SEGMENTS: SegmentFormat = {
  shape: shapeOf(3, (header) => header % LENGTHS),
  payloadOf: (segment) => sentPayload(segment, 3),
  write: (envelopes) =>
    inSegments(envelopes, (part, isWhole) =>
      segmentOf(3, part.length + (isWhole ? LENGTHS : 0), part),
    ),
};

export const LZ4_SEGMENTS: SegmentFormat = {
  shape: shapeOf(5, (header) => header % LENGTHS),
  payloadOf(segment) {
    const sent = sentPayload(segment, 5);
    const length = Math.floor(segment.readUIntLE(0, 5) / LENGTHS) % LENGTHS;
    return length === 0 ? sent : lz4Block(sent, length);
  },
  write: (envelopes) =>
    inSegments(envelopes, (part, isWhole) => {
      const block = toLz4Block(part);
      const isSmaller = block.length < part.length;
      const sent = isSmaller ? block : part;
      const lengths = sent.length + (isSmaller ? part.length * LENGTHS : 0);
      return segmentOf(5, lengths + (isWhole ? LENGTHS * LENGTHS : 0), sent);
    }),
};

function shapeOf(headerBytes: number, lengthOf: (header: number) => number): FrameShape {
  const allBytes = headerBytes + CHECKSUM_BYTES;
  return {
    headerBytes: allBytes,
    frameBytesMax: allBytes + SEGMENT_PAYLOAD_MAX + TRAILER_BYTES,
    frameBytes(bytes) {
      const header = bytes.readUIntLE(0, headerBytes);
      if (bytes.readUIntLE(headerBytes, CHECKSUM_BYTES) !== crc24(header, headerBytes))
        throw protocolError('Protocol error: the checksum of a segment header does not match');
      return allBytes + lengthOf(header) + TRAILER_BYTES;
    },
  };
}

function sentPayload(segment: Buffer, headerBytes: number): Buffer {
  const payload = segment.subarray(headerBytes + CHECKSUM_BYTES, -TRAILER_BYTES);
  checkPayload(payload, segment.readUInt32LE(segment.length - TRAILER_BYTES));
  return payload;
}

function checkPayload(payload: Bytes, checksum: number): void {
  if (crc32(payload, CRC32_INITIAL) !== checksum)
    throw protocolError('Protocol error: the checksum of a segment does not match');
}

function inSegments(
  envelopes: Buffer,
  segment: (part: Buffer, isWhole: boolean) => Buffer,
): Buffer {
  if (envelopes.length <= SEGMENT_PAYLOAD_MAX) return segment(envelopes, true);
  const parts: Buffer[] = [];
  for (let at = 0; at < envelopes.length; at += SEGMENT_PAYLOAD_MAX)
    parts.push(segment(envelopes.subarray(at, at + SEGMENT_PAYLOAD_MAX), false));
  return Buffer.concat(parts);
}

function segmentOf(headerBytes: number, header: number, sent: Buffer): Buffer {
  const from = headerBytes + CHECKSUM_BYTES;
  const bytes = Buffer.allocUnsafe(from + sent.length + TRAILER_BYTES);
  bytes.writeUIntLE(header, 0, headerBytes);
  bytes.writeUIntLE(crc24(header, headerBytes), headerBytes, CHECKSUM_BYTES);
  sent.copy(bytes, from);
  bytes.writeUInt32LE(crc32(sent, CRC32_INITIAL), from + sent.length);
  return bytes;
}

/** The checksum of a header's bytes, the lowest first. */
function crc24(header: number, headerBytes: number): number {
  let crc = CRC24_INITIAL;
  for (let at = 0; at < headerBytes; at++) {
    crc ^= (Math.floor(header / 2 ** (8 * at)) & 0xff) << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if ((crc & 0x1000000) !== 0) crc ^= CRC24_POLYNOMIAL;
    }
  }
  return crc;
}
