// Goal: both hashes are MurmurHash3. Method: published vectors, and a plain BigInt model on seeded random input.
import { describe, expect, it } from 'vitest';
import { textToBytes, toHex } from './bytes.ts';
import { murmur3x64_128, murmur3x86_32 } from './hash.ts';
import { seededRandom } from './random.ts';

const MASK = (1n << 64n) - 1n;

describe('murmur3x86_32', () => {
  it.each([
    ['', 0, 0],
    ['', 1, 0x514e28b7],
    ['test', 0, 0xba6bd213],
    ['test', 0x9747b28c, 0x704b81dc],
    ['Hello, world!', 0x9747b28c, 0x24884cba],
    ['The quick brown fox jumps over the lazy dog', 0x9747b28c, 0x2fa826cd],
  ])('%j with seed %d', (text, seed, expected) => {
    expect(murmur3x86_32(textToBytes(text), seed)).toBe(expected);
  });
});

describe('murmur3x64_128', () => {
  it.each([
    ['', '00000000000000000000000000000000'],
    ['hello', '029BBD41B3A7D8CB191DAE486A901E5B'],
    ['The quick brown fox jumps over the lazy dog', '6C1B07BC7BBC4BE347939AC4A93C437A'],
  ])('%j', (text, expected) => {
    expect(toHex(murmur3x64_128(textToBytes(text)))).toBe(expected);
  });

  it('agrees with the BigInt model, seed 20240517', () => {
    const random = seededRandom(20240517);
    for (let round = 0; round < 500; round++) {
      const bytes = Uint8Array.from({ length: random.below(70) }, () => random.below(256));
      const seed = round % 3 === 0 ? 0 : random.below(2 ** 32);
      expect(toHex(murmur3x64_128(bytes, seed)), `round ${round}`).toBe(model128(bytes, seed));
    }
  });
});

function model128(bytes: Uint8Array, seed: number): string {
  const c1 = 0x87c37b91114253d5n;
  const c2 = 0x4cf5ad432745937fn;
  const rotate = (word: bigint, by: bigint) => ((word << by) | (word >> (64n - by))) & MASK;
  const avalanche = (word: bigint) => {
    let mixed = word ^ (word >> 33n);
    mixed = (mixed * 0xff51afd7ed558ccdn) & MASK;
    mixed = ((mixed ^ (mixed >> 33n)) * 0xc4ceb9fe1a85ec53n) & MASK;
    return mixed ^ (mixed >> 33n);
  };
  const load = (from: number) => {
    let word = 0n;
    for (let at = Math.min(from + 8, bytes.length) - 1; at >= from; at--)
      word = (word << 8n) | BigInt(bytes[at] as number);
    return word;
  };
  let h1 = BigInt(seed);
  let h2 = BigInt(seed);
  for (let at = 0; at < bytes.length; at += 16) {
    const k1 = (rotate((load(at) * c1) & MASK, 31n) * c2) & MASK;
    const k2 = (rotate((load(at + 8) * c2) & MASK, 33n) * c1) & MASK;
    h1 ^= k1;
    if (at + 16 <= bytes.length) h1 = ((rotate(h1, 27n) + h2) * 5n + 0x52dce729n) & MASK;
    h2 ^= k2;
    if (at + 16 <= bytes.length) h2 = ((rotate(h2, 31n) + h1) * 5n + 0x38495ab5n) & MASK;
  }
  h1 ^= BigInt(bytes.length);
  h2 ^= BigInt(bytes.length);
  h1 = (h1 + h2) & MASK;
  h2 = (h2 + h1) & MASK;
  h1 = avalanche(h1);
  h2 = avalanche(h2);
  h1 = (h1 + h2) & MASK;
  h2 = (h2 + h1) & MASK;
  const out = Buffer.alloc(16);
  out.writeBigUInt64LE(h1, 0);
  out.writeBigUInt64LE(h2, 8);
  return toHex(out);
}
