/** Sizes, chance, time stamps and what documents say about themselves. */
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
import { hashOf } from '../../bson/hash.ts';
import { MongoError } from '../../errors.ts';
import { isMetadataKind, metadataOf } from '../../metadata/metadata.ts';
import { unavailable } from '../../metadata/metadata-scope.ts';
import { isNullish, type OperatorTable, typeName, unary } from './define.ts';
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

/** What the finding of documents left beside them. */
function meta(argument: Bson, scope: Scope): Evaluate {
  if (typeof argument !== 'string')
    throw new MongoError('Location17307', '$meta only supports string arguments');
  if (!META_FIELDS.has(argument))
    throw new MongoError('Location17308', `Unsupported $meta field: ${argument}`);
  if (!isMetadataKind(argument)) return () => undefined;
  const { metadata } = scope.context;
  if (metadata === undefined) {
    if (argument === 'textScore') throw unavailable(argument);
    return () => undefined;
  }
  if (!metadata.need(argument)) return () => undefined;
  return (frame) => metadataOf(frame[0] as BsonDocument)?.(argument);
}

/** The first eight bytes of the digest that hashed indexes keep. */
function hashedIndexKey(value: Value): Value {
  return hashOf(value ?? null);
}
