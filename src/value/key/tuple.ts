/**
 * Values as keys: comparing the bytes of two encoded tuples compares the tuples, value by value, in the order
 * of compareValues. Every engine orders its entries by such bytes.
 *
 * Format, version 1. It is on disk: do not renumber tags, do not change a payload. A later version takes tags that
 * are free now, so that old and new keys can be distinguished. Big-endian throughout.
 *
 *   value      := tag payload                     tags per collation in key-tags.ts
 *   null, undefined, false, true, minKey, maxKey   no payload
 *   number     := double 00 | double 01 suffix    the double is the greatest not above the number; the suffix, which
 *                                                 only numbers that are not doubles have, is in number-suffix.ts
 *   double     := 8 bytes IEEE 754, sign bit flipped; complemented when negative; zeros for NaN; -0 as 0
 *   text       := bounded                         of the text as UTF-8 (wtf8.ts for lone surrogates)
 *   bounded    := escaped 00                      escaped: every 00 as 00 FF
 *               | escaped FF digest               when the escaped form is longer than KEY_TEXT_BYTES_MAX: it ends
 *                                                 after that many bytes (one more to keep an escape whole)
 *   digest     := 16 bytes                        first half of the SHA-256 of the whole content
 *   array, object := digest                       of the canonical text (canonical.ts): equality only
 *   binary     := bounded subtype                 cosmos
 *               | length4 subtype first digest?   bson; the digest follows when more than KEY_TEXT_BYTES_MAX bytes
 *   objectId   := 12 bytes
 *   date       := double                          milliseconds since 1970
 *   timestamp  := high4 low4
 *   regex      := bounded bounded                 source, flags
 *
 * The byte after an end mark 00 distinguishes it from an escaped 00 FF, so no next part may begin with FF. Tags
 * and numbers of the system (u64 of a safe integer) do not.
 *
 * The order is not exact among texts that are equal in their first KEY_TEXT_BYTES_MAX escaped bytes and
 * both longer, and likewise binaries, and among arrays or objects in the bson collation. Such keys are still equal only
 * for equal values. A range whose bound is such a value must be widened to the truncated key and rechecked. A caller
 * that needs the exact order must sort the values whose truncated keys are equal.
 */
import { assert, type Bytes } from '../../base/index.ts';
import type { Collation } from '../order.ts';
import type { Value } from '../value.ts';
import { KeyReader } from './key-reader.ts';
import { KeyWriter } from './key-writer.ts';

/** Keys are written synchronously, one at a time, so a single writer is enough. */
const writer = new KeyWriter();

export function encodeTuple(values: readonly Value[], collation: Collation = 'cosmos'): Bytes {
  writer.reset();
  for (const value of values) writer.value(value, collation);
  return writer.take();
}

/** Decodes the values, in either collation. Only for tuples that hold all of their values: see isExactTuple. */
export function decodeTuple(bytes: Bytes): readonly Value[] {
  const reader = new KeyReader(bytes);
  const values = readAll(reader);
  assert(reader.isExact, 'the tuple holds a digest instead of a value');
  return values;
}

/** False if a text was truncated, or if an array or object is only there as its digest. */
export function isExactTuple(bytes: Bytes): boolean {
  const reader = new KeyReader(bytes);
  readAll(reader);
  return reader.isExact;
}

function readAll(reader: KeyReader): readonly Value[] {
  const values: Value[] = [];
  while (!reader.isAtEnd) values.push(reader.value());
  return values;
}
