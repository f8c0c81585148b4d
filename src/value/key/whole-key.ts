/**
 * Row keys: lists of values as bytes in the order of the values, each value ascending or descending. Unlike terms of
 * an index (tuple.ts), they hold every value whole, so that they can be read back and no two values share a key.
 *
 * Format, version 1. It is on disk: do not change it. Values are as in tuple.ts, but for
 *
 *   text       := escaped 00                      of any length; escaped: 00 as 01 01, 01 as 01 02
 *   binary     := escaped 00 subtype              cosmos
 *               | length4 subtype bytes           bson
 *   regex      := text text
 *   array      := value … 00                      bson; cosmos has the digest
 *   object     := (type name value) … 00          bson, in the order of the properties; cosmos has the digest. The
 *                                                 type is the tag of the value, for true that of false; names are texts
 *
 * No value is the beginning of another (tuple.ts has texts that are), so that all bits of a descending value can be
 * flipped, and keys that begin with a value are neighbours. The digits of a decimal beyond 128 are a digest, as in tuple.ts.
 */
import type { Bytes } from '../../base/index.ts';
import type { Collation } from '../order.ts';
import type { Value } from '../value.ts';
import { KeyReader } from './key-reader.ts';
import { KeyWriter } from './key-writer.ts';

interface WholeKeyOrder {
  readonly collation: Collation;
  /** By position; ascending where it is absent. */
  readonly isDescending?: readonly boolean[];
}

/** Keys are written synchronously, one at a time, so a single writer is enough. */
const writer = new KeyWriter();

/** The key of the first values is a prefix of the keys of all lists that begin with them. */
export function encodeWhole(values: readonly Value[], order: WholeKeyOrder): Bytes {
  writer.reset();
  for (let at = 0; at < values.length; at++) {
    const { length } = writer;
    writer.whole(values[at], order.collation);
    if (order.isDescending?.[at] === true) writer.flip(length);
  }
  return writer.take();
}

/** All values of a key. Arrays and objects in the cosmos collation come back empty. */
export function decodeWhole(key: Bytes, { isDescending }: WholeKeyOrder): readonly Value[] {
  const flipped = isDescending?.includes(true) === true ? key.map((byte) => byte ^ 0xff) : key;
  const values: Value[] = [];
  for (let at = 0; at < key.length; ) {
    const reader = new KeyReader(isDescending?.[values.length] === true ? flipped : key, at);
    values.push(reader.whole());
    at = reader.position;
  }
  return values;
}
