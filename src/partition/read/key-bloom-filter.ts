/**
 * A Bloom filter over the primary keys: shows for most absent keys that they are absent, without the store. A create
 * reads its key before it writes, and nearly always finds nothing; that lookup in the store costs as much as the rest
 * of the decision. The filter may only be wrong about absent keys: it may report one as possibly present.
 *
 * It grows by layers, each twice as large as the one before, up to a bound; beyond the bound it is wrong more often.
 */
import type { Bytes } from '../../base/index.ts';

/** About one absent key in a hundred and twenty is reported as possibly present. */
const BITS_PER_KEY = 10;
const PROBES = 7;
const FIRST_LAYER_KEYS = 4096;
/** Bytes of one layer: 3.3 million keys. */
const LAYER_BYTES_MAX = 4 * 1024 * 1024;

interface Layer {
  readonly bits: Uint32Array;
  /** Mask of the bit positions, whose number is a power of two. */
  readonly mask: number;
  readonly keysMax: number;
  keys: number;
}

export class KeyBloomFilter {
  readonly #layers: Layer[] = [newLayer(FIRST_LAYER_KEYS)];

  add(key: Bytes): void {
    let layer = this.#layers.at(-1) as Layer;
    if (layer.keys >= layer.keysMax && layer.bits.byteLength < LAYER_BYTES_MAX) {
      layer = newLayer(layer.keysMax * 2);
      this.#layers.push(layer);
    }
    layer.keys++;
    const { bits, mask } = layer;
    hash(key);
    for (let probe = 0, place = first; probe < PROBES; probe++, place = (place + second) | 0) {
      const bit = place & mask;
      bits[bit >>> 5] = (bits[bit >>> 5] as number) | (1 << (bit & 31));
    }
  }

  /** False: the key was never added. */
  mayHave(key: Bytes): boolean {
    hash(key);
    for (const { bits, mask } of this.#layers) if (isSet(bits, mask)) return true;
    return false;
  }
}

function isSet(bits: Uint32Array, mask: number): boolean {
  for (let probe = 0, place = first; probe < PROBES; probe++, place = (place + second) | 0) {
    const bit = place & mask;
    if (((bits[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}

function newLayer(keysMax: number): Layer {
  const places = 2 ** Math.ceil(Math.log2(keysMax * BITS_PER_KEY));
  return { bits: new Uint32Array(places / 32), mask: places - 1, keysMax, keys: 0 };
}

/** The two results of the last hash, kept here to save an object for every key. */
let first = 0;
let second = 0;

/** Computes two multiplicative hashes; the second is odd, so that its multiples reach every position. */
function hash(key: Bytes): void {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (let at = 0; at < key.length; at++) {
    const byte = key[at] as number;
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x5bd1e995) ^ (b >>> 15);
  }
  first = Math.imul(a ^ (a >>> 15), 0x2c1b3c6d);
  first ^= first >>> 13;
  second = Math.imul(b ^ (b >>> 13), 0x297a2d39) | 1;
}
