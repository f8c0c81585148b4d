// Goal: the digests are those of the runtime's own HMAC. Method: keys and texts of all lengths around the bounds, seeded.
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { HmacSha256 } from './hmac.ts';
import { seededRandom } from './random.ts';

const SEED = 20261116;

const digestOf = (key: Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

test(`digests of texts of any length with keys of any length, seed ${SEED}`, () => {
  const random = seededRandom(SEED);
  for (const keyBytes of [0, 1, 32, 63, 64, 65, 200]) {
    const key = Uint8Array.from({ length: keyBytes }, () => random.below(256));
    const hmac = new HmacSha256(key);
    for (const length of [0, 1, 64, 100, 1365, 1366, 5000]) {
      const text = Array.from({ length }, () => String.fromCharCode(random.below(0xd800))).join('');
      const digest = digestOf(key, text);
      for (const isOften of [false, true, true])
        expect(hmac.isDigest(text, digest, isOften)).toBe(true);
      const at = random.below(32);
      digest[at] = (digest[at] as number) ^ 1;
      for (const isOften of [false, true]) expect(hmac.isDigest(text, digest, isOften)).toBe(false);
    }
  }
});

test('a short text after a long one, a lone surrogate, and digests of other lengths', () => {
  const key = Buffer.from('key');
  const hmac = new HmacSha256(key);
  expect(hmac.isDigest('x'.repeat(1000), digestOf(key, 'x'.repeat(1000)))).toBe(true);
  expect(hmac.isDigest('x', digestOf(key, 'x'))).toBe(true);
  expect(hmac.isDigest('\ud800', digestOf(key, '\ud800'))).toBe(true);
  expect(hmac.isDigest('x', digestOf(key, 'x').subarray(1))).toBe(false);
  expect(hmac.isDigest('x', Buffer.alloc(0))).toBe(false);
});
