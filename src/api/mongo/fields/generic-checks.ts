/** Checks of the fields that every command may have. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  Extended,
  isDocument,
} from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';
import { API_V1 } from './api-versions.ts';
import { checkFields, missingField, wrongType } from './field-table.ts';

const INT32_MAX = 2 ** 31 - 1;
const SESSION_BYTES = 16;

/** Fields that mean the same in every command. */
export function checkGenericFields(name: string, body: BsonDocument): void {
  checkMaxTime(name, body.get('maxTimeMS'));
  checkApiVersion(name, body);
  checkSession(body);
  checkClusterTime(body.get('$clusterTime'));
}

function checkClusterTime(sent: Bson | undefined): void {
  if (sent === undefined) return;
  if (!isDocument(sent)) throw wrongType('$clusterTime', sent, 'object');
  const time = sent.get('clusterTime');
  if (time === undefined) throw missingField('$clusterTime', 'clusterTime');
  if (!(time instanceof Extended) || time.payload.kind !== 'timestamp')
    throw wrongType('$clusterTime.clusterTime', time, 'timestamp');
}

/** Undefined: no limit. */
export function maxTimeMs(body: BsonDocument): number | undefined {
  const sent = body.get('maxTimeMS');
  const ms = sent === undefined || sent === null ? 0 : doubleOf(sent);
  return ms > 0 ? ms : undefined;
}

function checkMaxTime(name: string, sent: Bson | undefined): void {
  if (sent === undefined || sent === null) return;
  if (!isNumber(sent)) throw wrongType(`${name}.maxTimeMS`, sent, 'long');
  const ms = doubleOf(sent);
  const isTooLong = bsonTypeOf(sent) === 'decimal' && Math.abs(ms) >= 2 ** 63;
  if (!Number.isInteger(ms) || isTooLong)
    throw new MongoError('FailedToParse', 'maxTimeMS has non-integral value');
  if (ms < 0 || ms > INT32_MAX)
    throw new MongoError('BadValue', `${ms} value for maxTimeMS is out of range [0, 2147483647]`);
}

/** Commands that every client may send, whatever version it asked for. */
const ANY_VERSION: ReadonlySet<string> = new Set(['configureFailPoint']);

function checkApiVersion(name: string, body: BsonDocument): void {
  const version = body.get('apiVersion');
  for (const field of ['apiStrict', 'apiDeprecationErrors']) {
    const value = body.get(field);
    if (value === undefined) continue;
    if (typeof value !== 'boolean') throw wrongType(field, value, 'bool');
    if (version === undefined)
      throw new MongoError(
        'Location4886600',
        'Provided apiStrict and/or apiDeprecationErrors without passing apiVersion',
      );
  }
  if (version === undefined) return;
  if (typeof version !== 'string') throw wrongType('apiVersion', version, 'string');
  if (version !== '1')
    throw new MongoError('APIVersionError', `API version must be "1", not "${version}"`);
  if (body.get('apiStrict') === true && !API_V1.has(name) && !ANY_VERSION.has(name))
    throw new MongoError(
      'APIStrictError',
      `Provided apiStrict:true, but the command ${name} is not in API Version 1. ` +
        'Information on supported commands and migrations in API Version 1 can be found at https://dochub.mongodb.org/core/manual-versioned-api',
    );
}

function checkSession(body: BsonDocument): void {
  const lsid = body.get('lsid');
  if (lsid !== undefined) {
    if (!isDocument(lsid)) throw wrongType('OperationSessionInfo.lsid', lsid, 'object');
    checkLsid(lsid, 'OperationSessionInfo.lsid');
  }
  const number = body.get('txnNumber') ?? undefined;
  if (number !== undefined) {
    if (typeof number !== 'bigint')
      throw wrongType('OperationSessionInfoFromClient.txnNumber', number, 'long-only');
    if (lsid === undefined)
      throw new MongoError(
        'InvalidOptions',
        'Transaction number requires a session ID to also be specified',
      );
    if (number < 0n)
      throw new MongoError('InvalidOptions', 'Transaction number cannot be negative');
  }
  const autocommit = body.get('autocommit') ?? undefined;
  if (autocommit !== undefined) {
    if (typeof autocommit !== 'boolean')
      throw wrongType('OperationSessionInfoFromClient.autocommit', autocommit, 'bool');
    if (number === undefined)
      throw new MongoError('InvalidOptions', "'autocommit' field requires a transaction number");
    if (autocommit)
      throw new MongoError('InvalidOptions', 'Specifying autocommit=true is not allowed.');
  }
  const start = body.get('startTransaction') ?? undefined;
  if (start === undefined) return;
  if (typeof start !== 'boolean')
    throw wrongType('OperationSessionInfoFromClient.startTransaction', start, 'bool');
  if (autocommit === undefined)
    throw new MongoError(
      'InvalidOptions',
      "'startTransaction' field requires 'autocommit' field to also be specified",
    );
  if (!start)
    throw new MongoError('InvalidOptions', 'Specifying startTransaction=false is not allowed.');
}

/** A session: sixteen bytes of subtype 4, and the digest of its user where a router names it. */
export function checkLsid(lsid: BsonDocument, path: string): void {
  checkFields(path, lsid, { id: 'any', uid: 'any', txnNumber: 'any', txnUUID: 'any' }, false);
  const id = lsid.get('id');
  if (id === undefined || id === null) throw missingField(path, 'id');
  if (!(id instanceof Extended) || id.payload.kind !== 'binary')
    throw wrongType(`${path}.id`, id, 'binData');
  if (id.payload.subtype !== 4)
    throw new MongoError(
      'TypeMismatch',
      `BSON field '${path}.id' is the wrong binData type '${id.payload.subtype}', expected type 'UUID'`,
    );
  if (id.payload.bytes.length !== SESSION_BYTES)
    throw new MongoError(
      'InvalidUUID',
      'uuid must be a 16-byte binary field with UUID (4) subtype',
    );
  const uid = lsid.get('uid');
  if (
    uid !== undefined &&
    uid !== null &&
    !(uid instanceof Extended && uid.payload.kind === 'binary')
  )
    throw wrongType(`${path}.uid`, uid, 'binData');
}
