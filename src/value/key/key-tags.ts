/**
 * The tag byte before every value in a key, per collation: the order of the types is the order of the tags. The two
 * collations share no tag, so that the collation can be read from the key. These numbers are on disk: do not
 * renumber. Odd numbers are reserved for future kinds.
 */
import type { Collation } from '../order.ts';
import { Extended, type ExtendedPayload, isList, type Value } from '../value.ts';

/** The kinds that keys distinguish; int64 and decimal are numbers, a uuid is a binary. */
type KeyKind =
  | Exclude<ExtendedPayload['kind'], 'int64' | 'decimal' | 'uuid'>
  | ('undefined' | 'null' | 'false' | 'true' | 'number' | 'text' | 'array' | 'object');

export const KEY_TAGS: Readonly<Record<Collation, Readonly<Record<KeyKind, number>>>> = {
  cosmos: {
    minKey: 0x10,
    undefined: 0x12,
    null: 0x14,
    false: 0x16,
    true: 0x18,
    number: 0x1a,
    text: 0x1c,
    array: 0x1e,
    object: 0x20,
    binary: 0x22,
    objectId: 0x24,
    date: 0x26,
    timestamp: 0x28,
    regex: 0x2a,
    maxKey: 0x2c,
  },
  bson: {
    minKey: 0x40,
    undefined: 0x42,
    null: 0x42,
    number: 0x44,
    text: 0x46,
    object: 0x48,
    array: 0x4a,
    binary: 0x4c,
    objectId: 0x4e,
    false: 0x50,
    true: 0x52,
    date: 0x54,
    timestamp: 0x56,
    regex: 0x58,
    maxKey: 0x5a,
  },
};

export function keyKindOf(value: Value): KeyKind {
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
      return 'number';
    case 'boolean':
      return value ? 'true' : 'false';
    case 'undefined':
      return 'undefined';
  }
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (!(value instanceof Extended)) return 'object';
  const { kind } = value.payload;
  if (kind === 'int64' || kind === 'decimal') return 'number';
  return kind === 'uuid' ? 'binary' : kind;
}

/** The first byte of the value's key. All values of its type are between this tag and the next. */
export function keyTagOf(value: Value, collation: Collation = 'cosmos'): number {
  return KEY_TAGS[collation][keyKindOf(value)];
}
