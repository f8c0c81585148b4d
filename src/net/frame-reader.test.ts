/** Goal: frames come out whole, in order, within their bounds. Method: seeded random frames, cut at random places. */
import { describe, expect, it, test } from 'vitest';
import { seededRandom } from '../base/index.ts';
import { FrameError, FrameReader, type FrameShape } from './frame-reader.ts';

const SHAPE: FrameShape = {
  headerBytes: 4,
  frameBytesMax: 100_000,
  frameBytes: (header) => header.readInt32LE(),
};

function frameOf(length: number, fill: number): Buffer {
  const frame = Buffer.alloc(length, fill);
  frame.writeInt32LE(length);
  return frame;
}

function framesIn(reader: FrameReader): Buffer[] {
  const frames: Buffer[] = [];
  for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(frame);
  return frames;
}

const SEED = Number(process.env.MESOCOSM_SEED ?? 1);

test.each(Array.from({ length: 30 }, (_, at) => SEED + at))('random cuts, seed %i', (seed) => {
  const random = seededRandom(seed);
  const sent = Array.from({ length: 40 }, () =>
    frameOf(4 + random.below(random.below(4) === 0 ? 50_000 : 40), random.below(256)),
  );
  const bytes = Buffer.concat(sent);
  const reader = new FrameReader(SHAPE);
  const received: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + random.below(random.below(3) === 0 ? 60_000 : 9);
    reader.push(bytes.subarray(at, end));
    at = end;
    // A protocol that pauses takes what it wants and leaves the rest.
    if (random.below(3) > 0) received.push(...framesIn(reader));
    expect(reader.partialSinceMs === undefined || received.length < sent.length).toBe(true);
  }
  received.push(...framesIn(reader));
  expect(received.map((frame) => frame.toString('hex'))).toEqual(
    sent.map((frame) => frame.toString('hex')),
  );
  expect([reader.partialSinceMs, reader.hasMore]).toEqual([undefined, false]);
});

describe('bounds', () => {
  it.each([
    [3, 'invalid', 'A frame cannot have 3 bytes.'],
    [-1, 'invalid', 'A frame cannot have -1 bytes.'],
    [100_001, 'tooLong', 'A frame has at most 100000 bytes, not 100001.'],
  ])('a frame of %i bytes is %s', (length, kind, message) => {
    const header = Buffer.alloc(4);
    header.writeInt32LE(length);
    for (const cut of [4, 2]) {
      const reader = new FrameReader(SHAPE);
      const read = (): void => {
        reader.push(header.subarray(0, cut));
        reader.next();
        reader.push(header.subarray(cut));
        reader.next();
      };
      expect(read).toThrow(FrameError);
      expect(read).toThrow(expect.objectContaining({ kind, message }));
    }
  });

  it('the longest frame is taken', () => {
    const reader = new FrameReader(SHAPE);
    reader.push(frameOf(100_000, 1));
    expect(reader.next()?.length).toBe(100_000);
  });
});

it('knows when a frame in part began', () => {
  const reader = new FrameReader(SHAPE);
  const beforeMs = performance.now();
  reader.push(Buffer.concat([frameOf(8, 1), frameOf(8, 2).subarray(0, 3)]));
  expect(framesIn(reader)).toEqual([frameOf(8, 1)]);
  const sinceMs = reader.partialSinceMs;
  expect(sinceMs).toBeGreaterThanOrEqual(beforeMs);
  reader.push(frameOf(8, 2).subarray(3, 6));
  expect(framesIn(reader)).toEqual([]);
  expect(reader.partialSinceMs).toBe(sinceMs);
  reader.push(frameOf(8, 2).subarray(6));
  expect(framesIn(reader)).toEqual([frameOf(8, 2)]);
  expect(reader.partialSinceMs).toBeUndefined();
});

it('changes its shape between two frames', () => {
  const short: FrameShape = {
    headerBytes: 1,
    frameBytesMax: 255,
    frameBytes: ([length]) => length ?? 0,
  };
  const reader = new FrameReader(SHAPE);
  reader.push(Buffer.concat([frameOf(8, 1), Buffer.from([3, 7, 7, 2, 9])]));
  expect(reader.next()).toEqual(frameOf(8, 1));
  reader.switchTo(short);
  expect(framesIn(reader)).toEqual([Buffer.from([3, 7, 7]), Buffer.from([2, 9])]);
});
