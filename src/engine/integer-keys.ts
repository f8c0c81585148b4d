/**
 * Integer keys: the byte INTEGER_KEY_PREFIX and an integer below 2^53 in eight bytes. No other key begins with that
 * byte, so an engine may store such entries by integer, the cheapest key to look up. Records have them; a pointer to
 * a record is the eight bytes of its integer. Values under integer keys are not pointers themselves.
 */
import { assert, type Bytes, readU64 } from '../base/index.ts';
import type { KeyRange } from './engine.ts';

export const INTEGER_KEY_PREFIX = 0x10;

/** Greater than every integer of a key. */
export const INTEGER_KEYS_END = 2 ** 53;

/** Bytes of an integer in keys and values. */
export const INTEGER_KEY_BYTES = 8;
const KEY_BYTES = 1 + INTEGER_KEY_BYTES;

export function isIntegerKeyed(key: Bytes): boolean {
  return key[0] === INTEGER_KEY_PREFIX;
}

/** The integer of an integer key. */
export function integerOfKey(key: Bytes): number {
  assert(key.length === KEY_BYTES, 'an integer key has nine bytes');
  const integer = readU64(key, 1);
  assert(integer < INTEGER_KEYS_END, 'the integer of a key is below 2^53');
  return integer;
}

/** The integer of a value that points to an integer key; undefined for other values. */
export function integerOfValue(value: Bytes): number | undefined {
  if (value.length !== INTEGER_KEY_BYTES) return undefined;
  const integer = readU64(value, 0);
  return integer < INTEGER_KEYS_END ? integer : undefined;
}

/** The numbers from `first` up to, but not including, `end`. */
interface IntegerRange {
  readonly first: number;
  readonly end: number;
}

/** The integers whose keys are in a range; undefined where there are none. */
export function integersWithin({ start, end }: KeyRange): IntegerRange | undefined {
  const first = firstFrom(start);
  const endInteger = end === undefined ? INTEGER_KEYS_END : firstFrom(end);
  return first < endInteger ? { first, end: endInteger } : undefined;
}

/** The first integer whose key is not before `bound`. */
function firstFrom(bound: Bytes): number {
  const [prefix = 0] = bound;
  if (prefix !== INTEGER_KEY_PREFIX) return prefix < INTEGER_KEY_PREFIX ? 0 : INTEGER_KEYS_END;
  const padded = new Uint8Array(KEY_BYTES);
  padded.set(bound.subarray(0, KEY_BYTES));
  const integer = readU64(padded, 1);
  return Math.min(bound.length > KEY_BYTES ? integer + 1 : integer, INTEGER_KEYS_END);
}
