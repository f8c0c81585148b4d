/**
 * MurmurHash3 (Austin Appleby, public domain), in the two variants that effective partition keys use. 64-bit words
 * are pairs of 32-bit halves, because BigInt would be some fifty times slower and every request hashes a partition
 * key. Not for secrets, and not where a client must be unable to make two keys collide.
 */
import type { Bytes } from './bytes.ts';

/** MurmurHash3 x86 32 bit, as an unsigned number. */
export function murmur3x86_32(bytes: Bytes, seed = 0): number {
  const length = bytes.length;
  const whole = length & ~3;
  let hash = seed | 0;
  for (let at = 0; at < whole; at += 4) {
    hash ^= scramble32(word(bytes, at));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  if (whole < length) hash ^= scramble32(partialWord(bytes, whole));
  hash ^= length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function scramble32(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

/** The constants of the 128-bit variant, high and low half. */
const C1_HIGH = 0x87c37b91;
const C1_LOW = 0x114253d5;
const C2_HIGH = 0x4cf5ad43;
const C2_LOW = 0x2745937f;
const MIX1_HIGH = 0xff51afd7;
const MIX1_LOW = 0xed558ccd;
const MIX2_HIGH = 0xc4ceb9fe;
const MIX2_LOW = 0x1a85ec53;

/**
 * MurmurHash3 x64 128 bit. The sixteen bytes are the two 64-bit words h1 and h2, each little-endian, as in the memory
 * of the original program.
 * @param length - less than there are bytes where the last block comes padded with others than zeros.
 */
export function murmur3x64_128(bytes: Bytes, seed = 0, length = bytes.length): Bytes {
  let h1High = 0;
  let h1Low = seed | 0;
  let h2High = 0;
  let h2Low = seed | 0;
  for (let at = 0; at < length; at += 16) {
    // The last block may be partial: it is padded with zeros, and the mixing of h1 and h2 is left out.
    const isWhole = at + 16 <= length;
    // k1 = rotl(k1 * c1, 31) * c2; h1 ^= k1
    let low = isWhole ? word(bytes, at) : partialWord(bytes, at);
    let high = isWhole ? word(bytes, at + 4) : partialWord(bytes, at + 4);
    let upper = productHigh(high, low, C1_HIGH, C1_LOW);
    let lower = Math.imul(low, C1_LOW);
    high = (upper << 31) | (lower >>> 1);
    low = (lower << 31) | (upper >>> 1);
    h1High ^= productHigh(high, low, C2_HIGH, C2_LOW);
    h1Low ^= Math.imul(low, C2_LOW);
    if (isWhole) {
      // h1 = (rotl(h1, 27) + h2) * 5 + 0x52dce729
      low = (h1Low << 27) | (h1High >>> 5);
      high = (h1High << 27) | (h1Low >>> 5);
      high = (high + h2High + carry(low, h2Low)) | 0;
      low = (low + h2Low) | 0;
      lower = Math.imul(low, 5);
      h1High = (productHigh(high, low, 0, 5) + carry(lower, 0x52dce729)) | 0;
      h1Low = (lower + 0x52dce729) | 0;
    }
    // k2 = rotl(k2 * c2, 33) * c1; h2 ^= k2
    low = isWhole ? word(bytes, at + 8) : partialWord(bytes, at + 8);
    high = isWhole ? word(bytes, at + 12) : partialWord(bytes, at + 12);
    upper = productHigh(high, low, C2_HIGH, C2_LOW);
    lower = Math.imul(low, C2_LOW);
    high = (lower << 1) | (upper >>> 31);
    low = (upper << 1) | (lower >>> 31);
    h2High ^= productHigh(high, low, C1_HIGH, C1_LOW);
    h2Low ^= Math.imul(low, C1_LOW);
    if (isWhole) {
      // h2 = (rotl(h2, 31) + h1) * 5 + 0x38495ab5
      low = (h2Low << 31) | (h2High >>> 1);
      high = (h2High << 31) | (h2Low >>> 1);
      high = (high + h1High + carry(low, h1Low)) | 0;
      low = (low + h1Low) | 0;
      lower = Math.imul(low, 5);
      h2High = (productHigh(high, low, 0, 5) + carry(lower, 0x38495ab5)) | 0;
      h2Low = (lower + 0x38495ab5) | 0;
    }
  }
  return finish128(h1High, h1Low ^ length, h2High, h2Low ^ length);
}

/** h1 += h2, h2 += h1, avalanche each, h1 += h2, h2 += h1; then the bytes. */
function finish128(h1High: number, h1Low: number, h2High: number, h2Low: number): Bytes {
  let aHigh = (h1High + h2High + carry(h1Low, h2Low)) | 0;
  let aLow = (h1Low + h2Low) | 0;
  let bHigh = (h2High + aHigh + carry(h2Low, aLow)) | 0;
  let bLow = (h2Low + aLow) | 0;
  // avalanche: k ^= k >>> 33; k *= mix1; k ^= k >>> 33; k *= mix2; k ^= k >>> 33
  aLow ^= aHigh >>> 1;
  aHigh = productHigh(aHigh, aLow, MIX1_HIGH, MIX1_LOW);
  aLow = Math.imul(aLow, MIX1_LOW) ^ (aHigh >>> 1);
  aHigh = productHigh(aHigh, aLow, MIX2_HIGH, MIX2_LOW);
  aLow = Math.imul(aLow, MIX2_LOW) ^ (aHigh >>> 1);
  bLow ^= bHigh >>> 1;
  bHigh = productHigh(bHigh, bLow, MIX1_HIGH, MIX1_LOW);
  bLow = Math.imul(bLow, MIX1_LOW) ^ (bHigh >>> 1);
  bHigh = productHigh(bHigh, bLow, MIX2_HIGH, MIX2_LOW);
  bLow = Math.imul(bLow, MIX2_LOW) ^ (bHigh >>> 1);

  aHigh = (aHigh + bHigh + carry(aLow, bLow)) | 0;
  aLow = (aLow + bLow) | 0;
  bHigh = (bHigh + aHigh + carry(bLow, aLow)) | 0;
  bLow = (bLow + aLow) | 0;
  // The pool is used because V8 moves a small separate Uint8Array out of the heap at its first comparison.
  const digest = Buffer.allocUnsafe(16);
  putWord(digest, 0, aLow);
  putWord(digest, 4, aHigh);
  putWord(digest, 8, bLow);
  putWord(digest, 12, bHigh);
  return digest;
}

/** The high half of the 64-bit product of two 64-bit words; the low half is Math.imul of the low halves. */
function productHigh(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const a0 = aLow & 0xffff;
  const a1 = aLow >>> 16;
  const b0 = bLow & 0xffff;
  const b1 = bLow >>> 16;
  // None of these sums exceeds 32 bits, so they may be kept as integers.
  const middle = (Math.imul(a1, b0) + (Math.imul(a0, b0) >>> 16)) | 0;
  const lower = (Math.imul(a0, b1) + (middle & 0xffff)) | 0;
  const carried = (((Math.imul(a1, b1) + (middle >>> 16)) | 0) + (lower >>> 16)) | 0;
  return (((carried + Math.imul(aHigh, bLow)) | 0) + Math.imul(aLow, bHigh)) | 0;
}

/** 1 when the sum of two 32-bit halves overflows. */
function carry(a: number, b: number): number {
  return ((a + b) | 0) >>> 0 < a >>> 0 ? 1 : 0;
}

function word(bytes: Bytes, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

/** The word at `at`, with zeros after the end of the array. */
function partialWord(bytes: Bytes, at: number): number {
  const end = Math.min(bytes.length, at + 4);
  let result = 0;
  for (let index = at; index < end; index++)
    result |= (bytes[index] as number) << ((index - at) * 8);
  return result;
}

function putWord(bytes: Bytes, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}
