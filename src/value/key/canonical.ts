/**
 * A digest of fixed size for an array or object where only equality matters: the first half of the SHA-256 of its
 * canonical text. SHA, because a client must not be able to make two values collide on purpose. The text is part of
 * the key format (tuple.ts): do not change it for any value.
 */
import { hash } from 'node:crypto';
import { type Bytes, draw, spend, toHex, unreachable } from '../../base/index.ts';
import type { Collation } from '../order.ts';
import { Extended, isList, UUID_SUBTYPE, type Value, type ValueMap } from '../value.ts';
import { canonicalNumberText } from './number-key.ts';

/** Bytes of a digest: 128 bits, so that accidental collisions do not happen. */
export const DIGEST_BYTES = 16;

/** Equal bytes exactly for equal values: with 'cosmos' as in equalValues, with 'bson' also in property order. */
export function canonicalDigest(value: Value, collation: Collation): Bytes {
  return digestOf(canonicalText(value, collation));
}

export function digestOf(content: Bytes | string): Bytes {
  return hash('sha256', content, 'buffer').subarray(0, DIGEST_BYTES);
}

function canonicalText(value: Value, collation: Collation): string {
  draw(typeof value === 'string' ? 16 + value.length : 16);
  spend(10);
  if (value === undefined) return collation === 'bson' ? 'null' : 'undefined';
  if (typeof value === 'number') return canonicalNumberText(value);
  if (value instanceof Extended) return canonicalExtended(value);
  if (isList(value))
    return `[${value.map((element) => canonicalText(element, collation)).join(',')}]`;
  if (typeof value === 'object' && value !== null) return canonicalMap(value, collation);
  return JSON.stringify(value);
}

function canonicalMap(map: ValueMap, collation: Collation): string {
  const names = Object.keys(map).filter((name) => map[name] !== undefined);
  if (collation === 'cosmos') names.sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(map[name], collation)}`).join(',')}}`;
}

function canonicalExtended(value: Extended): string {
  const { payload } = value;
  switch (payload.kind) {
    case 'int64':
    case 'decimal':
      return canonicalNumberText(value);
    case 'date':
      return `date(${payload.ms})`;
    case 'uuid':
      return `binary(${UUID_SUBTYPE},${toHex(payload.bytes)})`;
    case 'binary':
      return `binary(${payload.subtype},${toHex(payload.bytes)})`;
    case 'objectId':
      return `objectId(${toHex(payload.bytes)})`;
    case 'timestamp':
      return `timestamp(${payload.high},${payload.low})`;
    case 'regex':
      return `regex(${JSON.stringify(payload.source)},${JSON.stringify(payload.flags)})`;
    case 'minKey':
    case 'maxKey':
      return payload.kind;
    default:
      return unreachable(payload);
  }
}
