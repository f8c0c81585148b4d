/**
 * Tells of most keys that are not in the partition that they are not, without asking the store: a Bloom filter over the
 * primary keys. A create looks for its key before it writes, and nearly always there is nothing; the look-up in the
 * store costs as much as the rest of the decision. The filter may be wrong in one way only: it may think that a key is
 * there which is not.
 *
 * It grows by layers, each twice as large as all before it, up to a bound; beyond it, it is wrong more often.
 */
import type { Bytes } from '../../base/index.ts';

/** About one key in a hundred and twenty is taken for one that is there. */
const BITS_PER_KEY = 10;
const PROBES = 7;
const FIRST_LAYER_KEYS = 4096;
/** Of one layer: 3.3 million keys. */
const LAYER_BYTES_MAX = 4 * 1024 * 1024;

interface Layer {
  readonly bits: Uint32Array;
  /** Of bit places, which are a power of two. */
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

  /** False: it was never added. */
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

/** The two halves of the last hash: results without an object for every key. */
let first = 0;
let second = 0;

/** Two multiplicative hashes at once; the second is odd, so that its multiples visit every place. */
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
