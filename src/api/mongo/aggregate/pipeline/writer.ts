/** What `$out` and `$merge` write with: the same inserts and changes that commands use. */
import { randomUUID } from 'node:crypto';
import {
  type Bson,
  type BsonDocument,
  equalBson,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import type { Call } from '../../call.ts';
import {
  type Collection,
  createCollection,
  ensureCollection,
  findCollection,
  isTimeSeries,
  isView,
} from '../../collections/collection.ts';
import { unfinishedName } from '../../collections/leftovers.ts';
import { type Namespace, namespaceText } from '../../collections/namespace.ts';
import { waitForUnlock } from '../../diagnostics/write-lock.ts';
import { changeDocuments } from '../../documents/change.ts';
import { findDocuments } from '../../documents/find-documents.ts';
import { insertDocuments, insertOne } from '../../documents/insert.ts';
import { finishDocument } from '../../documents/new-document.ts';
import type { Row, Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { sameCollation } from '../../query/collation.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { PLAIN_CONTEXT } from '../../query/query-context.ts';
import { Sort } from '../../query/sort.ts';
import type { PipelineWriter } from '../stages/stage.ts';

/** Documents of one insert. */
const INSERT_DOCUMENTS = 1000;

export function pipelineWriter(call: Call): PipelineWriter {
  const { service } = call.context;
  const open = async (namespace: Namespace): Promise<Collection> => {
    await admitWriter(call, namespace);
    return await ensureCollection(service, namespace);
  };
  return {
    replace: (namespace, rows, timeseries) => replaceAll(call, namespace, rows, timeseries),
    checkUnique: (namespace, fields, collation) =>
      checkUnique(findCollection(service, namespace), fields, collation),
    async find(namespace, key, compare) {
      const collection = findCollection(service, namespace);
      if (collection === undefined) return undefined;
      const filter = parseFilter(equal(key));
      for await (const [row] of findDocuments(call.store, collection, filter, { compare }))
        return row?.document;
      return undefined;
    },
    async insert(namespace, document) {
      await insertOne(call.store, await open(namespace), finishDocument(document));
    },
    async update(namespace, key, update, existing) {
      const collection = await open(namespace);
      const result = await changeDocuments(
        {
          filter: existing === undefined ? equal(key) : same(key, existing),
          update,
          arrayFilters: [],
          isUpsert: false,
          isMulti: false,
          sort: new Sort([]),
          image: 'none',
          context: PLAIN_CONTEXT,
          bypassesValidation: bypasses(call),
        },
        { store: call.store, collection, retryable: undefined, place: 0 },
      );
      return result.matched > 0;
    },
  };
}

/** A caller who may run the pipeline may still not write where it ends, or not yet. */
async function admitWriter(call: Call, { database }: Namespace): Promise<void> {
  const { connection, name } = call;
  if (!connection.mayWrite(database)) throw connection.notAuthorized(name, database);
  await waitForUnlock(call);
}

function equal(key: BsonDocument): BsonDocument {
  return new Map([...key].map(([name, value]) => [name, new Map([['$eq', value]])]));
}

/** Finds the document as it was read, and not after somebody has changed it. */
function same(key: BsonDocument, existing: BsonDocument): BsonDocument {
  const literal = new Map([['$literal', existing]]);
  return new Map<string, Bson>([
    ...equal(key),
    ['$expr', new Map<string, Bson>([['$eq', ['$$ROOT', literal]]])],
  ]);
}

/** What the target of `$out` keeps, or is made with. */
interface Target {
  readonly existing: Collection | undefined;
  readonly options: BsonDocument;
}

function targetOf(call: Call, namespace: Namespace, timeseries: BsonDocument | undefined): Target {
  const existing = findCollection(call.context.service, namespace);
  const text = namespaceText(namespace);
  if (existing === undefined)
    return { existing, options: new Map(timeseries && [['timeseries', timeseries]]) };
  const own = existing.options.get('timeseries');
  if (timeseries !== undefined && own === undefined)
    throw new MongoError(
      'Location7268700',
      `$out cannot write time-series documents to ${text}, which is no time-series collection`,
    );
  if (timeseries !== undefined && !equalBson(sorted(own as BsonDocument), sorted(timeseries)))
    throw new MongoError(
      'Location7406103',
      `The time-series options of $out are not those of ${text}`,
    );
  if (isView(existing))
    throw new MongoError(
      'CommandNotSupportedOnView',
      `Namespace ${text} is a view, not a collection`,
    );
  if (existing.options.get('capped') === true)
    throw new MongoError(
      'Location17152',
      `namespace '${text}' is capped so it can't be used for $out`,
    );
  return { existing, options: existing.options };
}

function sorted(options: BsonDocument): BsonDocument {
  return new Map([...options].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The documents go into a new collection, which takes the place of the old one when all are there. */
async function replaceAll(
  call: Call,
  namespace: Namespace,
  rows: Rows,
  timeseries: BsonDocument | undefined,
): Promise<void> {
  await admitWriter(call, namespace);
  const { service } = call.context;
  const target = targetOf(call, namespace, timeseries);
  const { existing, options } = target;
  const unfinished = { ...namespace, collection: unfinishedName(randomUUID()) };
  const made = await createCollection(service, unfinished, {
    options,
    shardKey: existing?.shardKey,
  });
  let { container } = made;
  try {
    for (const { definition } of existing === undefined ? [] : declaredIndexes(existing)) {
      const { id: _id, origin: _origin, ...same } = definition;
      container = (await service.indexes.create(container, same as never)).container;
    }
    const collection = { ...made, container };
    for await (const batch of rows) await insertAll(call, collection, batch);
    checkUnchanged(namespace, target, targetOf(call, namespace, timeseries));
    await service.containers.rename(container, namespace.collection, true);
  } catch (error) {
    // After the rename it is the target, and stays.
    const left = findCollection(service, unfinished);
    if (left !== undefined) await service.containers.delete(left.container);
    throw error;
  }
}

/** Others may have made or replaced the target meanwhile: what it was made with must not be lost. */
function checkUnchanged(namespace: Namespace, before: Target, now: Target): void {
  const changed = (what: string): MongoError =>
    new MongoError(
      'CommandFailed',
      `${what} of target collection ${namespaceText(namespace)} changed during processing.`,
    );
  if (now.existing === undefined) return;
  if (!equalBson(sorted(before.options), sorted(now.options))) throw changed('collection options');
  if (!equalBson(indexesOf(before), indexesOf(now))) throw changed('indexes');
}

function indexesOf({ existing }: Target): readonly Bson[] {
  if (existing === undefined) return [];
  return declaredIndexes(existing).map(({ spec }) => spec);
}

async function insertAll(call: Call, collection: Collection, rows: readonly Row[]): Promise<void> {
  for (let at = 0; at < rows.length; at += INSERT_DOCUMENTS) {
    const { failures } = await insertDocuments({
      store: call.store,
      collection,
      bodies: rows.slice(at, at + INSERT_DOCUMENTS).map(({ body }) => body),
      isOrdered: true,
      retryable: undefined,
      bypassesValidation: bypasses(call),
    });
    if (failures[0] !== undefined) throw failures[0].error;
  }
}

function bypasses({ args }: Call): boolean {
  return args.flag('bypassDocumentValidation');
}

/** True where an index holds documents without these fields too. Its collation is that of the pipeline. */
function checkUnique(
  collection: Collection | undefined,
  fields: readonly string[],
  collation: BsonDocument | undefined,
): boolean {
  if (collection !== undefined && (isView(collection) || isTimeSeries(collection)))
    throw new MongoError(
      'CommandNotSupportedOnView',
      `Cannot $merge into ${namespaceText(collection.namespace)}: it is no plain collection`,
    );
  const wanted = fields.toSorted().join('\0');
  const own = collection?.options.get('collation');
  if (collection === undefined && wanted === '_id') return true;
  if (wanted === '_id' && sameCollation(isDocument(own) ? own : undefined, collation)) return true;
  const indexes =
    collection === undefined ? [] : declaredIndexes(collection).map(({ spec }) => spec);
  for (const index of indexes) {
    const key = index.get('key');
    if (index.get('unique') !== true || !isDocument(key) || isArray(key)) continue;
    if (index.has('partialFilterExpression')) continue;
    const ordered = index.get('collation');
    if (!sameCollation(isDocument(ordered) ? ordered : undefined, collation)) continue;
    if ([...key.keys()].toSorted().join('\0') === wanted) return index.get('sparse') !== true;
  }
  throw new MongoError(
    'Location51183',
    'Cannot find index to verify that join fields will be unique',
  );
}
