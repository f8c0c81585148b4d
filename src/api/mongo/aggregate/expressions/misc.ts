/** Sizes, chance, time stamps and what documents say about themselves. */
import { createHash } from 'node:crypto';
import {
  type Bson,
  type BsonDocument,
  Double,
  Extended,
  isArray,
  isDocument,
  writeBson,
} from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { countedOperands, isNullish, type OperatorTable, typeName, unary } from './define.ts';
import type { Evaluate, Scope } from './scope.ts';

type Value = Bson | undefined;

export const MISC: OperatorTable = {
  $binarySize: unary(binarySize),
  $bsonSize: unary(bsonSize),
  $meta: meta,
  $rand: rand,
  $sampleRate: sampleRate,
  $toHashedIndexKey: unary(hashedIndexKey),
  $tsIncrement: unary((value) => timestampPart(value, '$tsIncrement', 'low', 'Location5687301')),
  $tsSecond: unary((value) => timestampPart(value, '$tsSecond', 'high', 'Location5687302')),
};

function binarySize(value: Value): Value {
  if (isNullish(value)) return null;
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof Extended && 'bytes' in value.payload && value.payload.kind !== 'objectId')
    return value.payload.bytes.length;
  throw new MongoError(
    'Location51276',
    `$binarySize requires a string or BinData argument, found: ${typeName(value)}`,
  );
}

function bsonSize(value: Value): Value {
  if (isNullish(value)) return null;
  if (!isDocument(value))
    throw new MongoError(
      'Location31393',
      `$bsonSize requires a document input, found: ${typeName(value)}`,
    );
  return writeBson(value).length;
}

function timestampPart(
  value: Value,
  name: string,
  part: 'high' | 'low',
  code: 'Location5687301' | 'Location5687302',
): Value {
  if (isNullish(value)) return null;
  if (!(value instanceof Extended) || value.payload.kind !== 'timestamp')
    throw new MongoError(code, `${name} requires a timestamp argument, found: ${typeName(value)}`);
  return BigInt(value.payload[part] >>> 0);
}

function rand(argument: Bson): Evaluate {
  const isEmptyList = isArray(argument) && argument.length === 0;
  if (isArray(argument) && !isEmptyList)
    throw new MongoError('Location3040501', '$rand does not currently accept arguments');
  if (!isDocument(argument) && !isEmptyList)
    throw new MongoError('Location10065', 'invalid parameter: expected an object ($rand)');
  if (isDocument(argument) && argument.size > 0)
    throw new MongoError('Location3040501', '$rand does not currently accept arguments');
  return () => new Double(Math.random());
}

function sampleRate(argument: Bson, _scope: Scope): Evaluate {
  const rate = isNumber(argument) ? doubleOf(argument) : Number.NaN;
  if (!isNumber(argument))
    throw new MongoError('BadValue', 'argument to $sampleRate must be a numeric type');
  if (!(rate >= 0 && rate <= 1))
    throw new MongoError('BadValue', 'numeric argument to $sampleRate must be in [0, 1]');
  return () => Math.random() < rate;
}

const META_FIELDS = new Set([
  'textScore',
  'randVal',
  'searchScore',
  'searchHighlights',
  'geoNearDistance',
  'geoNearPoint',
  'recordId',
  'indexKey',
  'sortKey',
  'searchScoreDetails',
  'vectorSearchScore',
  'searchSequenceToken',
  'timeseriesBucketMinTime',
  'timeseriesBucketMaxTime',
  'score',
  'scoreDetails',
  'stream',
]);

/** What the finding of documents left beside them; nothing here leaves any. */
function meta(argument: Bson): Evaluate {
  const [sent] = countedOperands(argument, '$meta', 1);
  if (typeof sent !== 'string')
    throw new MongoError('Location17307', '$meta only supports string arguments');
  if (!META_FIELDS.has(sent))
    throw new MongoError('Location17308', `Unsupported $meta field: ${sent}`);
  if (sent === 'textScore')
    throw new MongoError(
      'Location40218',
      'query requires text score metadata, but it is not available',
    );
  return () => undefined;
}

/** The first eight bytes of the digest that hashed indexes keep. */
function hashedIndexKey(value: Value): Value {
  return hashOf(value ?? null);
}

/** Numbers hash as the int64 that they truncate to. */
function hashOf(value: Bson): bigint {
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
  type.writeInt32LE(CANONICAL[typeName(value)] ?? 0);
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
