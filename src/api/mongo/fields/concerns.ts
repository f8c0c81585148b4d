/** Read and write concerns: checked as MongoDB does, and what one node can promise of them. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  Extended,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { printDocument } from '../bson/print.ts';
import type { Topology } from '../call.ts';
import { MongoError } from '../errors.ts';
import { documentOf } from '../reply.ts';
import { checkFields, unknownField, wrongType } from './field-table.ts';
import { wholeOf } from './numbers.ts';

const LEVELS = ['available', 'linearizable', 'local', 'majority', 'snapshot'];
const PROVENANCES = [
  'clientSupplied',
  'customDefault',
  'getLastErrorDefaults',
  'implicitDefault',
  'internalWriteDefault',
];

/** Commands that read at a level of the client. Others take `local` only. */
const READS_AT_LEVEL: ReadonlySet<string> = new Set([
  'aggregate',
  'count',
  'distinct',
  'explain',
  'find',
  'findAndModify',
  'findandmodify',
  'insert',
  'update',
  'delete',
  'bulkWrite',
  'commitTransaction',
  'abortTransaction',
  'dbHash',
  'geoSearch',
  'listIndexes',
]);
/** The same, where the level must be one that takes no snapshot. */
const READS_LOCALLY: ReadonlySet<string> = new Set(['listIndexes']);

const WRITES: ReadonlySet<string> = new Set([
  'abortTransaction',
  'aggregate',
  'applyOps',
  'bulkWrite',
  'cloneCollectionAsCapped',
  'collMod',
  'commitTransaction',
  'convertToCapped',
  'create',
  'createIndexes',
  'createRole',
  'createUser',
  'delete',
  'deleteIndexes',
  'drop',
  'dropAllRolesFromDatabase',
  'dropAllUsersFromDatabase',
  'dropDatabase',
  'dropIndexes',
  'dropRole',
  'dropUser',
  'findAndModify',
  'findandmodify',
  'grantPrivilegesToRole',
  'grantRolesToRole',
  'grantRolesToUser',
  'insert',
  'mapReduce',
  'refineCollectionShardKey',
  'renameCollection',
  'reshardCollection',
  'revokePrivilegesFromRole',
  'revokeRolesFromRole',
  'revokeRolesFromUser',
  'setDefaultRWConcern',
  'setFeatureCompatibilityVersion',
  'setUserWriteBlockMode',
  'shardCollection',
  'update',
  'updateRole',
  'updateUser',
  'enableSharding',
]);

export function checkReadConcern(name: string, body: BsonDocument, topology: Topology): void {
  const sent = body.get('readConcern');
  if (sent === undefined || sent === null) return;
  if (!isDocument(sent)) throw wrongType('readConcern', sent, 'object');
  checkFields(
    'readConcern',
    sent,
    {
      level: 'string',
      afterClusterTime: 'timestamp',
      afterOpTime: 'object',
      atClusterTime: 'timestamp',
      provenance: 'string',
      allowTransactionTableSnapshot: 'bool',
      waitLastStableRecoveryTimestamp: 'bool',
    },
    false,
  );
  const level = checkEnum('readConcern.level', sent.get('level'), LEVELS);
  checkEnum('readConcern.provenance', sent.get('provenance'), PROVENANCES);
  checkTimes(sent, level, topology);
  if (level === undefined || level === 'local') return;
  const isInTransaction = body.get('autocommit') === false;
  if (level === 'snapshot' && !isInTransaction) throw noSnapshot(name, body);
  if (level === 'linearizable' && isInTransaction) throw notInTransaction(level);
  if (level === 'linearizable') checkWritesNothing(body);
  if (level === 'snapshot' && READS_LOCALLY.has(name)) throw notSupported(name, sent);
  if (!READS_AT_LEVEL.has(name)) throw notSupported(name, sent);
}

/** Throws InvalidOptions where a pipeline ends with a stage that writes. */
function checkWritesNothing(body: BsonDocument): void {
  const pipeline = body.get('pipeline');
  const last = isArray(pipeline) ? pipeline.at(-1) : undefined;
  const stage = isDocument(last) ? [...last.keys()][0] : undefined;
  if (stage === '$out' || stage === '$merge')
    throw new MongoError(
      'InvalidOptions',
      `${stage} cannot be used with a 'linearizable' read concern level`,
    );
}

function notInTransaction(level: string): MongoError {
  return new MongoError(
    'InvalidOptions',
    `The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run in a transaction, not '${level}'`,
  );
}

/** A moment of the past can be read within a transaction only. */
function noSnapshot(name: string, body: BsonDocument): MongoError {
  const stage = localStage(body);
  if (stage !== undefined)
    return new MongoError(
      'InvalidOptions',
      `Aggregation stage ${stage} cannot run with a readConcern other than 'local'`,
    );
  if (!READS.has(name))
    return new MongoError(
      'InvalidOptions',
      `Command ${name} does not support { readConcern: { level: "snapshot" } } :: caused by :: read concern not supported`,
    );
  return new MongoError(
    'SnapshotUnavailable',
    'Reads of a snapshot outside of transactions are not supported',
  );
}

/** Stages about the server itself read what is, and not what was. */
const LOCAL_STAGES = ['$currentOp', '$listLocalSessions', '$planCacheStats', '$listClusterCatalog'];

function localStage(body: BsonDocument): string | undefined {
  const pipeline = body.get('pipeline');
  if (!isArray(pipeline)) return undefined;
  return LOCAL_STAGES.find((name) =>
    pipeline.some((stage) => isDocument(stage) && stage.has(name)),
  );
}

const READS: ReadonlySet<string> = new Set(['aggregate', 'distinct', 'find']);

function notSupported(name: string, sent: BsonDocument): MongoError {
  return new MongoError(
    'InvalidOptions',
    `Command ${name} does not support { readConcern: ${printDocument(sent)} } :: caused by :: read concern not supported`,
  );
}

function checkTimes(sent: BsonDocument, level: string | undefined, topology: Topology): void {
  for (const field of ['afterClusterTime', 'atClusterTime'])
    if (sent.get(field) === null) throw wrongType(`readConcern.${field}`, null, 'timestamp');
  const after = sent.get('afterClusterTime');
  const at = sent.get('atClusterTime');
  if ((after !== undefined || at !== undefined) && topology === 'standalone')
    throw new MongoError(
      'IllegalOperation',
      'Cannot specify afterClusterTime or atClusterTime readConcern without replication enabled',
    );
  if (after !== undefined && isZero(after))
    throw new MongoError('InvalidOptions', 'afterClusterTime cannot be a null timestamp');
  if (after !== undefined && at !== undefined)
    throw new MongoError(
      'InvalidOptions',
      'Specifying a timestamp for readConcern snapshot in a causally consistent session is not allowed.',
    );
  if (at !== undefined && isZero(at))
    throw new MongoError('InvalidOptions', 'atClusterTime cannot be a null timestamp');
  if (at !== undefined && level !== 'snapshot')
    throw new MongoError(
      'InvalidOptions',
      'readConcern.atClusterTime is only permitted with level snapshot',
    );
}

function isZero(value: Bson): boolean {
  return (
    value instanceof Extended &&
    value.payload.kind === 'timestamp' &&
    value.payload.high === 0 &&
    value.payload.low <= 1
  );
}

function checkEnum(
  path: string,
  value: Bson | undefined,
  allowed: readonly string[],
): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (allowed.includes(value)) return value;
  throw new MongoError(
    'BadValue',
    `Enumeration value '${value}' for field '${path}' is not a valid value.`,
  );
}

const W_MAX = 50;
const INT32_MAX = 2 ** 31 - 1;

/** The part of the reply that says that the write is applied and not as durable as was asked; undefined where it is. */
export function checkWriteConcern(
  name: string,
  body: BsonDocument,
  topology: Topology,
): BsonDocument | undefined {
  const sent = body.get('writeConcern');
  if (sent === undefined || sent === null) return undefined;
  if (!isDocument(sent)) throw wrongType('writeConcern', sent, 'object');
  for (const field of sent.keys())
    if (!WRITE_CONCERN_FIELDS.has(field)) throw unknownField('WriteConcern', field);
  const w = sent.get('w');
  checkW(w);
  checkSwitch(sent, 'j');
  checkSwitch(sent, 'fsync');
  checkTimeout(sent.get('wtimeout'));
  const provenance = sent.get('provenance') ?? undefined;
  if (provenance !== undefined && typeof provenance !== 'string')
    throw wrongType('writeConcern.provenance', provenance, 'string');
  checkEnum('writeConcern.provenance', provenance, PROVENANCES);
  if (sent.get('j') === true && sent.get('fsync') === true)
    throw new MongoError('FailedToParse', 'fsync and j options cannot be used together');
  if (!WRITES.has(name))
    throw new MongoError('InvalidOptions', `Command does not support writeConcern`);
  if (body.get('autocommit') === false && !ENDINGS.has(name))
    throw new MongoError(
      'InvalidOptions',
      'writeConcern is not allowed within a multi-statement transaction',
    );
  return unmet(w, topology);
}

const ENDINGS: ReadonlySet<string> = new Set(['commitTransaction', 'abortTransaction']);

const WRITE_CONCERN_FIELDS: ReadonlySet<string> = new Set([
  'w',
  'j',
  'fsync',
  'wtimeout',
  'provenance',
  'wElectionId',
  'wOpTime',
  'getLastError',
]);

function checkW(w: Bson | undefined): void {
  if (w === undefined || w === null || typeof w === 'string') return;
  if (bsonTypeOf(w) === 'undefined')
    throw new MongoError('BadValue', 'w has to be a number or string; found: null');
  if (isDocument(w)) {
    if (w.size === 0) throw new MongoError('FailedToParse', 'tagged write concern requires tags');
    for (const [tag, count] of w)
      if (!isNumber(count))
        throw new MongoError(
          'FailedToParse',
          `tags must be a single level document with only number values, found: ${tag}`,
        );
    return;
  }
  const number = isNumber(w) && !Number.isNaN(doubleOf(w)) ? wholeOf(w) : Number.NaN;
  if (!(number >= 0 && number <= W_MAX))
    throw new MongoError(
      'FailedToParse',
      `w has to be a non-negative number and not greater than ${W_MAX}; found: ${isNumber(w) ? number : bsonTypeOf(w)}`,
    );
}

function checkSwitch(sent: BsonDocument, field: string): void {
  const value = sent.get(field);
  if (value === undefined || value === null || typeof value === 'boolean' || isNumber(value))
    return;
  throw wrongType(`writeConcern.${field}`, value, 'flag');
}

function checkTimeout(value: Bson | undefined): void {
  if (value === undefined || !isNumber(value)) return;
  if (doubleOf(value) > INT32_MAX)
    throw new MongoError('FailedToParse', 'wtimeout must be a 32-bit integer');
}

/** One node keeps one copy: more cannot be promised, and the reply says so. */
function unmet(w: Bson | undefined, topology: Topology): BsonDocument | undefined {
  if (w === undefined || w === null || w === 'majority') return undefined;
  if (isNumber(w)) {
    if (wholeOf(w) <= 1) return undefined;
    if (topology === 'standalone')
      throw new MongoError('BadValue', "cannot use 'w' > 1 when a host is not replicated");
    return documentOf({
      code: 100,
      codeName: 'UnsatisfiableWriteConcern',
      errmsg: 'UnsatisfiableWriteConcern: Not enough data-bearing nodes',
      errInfo: writeConcernInfo(w),
    });
  }
  if (topology === 'standalone')
    throw new MongoError(
      'BadValue',
      "cannot use non-majority 'w' mode when a host is not replicated",
    );
  return documentOf({
    code: 79,
    codeName: 'UnknownReplWriteConcern',
    errmsg: `No write concern mode named '${typeof w === 'string' ? w : printDocument(w as BsonDocument)}' found in replica set configuration`,
    errInfo: writeConcernInfo(w),
  });
}

function writeConcernInfo(w: Bson): BsonDocument {
  return documentOf({
    writeConcern: documentOf({ w, wtimeout: 0, provenance: 'clientSupplied' }),
  });
}
