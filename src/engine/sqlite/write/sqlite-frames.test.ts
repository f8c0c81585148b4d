// Goal: batches are unpacked as they were packed. Method: named edge cases and seeded random batches.
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom, toHex } from '../../../base/index.ts';
import type { Batch } from '../../engine.ts';
import { packBatches, packedBytes, unpackBatches } from './sqlite-frames.ts';

const key = Uint8Array.of(1, 0, 255);
const empty = new Uint8Array(0);

const CASES: readonly (readonly [title: string, batches: readonly Batch[]])[] = [
  ['no batch', []],
  ['a batch of nothing', [{}]],
  [
    'an absent and an empty value',
    [
      {
        expects: [
          { key, value: undefined },
          { key, value: empty },
        ],
      },
    ],
  ],
  ['a range without end', [{ deleteRanges: [{ start: empty, end: undefined }] }]],
  ['all of it, twice', [everything(), everything()]],
];

describe('frames', () => {
  for (const [title, batches] of CASES)
    it(title, () => {
      expect(unpackBatches(packBatches(batches)).map(show)).toEqual(batches.map(show));
    });

  for (let seed = 1; seed <= 20; seed++)
    it(`random batches, seed ${seed}`, () => {
      const random = seededRandom(seed);
      const batches = Array.from({ length: random.below(5) }, () => randomBatch(random));
      const packed = packBatches(batches);
      expect(unpackBatches(packed).map(show)).toEqual(batches.map(show));
      expect(packed.byteLength).toBe(batches.reduce((sum, each) => sum + packedBytes(each), 0));
    });

  it('can be transferred', () => {
    const packed = packBatches([everything()]);
    structuredClone(packed, { transfer: [packed] });
    expect(packed.byteLength).toBe(0);
  });
});

function everything(): Batch {
  return {
    expects: [{ key, value: Uint8Array.of(7) }],
    deleteRanges: [{ start: key, end: Uint8Array.of(2) }],
    deletes: [key, Uint8Array.of(9)],
    puts: [
      { key, value: new Uint8Array(5000).fill(3) },
      { key, value: empty },
    ],
    appends: [{ key, value: Uint8Array.of(8) }],
  };
}

function randomBatch(random: Random): Batch {
  const some = <T>(make: () => T) => Array.from({ length: random.below(4) }, make);
  const bytes = () => Uint8Array.from({ length: random.below(20) }, () => random.below(256));
  const maybe = () => (random.below(3) === 0 ? undefined : bytes());
  return {
    expects: some(() => ({ key: bytes(), value: maybe() })),
    deleteRanges: some(() => ({ start: bytes(), end: maybe() })),
    deletes: some(bytes),
    puts: some(() => ({ key: bytes(), value: bytes() })),
    appends: some(() => ({ key: bytes(), value: bytes() })),
  };
}

function show(batch: Batch): unknown {
  const { expects = [], deleteRanges = [], deletes = [], puts = [], appends = [] } = batch;
  const text = (bytes: Uint8Array | undefined) => bytes && toHex(bytes);
  return {
    expects: expects.map((each) => [text(each.key), text(each.value)]),
    deleteRanges: deleteRanges.map((each) => [text(each.start), text(each.end)]),
    deletes: deletes.map(text),
    puts: puts.map((each) => [text(each.key), text(each.value)]),
    appends: appends.map((each) => [text(each.key), text(each.value)]),
  };
}
