/**
 * Numbered keys: the byte INTEGER_KEY_PREFIX and a number below 2^53 in eight bytes. No other key begins with that byte, so
 * an engine may keep what is under them by number, the cheapest thing to look up that there is. Records go there; a
 * pointer to one is the eight bytes of its number. What is under numbered keys points nowhere itself.
 */
import { assert, type Bytes, readU64 } from '../base/index.ts';
import type { KeyRange } from './engine.ts';

export const INTEGER_KEY_PREFIX = 0x10;

/** Greater than every number. */
export const INTEGER_KEYS_END = 2 ** 53;

/** Of a number as it stands in keys and values. */
export const INTEGER_KEY_BYTES = 8;
const KEY_BYTES = 1 + INTEGER_KEY_BYTES;

export function isIntegerKeyed(key: Bytes): boolean {
  return key[0] === INTEGER_KEY_PREFIX;
}

/** The number of a numbered key. */
export function integerOfKey(key: Bytes): number {
  assert(key.length === KEY_BYTES, 'a numbered key has nine bytes');
  const number = readU64(key, 1);
  assert(number < INTEGER_KEYS_END, 'the number of a key is below 2^53');
  return number;
}

/** The number that a value is, and by which it points to a numbered key; undefined where it is none. */
export function integerOfValue(value: Bytes): number | undefined {
  if (value.length !== INTEGER_KEY_BYTES) return undefined;
  const number = readU64(value, 0);
  return number < INTEGER_KEYS_END ? number : undefined;
}

/** The numbers from `first` up to, but not including, `end`. */
interface IntegerRange {
  readonly first: number;
  readonly end: number;
}

/** Whose keys lie in a range; undefined where there are none. */
export function integersWithin({ start, end }: KeyRange): IntegerRange | undefined {
  const first = firstFrom(start);
  const behind = end === undefined ? INTEGER_KEYS_END : firstFrom(end);
  return first < behind ? { first, end: behind } : undefined;
}

/** The first number whose key is not before `bound`. */
function firstFrom(bound: Bytes): number {
  const [prefix = 0] = bound;
  if (prefix !== INTEGER_KEY_PREFIX) return prefix < INTEGER_KEY_PREFIX ? 0 : INTEGER_KEYS_END;
  const padded = new Uint8Array(KEY_BYTES);
  padded.set(bound.subarray(0, KEY_BYTES));
  const number = readU64(padded, 1);
  return Math.min(bound.length > KEY_BYTES ? number + 1 : number, INTEGER_KEYS_END);
}
