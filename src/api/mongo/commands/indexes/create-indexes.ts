/** Declares indexes and waits until they are built; others serve meanwhile. */
import { DomainError } from '../../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { doubleOf, isNumber, wholeNumber } from '../../bson/arithmetic.ts';
import type { Call, Command } from '../../call.ts';
import { type Collection, ensureCollection, findCollection } from '../../collections/collection.ts';
import { checkSystemName, namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { uniqueViolation } from '../../documents/duplicate.ts';
import { findDocuments } from '../../documents/find-documents.ts';
import { readerOf } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { checkIndexed, indexChecks } from '../../indexes/document-checks.ts';
import { isDeclared } from '../../indexes/index-conflicts.ts';
import { declaredIndexes, type NewMongoIndex, parseIndex } from '../../indexes/index-spec.ts';
import { indexCount } from '../../indexes/listed-indexes.ts';
import { checkTimeseriesIndex } from '../../indexes/timeseries-indexes.ts';
import { EVERYTHING } from '../../query/filter.ts';
import { ok } from '../../reply.ts';
import { isHidden } from '../../sessions/hidden-collections.ts';

/** MongoDB's bound of the indexes of a collection, the one of `_id` included. */
const INDEXES_MAX = 64;

export const createIndexes: Command = {
  needs: 'write',
  fields: { indexes: 'any', ignoreUnknownIndexOptions: 'flag', commitQuorum: 'any' },
  async run(call) {
    const { context } = call;
    const namespace = namespaceOf(call);
    const sent = specsIn(call);
    checkQuorum(call.body.get('commitQuorum'));
    const existing = findCollection(context.service, namespace);
    const unmade = { shardKey: undefined, options: new Map() };
    if (existing === undefined) checkSystemName(namespace);
    for (const spec of sent) {
      const parsed = parseIndex(spec, existing ?? unmade);
      if (existing !== undefined) checkTimeseriesIndex(existing, parsed);
    }
    let collection = await ensureCollection(context.service, namespace);
    const parsed = sent.map((spec) => parseIndex(spec, collection));
    const before = indexCount(collection);
    checkAmong(parsed);
    if (call.store.isTransaction && !isHidden(collection)) refuseNew(collection, parsed);
    for (const index of parsed) collection = await createOne(call, collection, index);
    const after = indexCount(collection);
    return ok({
      numIndexesBefore: before,
      numIndexesAfter: after,
      createdCollectionAutomatically: existing === undefined,
      ...(before === after ? { note: 'all indexes already exist' } : {}),
    });
  },
};

/** A transaction indexes what it has made; elsewhere an index must be there already. */
function refuseNew(collection: Collection, indexes: readonly NewMongoIndex[]): void {
  const declared = declaredIndexes(collection);
  if (indexes.every((index) => isDeclared(declared, index))) return;
  throw new MongoError(
    'OperationNotSupportedInTransaction',
    `Cannot create new indexes on existing collection ${namespaceText(collection.namespace)} in a multi-document transaction.`,
  );
}

function specsIn({ body }: Call): readonly BsonDocument[] {
  const sent = body.get('indexes');
  if (sent === undefined || sent === null)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field 'createIndexes.indexes' is missing but a required field",
    );
  if (!isArray(sent)) throw wrongType('createIndexes.indexes', sent, 'array');
  if (sent.length === 0)
    throw new MongoError('BadValue', 'Must specify at least one index to create');
  return sent.map((spec, at) => {
    if (!isDocument(spec)) throw wrongType(`createIndexes.indexes.${at}`, spec, 'object');
    return spec;
  });
}

function wrongType(field: string, value: Bson, expected: string): MongoError {
  return new MongoError(
    'TypeMismatch',
    `BSON field '${field}' is the wrong type '${bsonTypeOf(value)}', expected type '${expected}'`,
  );
}

function checkQuorum(quorum: Bson | undefined): void {
  if (
    quorum === undefined ||
    quorum === null ||
    quorum === 'votingMembers' ||
    quorum === 'majority'
  )
    return;
  if (typeof quorum === 'string')
    throw new MongoError(
      'UnknownReplWriteConcern',
      `No write concern mode named '${quorum}' found in replica set configuration`,
    );
  if (!isNumber(quorum))
    throw new MongoError('FailedToParse', 'commitQuorum has to be a number or a string');
  const count = wholeNumber(quorum) ?? doubleOf(quorum);
  if (count < 0 || count > 50)
    throw new MongoError(
      'FailedToParse',
      'commitQuorum has to be a non-negative value and not greater than 50',
    );
}

/** Two specifications of one command must not contradict each other. */
function checkAmong(parsed: readonly NewMongoIndex[]): void {
  for (const [at, index] of parsed.entries())
    for (const other of parsed.slice(0, at)) isDeclared([{ ...other, id: 0 }], index, true);
}

async function createOne(
  call: Call,
  collection: Collection,
  index: NewMongoIndex,
): Promise<Collection> {
  const { service } = call.context;
  if (index.name === '_id_') return collection;
  const declared = declaredIndexes(collection);
  if (isDeclared(declared, index)) return collection;
  if (declared.length + 1 >= INDEXES_MAX)
    throw new MongoError(
      'CannotCreateIndex',
      `add index fails, too many indexes for ${collection.namespace.database}.${collection.namespace.collection} key: ${index.name}`,
    );
  await checkDocuments(call, collection, index);
  const made = await service.indexes.create(collection.container, index.declared);
  const changed = { ...collection, container: made.container };
  call.context.indexUse.begin(made.container, made.index.id, call.store.nowMs());
  try {
    await service.indexes.whenBuilt(made.container, made.index.id, () => call.meter.check());
  } catch (error) {
    await service.indexes.drop(made.container, made.index.id);
    if (error instanceof DomainError && error.code === 'uniqueKeyViolation')
      throw uniqueViolation(changed, error, made.index.id);
    throw error;
  }
  return changed;
}

/** Documents that an index of this kind cannot have refuse it. */
async function checkDocuments(
  call: Call,
  collection: Collection,
  index: NewMongoIndex,
): Promise<void> {
  const checks = indexChecks([index]);
  if (checks.length === 0) return;
  const hasOther = checks.some(
    ({ kind, filter }) => filter !== undefined || (kind !== 'entries' && kind !== 'parallel'),
  );
  const names = [...index.key.keys()].map((field) => field.split('.')[0] as string);
  const read = readerOf(hasOther ? undefined : new Set(names));
  for await (const batch of findDocuments(call.store, collection, EVERYTHING))
    for (const row of batch) checkIndexed(checks, read(row));
}
