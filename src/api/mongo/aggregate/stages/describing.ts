/** Stages whose documents describe the server: `$collStats`, `$indexStats` and their kind. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { isNumber } from '../../bson/arithmetic.ts';
import { Row, type Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { checkFields, wrongType } from '../../fields/field-table.ts';
import { wholeOf } from '../../fields/numbers.ts';
import type {
  DescribedKind,
  Stage,
  StageContext,
  StageDefinition,
  StageScope,
  StageTable,
} from './stage.ts';

export const DESCRIBING_STAGES: StageTable = {
  $listClusterCatalog: source('clusterCatalog', checkCatalog, 'database'),
  $planCacheStats: source('planCacheStats', checkPlanCache),
  $querySettings: source('querySettings', checkQuerySettings, 'nothing'),
  $queryStats: source(
    'nothing',
    (argument) => anyDocument(argument, '$queryStats', 'FailedToParse'),
    'admin',
  ),
  $listSampledQueries: source(
    'nothing',
    (argument) => anyDocument(argument, '$listSampledQueries', 'FailedToParse'),
    'admin',
  ),
  $collStats: source('collStats', checkCollStats),
  $currentOp: source('currentOp', checkCurrentOp, 'admin'),
  $indexStats: source('indexStats', (argument) => {
    if (!isDocument(argument) || argument.size > 0)
      throw new MongoError(
        'Location28803',
        'The $indexStats stage specification must be an empty object',
      );
    return argument;
  }),
  $listCatalog: source('listCatalog', (argument) =>
    anyDocument(argument, '$listCatalog', 'FailedToParse'),
  ),
  $listLocalSessions: source('listSessions', checkSessions, 'database'),
  $listSessions: source('listSessions', checkSessions, 'sessions'),
};

function source(
  kind: DescribedKind,
  check: (argument: Bson) => BsonDocument,
  scope?: StageScope,
): StageDefinition {
  return {
    parse: (argument, context) => describing(kind, check(argument), context),
    position: 'first',
    isSource: true,
    ...(scope === undefined ? {} : { scope }),
    isBannedInFacet: true,
  };
}

function describing(kind: DescribedKind, options: BsonDocument, context: StageContext): Stage {
  return () => rows(kind, options, context);
}

async function* rows(kind: DescribedKind, options: BsonDocument, context: StageContext): Rows {
  const documents = await context.host.describe(kind, options, context.namespace);
  if (documents.length > 0) yield documents.map((document) => Row.of(document));
}

function anyDocument(argument: Bson, name: string, code: 'FailedToParse'): BsonDocument {
  if (isDocument(argument)) return argument;
  throw new MongoError(
    code,
    `${name} options must be specified in an object, but found: ${bsonTypeOf(argument)}`,
  );
}

const COLL_STATS = new Set([
  'latencyStats',
  'storageStats',
  'count',
  'queryExecStats',
  'operationStats',
  'targetAllNodes',
]);

function checkCollStats(argument: Bson): BsonDocument {
  if (!isDocument(argument))
    throw new MongoError(
      'Location5447000',
      `$collStats must take a nested object but found: ${bsonTypeOf(argument)}`,
    );
  for (const [name, value] of argument) {
    if (!COLL_STATS.has(name))
      throw new MongoError(
        'IDLUnknownField',
        `BSON field '$collStats.${name}' is an unknown field.`,
      );
    if (name === 'targetAllNodes' || value === null) continue;
    if (!isDocument(value))
      throw new MongoError(
        'TypeMismatch',
        `BSON field '$collStats.${name}' is the wrong type '${bsonTypeOf(value)}', expected type 'object'`,
      );
    checkCollStatsOption(name, value);
  }
  return argument;
}

function checkCollStatsOption(name: string, options: BsonDocument): void {
  if ((name === 'count' || name === 'queryExecStats') && options.size > 0)
    throw new MongoError('Location31170', `${name} argument should be an empty object`);
  if (name === 'latencyStats') checkBooleans(options, '$collStats.latencyStats', ['histograms']);
  if (name !== 'storageStats') return;
  const scale = options.get('scale') ?? null;
  if (scale === null) return;
  if (!isNumber(scale))
    throw new MongoError(
      'TypeMismatch',
      `BSON field '$collStats.storageStats.scale' is the wrong type '${bsonTypeOf(scale)}', expected types '[long, int, decimal, double]'`,
    );
  if (wholeOf(scale) < 1)
    throw new MongoError(
      'BadValue',
      `BSON field 'scale' value must be >= 1, actual value '${wholeOf(scale)}'`,
    );
}

function checkCurrentOp(argument: Bson): BsonDocument {
  if (!isDocument(argument)) throw wrongType('$currentOp', argument, 'object');
  checkFields(
    '$currentOp',
    argument,
    {
      allUsers: 'bool',
      idleConnections: 'bool',
      idleCursors: 'bool',
      idleSessions: 'bool',
      localOps: 'bool',
      targetAllNodes: 'bool',
      truncateOps: 'bool',
    },
    false,
  );
  for (const [field, value] of argument)
    if (value === null) throw wrongType(`$currentOp.${field}`, value, 'bool');
  if (argument.get('targetAllNodes') === true)
    throw new MongoError(
      'FailedToParse',
      "The 'targetAllNodes' parameter of the $currentOp stage cannot be true on a server of its own",
    );
  return argument;
}

function checkSessions(argument: Bson): BsonDocument {
  const name = '$listSessions';
  if (!isDocument(argument)) throw wrongType(name, argument, 'object');
  checkFields(
    name,
    argument,
    { allUsers: 'bool', users: 'array', $_internalPredicate: 'object' },
    false,
  );
  const users = argument.get('users') ?? undefined;
  if (!isArray(users)) return argument;
  for (const [at, user] of users.entries()) {
    if (user === null) continue;
    if (!isDocument(user)) throw wrongType(`${name}.users.${at}`, user, 'object');
    checkFields(`${name}.users`, user, { user: 'string!', db: 'string!' }, false);
  }
  if (argument.get('allUsers') === true && users.some(isDocument))
    throw new MongoError(
      'UnsupportedFormat',
      'allUsers and users are mutually exclusive in a list of sessions',
    );
  return argument;
}

function checkBooleans(
  argument: BsonDocument,
  name: string,
  allowed: readonly string[],
): BsonDocument {
  for (const [option, value] of argument) {
    if (!allowed.includes(option))
      throw new MongoError(
        'IDLUnknownField',
        `BSON field '${name}.${option}' is an unknown field.`,
      );
    if (typeof value !== 'boolean')
      throw new MongoError(
        'TypeMismatch',
        `BSON field '${name}.${option}' is the wrong type '${bsonTypeOf(value)}', expected type 'bool'`,
      );
  }
  return argument;
}

function checkCatalog(argument: Bson): BsonDocument {
  if (!isDocument(argument))
    throw new MongoError(
      'Location9621302',
      `$listClusterCatalog must take a nested object but found: ${bsonTypeOf(argument)}`,
    );
  return checkBooleans(argument, '$listClusterCatalog', [
    'shards',
    'tracked',
    'balancingConfiguration',
  ]);
}

function checkQuerySettings(argument: Bson): BsonDocument {
  if (!isDocument(argument))
    throw new MongoError(
      'Location7746800',
      `$querySettings stage expects a document as argument, found ${bsonTypeOf(argument)}`,
    );
  return checkBooleans(argument, '$querySettings', ['showDebugQueryShape']);
}

function checkPlanCache(argument: Bson): BsonDocument {
  if (!isDocument(argument))
    throw new MongoError(
      'FailedToParse',
      `$planCacheStats value must be an object. Found: ${bsonTypeOf(argument)}`,
    );
  for (const [name, value] of argument) {
    if (name !== 'allHosts')
      throw new MongoError(
        'FailedToParse',
        `$planCacheStats parameters object may contain only 'allHosts' field. Found: ${name}`,
      );
    if (typeof value !== 'boolean')
      throw new MongoError(
        'Location13111',
        `Field 'allHosts' should be of type Boolean. Found: ${bsonTypeOf(value)}`,
      );
    if (value)
      throw new MongoError(
        'Location4503200',
        '$planCacheStats stage supports allHosts parameter only for sharded clusters',
      );
  }
  return argument;
}
