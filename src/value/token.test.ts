// Goal: tokens are those of Cassandra, and their order is that of their places in the hash space.
// Method: known tokens, and random keys against the tokenizer of the stock driver.
import { createRequire } from 'node:module';
import { expect, it, test } from 'vitest';
import { compareBytes, seededRandom, textToBytes, toHex } from '../base/index.ts';
import { EPK_MAX, EPK_MIN, evenEpkBoundaries, ringPosition } from './epk.ts';
import { cassandraToken, epkOfToken, tokenOfEpk } from './token.ts';

const { Murmur3Tokenizer } = createRequire(import.meta.url)(
  'cassandra-driver/lib/tokenizer.js',
) as {
  readonly Murmur3Tokenizer: new () => {
    hash(key: Buffer): { getValue(): { toString(): string } };
  };
};
const tokenizer = new Murmur3Tokenizer();
const TOKEN = { paths: ['/a'], kind: 'Token', version: 2 } as const;

it.each([
  ['', 0n],
  ['123', -7468325962851647638n],
  ['a', -8839064797231613815n],
  ['\u0080', -7133875319593010372n],
])('the token of %j', (text, expected) => {
  expect(cassandraToken(textToBytes(text))).toBe(expected);
});

test('tokens are those of the stock driver, seed 4', () => {
  const random = seededRandom(4);
  for (let round = 0; round < 3000; round++) {
    const key = Buffer.from(Array.from({ length: random.below(70) }, () => random.below(256)));
    const expected = tokenizer.hash(key).getValue().toString();
    expect(String(cassandraToken(key)), key.toString('hex')).toBe(expected);
  }
});

test('the hash space of tokens has their order, and can be read back', () => {
  const tokens = [-(2n ** 63n) + 1n, -5n, -1n, 0n, 1n, 2n ** 40n, 2n ** 63n - 1n];
  for (const [at, token] of tokens.entries()) {
    const epk = epkOfToken(token);
    expect(tokenOfEpk(epk)).toBe(token);
    expect(compareBytes(EPK_MIN, epk) < 0 && compareBytes(epk, EPK_MAX) < 0).toBe(true);
    if (at > 0) expect(compareBytes(epkOfToken(tokens[at - 1] as bigint), epk)).toBe(-1);
  }
  expect(toHex(epkOfToken(0n))).toBe('018000000000000000');
});

test('even ranges divide the ring of tokens', () => {
  expect(evenEpkBoundaries(4, TOKEN).map(toHex)).toEqual([
    '',
    '014000000000000000',
    '018000000000000000',
    '01C000000000000000',
    'FF',
  ]);
  expect(ringPosition(epkOfToken(0n), TOKEN)).toBe(0.5);
  expect(ringPosition(EPK_MAX, TOKEN)).toBe(1);
});
