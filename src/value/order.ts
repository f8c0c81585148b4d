/**
 * Total orders over all values. The order between types is the collation of the container's home API; within
 * a type, the order is that of the encoded keys (tuple.ts), so that a sort and an index agree.
 *
 *   cosmos  minKey < undefined < null < false < true < number < text < array < object
 *           < binary < objectId < date < timestamp < regex < maxKey
 *           Arrays, and objects, among themselves: by digest, an arbitrary but fixed order, as in the reference service.
 *           Binary: by bytes, then subtype.
 *   bson    minKey < null, undefined < number < text < object < array < binary < objectId < bool < date
 *           < timestamp < regex < maxKey
 *           Arrays and objects among themselves: element by element, property by property in their order.
 *           Keys do not have this order (they hold a digest). Binary: by length, subtype, bytes.
 *
 * Text is compared by code point, which is the order of its UTF-8 bytes, and not by UTF-16 unit as `<` does.
 */
import { compareBytes } from '../base/index.ts';
import { canonicalDigest } from './key/canonical.ts';
import { KEY_TAGS, keyKindOf } from './key/key-tags.ts';
import { compareNumbers, type NumberValue } from './key/number-key.ts';
import {
  Extended,
  type ExtendedPayload,
  UUID_SUBTYPE,
  type Value,
  type ValueMap,
} from './value.ts';

export type Collation = 'cosmos' | 'bson';

/** Negative, zero or positive. */
export function compareValues(a: Value, b: Value, collation: Collation = 'cosmos'): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a === 'number' && typeof b === 'number') return compareNumbers(a, b);
  const kind = keyKindOf(a);
  const order = KEY_TAGS[collation][kind] - KEY_TAGS[collation][keyKindOf(b)];
  if (order !== 0) return order;
  switch (kind) {
    case 'number':
      return compareNumbers(a as NumberValue, b as NumberValue);
    case 'array':
      if (collation === 'bson')
        return compareLists(a as readonly Value[], b as readonly Value[], collation);
      return compareDigests(a, b);
    case 'object':
      if (collation === 'bson') return compareMaps(a as ValueMap, b as ValueMap, collation);
      return compareDigests(a, b);
    default:
      if (a instanceof Extended && b instanceof Extended)
        return comparePayloads(a.payload, b.payload, collation);
      return 0;
  }
}

/** By code point; a lone surrogate counts as the code point it is. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === length) return a.length - b.length;
  // If the difference is in the second half of a pair, the code points differ one unit earlier.
  if (at > 0) {
    const order = (a.codePointAt(at - 1) ?? 0) - (b.codePointAt(at - 1) ?? 0);
    if (order !== 0) return order;
  }
  return (a.codePointAt(at) ?? 0) - (b.codePointAt(at) ?? 0);
}

function compareDigests(a: Value, b: Value): number {
  return a === b ? 0 : compareBytes(canonicalDigest(a, 'cosmos'), canonicalDigest(b, 'cosmos'));
}

function compareLists(a: readonly Value[], b: readonly Value[], collation: Collation): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const order = compareValues(a[at], b[at], collation);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** The order of BSON: per property first the type of the value, then the name, then the value. */
function compareMaps(a: ValueMap, b: ValueMap, collation: Collation): number {
  const left = definedNames(a);
  const right = definedNames(b);
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const nameA = left[at] as string;
    const nameB = right[at] as string;
    const order =
      bsonTypeRank(a[nameA]) - bsonTypeRank(b[nameB]) ||
      compareTexts(nameA, nameB) ||
      compareValues(a[nameA], b[nameB], collation);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function definedNames(map: ValueMap): readonly string[] {
  return Object.keys(map).filter((name) => map[name] !== undefined);
}

function bsonTypeRank(value: Value): number {
  const kind = keyKindOf(value);
  return KEY_TAGS.bson[kind === 'true' ? 'false' : kind];
}

/** Both payloads must be of the same kind, where a uuid is a binary. */
function comparePayloads(a: ExtendedPayload, b: ExtendedPayload, collation: Collation): number {
  if (a.kind === 'objectId' && b.kind === 'objectId') return compareBytes(a.bytes, b.bytes);
  if (a.kind === 'date' && b.kind === 'date') return compareNumbers(a.ms, b.ms);
  if (a.kind === 'timestamp' && b.kind === 'timestamp') return a.high - b.high || a.low - b.low;
  if (a.kind === 'regex' && b.kind === 'regex')
    return compareTexts(a.source, b.source) || compareTexts(a.flags, b.flags);
  if ((a.kind === 'binary' || a.kind === 'uuid') && (b.kind === 'binary' || b.kind === 'uuid')) {
    const bytes = compareBytes(a.bytes, b.bytes);
    const subtype = subtypeOf(a) - subtypeOf(b);
    if (collation === 'cosmos') return bytes || subtype;
    return a.bytes.length - b.bytes.length || subtype || bytes;
  }
  return 0;
}

function subtypeOf(payload: ExtendedPayload): number {
  return payload.kind === 'binary' ? payload.subtype : UUID_SUBTYPE;
}
