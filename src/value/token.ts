/**
 * Tokens of Cassandra's Murmur3Partitioner: signed 64-bit hashes of serialized partition keys. Drivers compute them
 * too, to find ranges of keys, so every bit counts.
 */
import { assert, type Bytes, murmur3x64_128 } from '../base/index.ts';

/** No key has the least number as its token: it is where the ring begins. */
const TOKEN_MIN = -(2n ** 63n);
const TOKEN_MAX = 2n ** 63n - 1n;

const BLOCK_BYTES = 16;
const WORD_BYTES = 8;
const TOKEN_PREFIX = 0x01;
const TOKEN_EPK_BYTES = 9;

/** The token of a serialized partition key. */
export function cassandraToken(key: Bytes): bigint {
  const hash = Buffer.from(murmur3x64_128(withSignedTail(key), 0, key.length));
  const token = hash.readBigInt64LE(0);
  return token === TOKEN_MIN ? TOKEN_MAX : token;
}

/** Its place in the hash space: the prefix keeps it below the end of the space. */
export function epkOfToken(token: bigint): Bytes {
  const epk = Buffer.alloc(TOKEN_EPK_BYTES);
  epk[0] = TOKEN_PREFIX;
  epk.writeBigUInt64BE(BigInt.asUintN(64, token - TOKEN_MIN), 1);
  return epk;
}

export function tokenOfEpk(epk: Bytes): bigint {
  assert(epk.length >= TOKEN_EPK_BYTES && epk[0] === TOKEN_PREFIX, 'the key of a token');
  return Buffer.from(epk).readBigUInt64BE(1) + TOKEN_MIN;
}

/**
 * The key with its last block as Cassandra sees it. Java's bytes are signed: a byte of the tail from 80 on flips all
 * bytes above it in its word of eight. Complete blocks are read as they are.
 */
function withSignedTail(key: Bytes): Bytes {
  const tail = key.length - (key.length % BLOCK_BYTES);
  let isSigned = false;
  for (let at = tail; at < key.length; at++) isSigned ||= (key[at] as number) >= 0x80;
  if (!isSigned) return key;
  const padded = new Uint8Array(tail + BLOCK_BYTES);
  padded.set(key);
  for (let word = tail; word < padded.length; word += WORD_BYTES) {
    let flip = 0;
    for (let at = word; at < word + WORD_BYTES; at++) {
      const isNegative = at < key.length && (key[at] as number) >= 0x80;
      padded[at] = (padded[at] as number) ^ flip;
      if (isNegative) flip ^= 0xff;
    }
  }
  return padded;
}
