// Goal: segments carry envelopes unchanged, and damaged ones are refused. Method: known checksums, damaged bytes.
import { expect, test } from 'vitest';
import {
  LZ4_SEGMENTS,
  PLAIN_SEGMENTS,
  SEGMENT_PAYLOAD_MAX,
  type SegmentFormat,
} from './segment.ts';

/** The payloads of several segments, and the bit of each that says whether its envelopes are whole. */
function payloads(bytes: Buffer, { shape, payloadOf }: SegmentFormat) {
  const found: { payload: Buffer; isWhole: boolean }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const header = bytes.subarray(at, at + shape.headerBytes);
    const end = at + shape.frameBytes(header);
    const bit = shape.headerBytes === 6 ? 17 : 34;
    const isWhole = Math.floor(header.readUIntLE(0, shape.headerBytes - 3) / 2 ** bit) % 2 === 1;
    found.push({ payload: payloadOf(bytes.subarray(at, end)), isWhole });
    at = end;
  }
  return found;
}

const FORMATS = [
  ['plain', PLAIN_SEGMENTS],
  ['lz4', LZ4_SEGMENTS],
] as const;

test('the segment of a READY message, byte for byte', () => {
  // Made by the segment codec of the Python driver.
  const envelope = Buffer.from('850000000200000000', 'hex');
  expect(PLAIN_SEGMENTS.write(envelope).toString('hex')).toBe(
    '090002a4c8c18500000002000000004f5a5d99',
  );
});

test.each(FORMATS)('%s: one envelope is one segment, a large one several', (_, format) => {
  const small = payloads(format.write(Buffer.from('hello')), format);
  expect(small).toEqual([{ payload: Buffer.from('hello'), isWhole: true }]);
  const large = Buffer.alloc(2 * SEGMENT_PAYLOAD_MAX + 7, 'abc');
  const parts = payloads(format.write(large), format);
  expect(parts.map(({ payload, isWhole }) => [payload.length, isWhole])).toEqual([
    [SEGMENT_PAYLOAD_MAX, false],
    [SEGMENT_PAYLOAD_MAX, false],
    [7, false],
  ]);
  expect(Buffer.concat(parts.map(({ payload }) => payload))).toEqual(large);
});

test('what lz4 makes smaller is sent compressed', () => {
  expect(LZ4_SEGMENTS.write(Buffer.alloc(10_000, 'ab')).length).toBeLessThan(200);
});

test.each(FORMATS)('%s: a flipped bit anywhere is seen', (_, format) => {
  const whole = format.write(Buffer.from('some envelope some envelope some envelope'));
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const damaged = Buffer.from(whole);
    damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
    expect(() => payloads(damaged, format), `bit ${bit}`).toThrow(/checksum/);
  }
});
