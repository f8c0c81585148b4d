/** The hash of a value, as hashed indexes and `$toHashedIndexKey` have it: the first eight bytes of a digest. */
import { createHash } from 'node:crypto';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
  writeBson,
} from '../../../value/index.ts';
import { doubleOf, isNumber } from './arithmetic.ts';

/** Numbers hash as the int64 that they truncate to. */
export function hashOf(value: Bson): bigint {
  const digest = createHash('md5');
  const seed = Buffer.alloc(4);
  digest.update(seed);
  digest.update(hashBytes(value));
  return digest.digest().readBigInt64LE(0);
}

const CANONICAL: Readonly<Record<string, number>> = {
  minKey: 255,
  null: 5,
  undefined: 0,
  int: 10,
  long: 10,
  double: 10,
  decimal: 10,
  string: 15,
  symbol: 15,
  object: 20,
  array: 25,
  binData: 30,
  objectId: 35,
  bool: 40,
  date: 45,
  timestamp: 47,
  regex: 50,
  maxKey: 127,
};

function hashBytes(value: Bson): Buffer {
  const type = Buffer.alloc(4);
  type.writeInt32LE(CANONICAL[bsonTypeOf(value)] ?? 0);
  if (isNumber(value)) {
    const body = Buffer.alloc(8);
    const double = Math.trunc(doubleOf(value));
    const whole = typeof value === 'bigint' ? value : BigInt(Number.isFinite(double) ? double : 0);
    body.writeBigInt64LE(BigInt.asIntN(64, whole));
    return Buffer.concat([type, body]);
  }
  const name = Buffer.from('\0');
  if (isDocument(value) || isArray(value)) {
    const entries: Iterable<readonly [string, Bson]> = isDocument(value)
      ? value
      : value.map((part, at) => [String(at), part] as const);
    const parts: Buffer[] = [type, name];
    for (const [field, part] of entries) parts.push(hashBytes(part), Buffer.from(`${field}\0`));
    parts.push(Buffer.alloc(4));
    return Buffer.concat(parts);
  }
  const document: BsonDocument = new Map([['', value]]);
  const whole = Buffer.from(writeBson(document));
  return Buffer.concat([type, whole.subarray(6, whole.length - 1)]);
}
