/**
 * Reads values from keys that are texts of one character per byte, as index scans return them by the ten thousand.
 * The most frequent values, doubles and plain texts, are read without a copy to bytes. KeyReader reads the others.
 */

import type { Value } from '../value.ts';
import { KeyReader } from './key-reader.ts';
import { KEY_TAGS } from './key-tags.ts';

/** The result for a value that its key holds only in part. */
export const TRUNCATED: unique symbol = Symbol('truncated');

const { number: NUMBER, text: TEXT } = KEY_TAGS.cosmos;
/** Tag, double, end mark. */
const NUMBER_LENGTH = 10;

/** Escapes, truncated texts and characters of more than one byte: keys that are not their own text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters are bytes
const NOT_PLAIN = /[^\x01-\x7f]/;

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);
const [LOW, HIGH] = isLittleEndian() ? [0, 1] : [1, 0];

/** The value encoded in key[from, to), in the cosmos collation. */
export function valueOfKeyText(key: string, from: number, to: number): Value | typeof TRUNCATED {
  const tag = key.charCodeAt(from);
  if (tag === NUMBER && to - from === NUMBER_LENGTH) return doubleAt(key, from + 1);
  if (tag === TEXT) {
    const text = key.slice(from + 1, to - 1);
    if (!NOT_PLAIN.test(text) && key.charCodeAt(to - 1) === 0) return text;
  }
  const reader = new KeyReader(Buffer.from(key.slice(from, to), 'latin1'));
  const value = reader.value();
  return reader.isExact ? value : TRUNCATED;
}

function doubleAt(key: string, at: number): number {
  const high = wordAt(key, at);
  const low = wordAt(key, at + 4);
  if (high === 0 && low === 0) return Number.NaN;
  const isPositive = high >= 0x80000000;
  halves[HIGH] = isPositive ? high ^ 0x80000000 : ~high;
  halves[LOW] = isPositive ? low : ~low;
  return double[0] as number;
}

function wordAt(key: string, at: number): number {
  return (
    ((key.charCodeAt(at) << 24) |
      (key.charCodeAt(at + 1) << 16) |
      (key.charCodeAt(at + 2) << 8) |
      key.charCodeAt(at + 3)) >>>
    0
  );
}

function isLittleEndian(): boolean {
  return new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
}
