/** What `$out` and `$merge` write with: the same inserts and changes that commands use. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import type { Call } from '../../call.ts';
import { type Collection, ensureCollection, findCollection } from '../../collections/collection.ts';
import type { Namespace } from '../../collections/namespace.ts';
import { changeDocuments } from '../../documents/change.ts';
import { findDocuments } from '../../documents/find-documents.ts';
import { insertDocuments, insertOne } from '../../documents/insert.ts';
import { finishDocument } from '../../documents/new-document.ts';
import { MongoError } from '../../errors.ts';
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { PLAIN_CONTEXT } from '../../query/query-context.ts';
import { Sort } from '../../query/sort.ts';
import { BsonSet } from '../bson-set.ts';
import type { PipelineWriter } from '../stages/stage.ts';

/** Documents of one insert. */
const INSERT_DOCUMENTS = 1000;

export function pipelineWriter(call: Call): PipelineWriter {
  const { service } = call.context;
  const open = async (namespace: Namespace): Promise<Collection> => {
    requireWriter(call);
    return await ensureCollection(service, namespace);
  };
  return {
    replace: async (namespace, documents) => replaceAll(call, await open(namespace), documents),
    checkUnique: (namespace, fields) => checkUnique(findCollection(service, namespace), fields),
    async find(namespace, key) {
      const collection = findCollection(service, namespace);
      if (collection === undefined) return undefined;
      for await (const [row] of findDocuments(call.store, collection, parseFilter(equal(key))))
        return row?.document;
      return undefined;
    },
    async insert(namespace, document) {
      await insertOne(call.store, await open(namespace), finishDocument(document));
    },
    async update(namespace, key, update) {
      const collection = await open(namespace);
      const result = await changeDocuments(
        {
          filter: equal(key),
          update,
          arrayFilters: [],
          isUpsert: false,
          isMulti: false,
          sort: new Sort([]),
          image: 'none',
          context: PLAIN_CONTEXT,
          bypassesValidation: false,
        },
        {
          store: call.store,
          collection,
          retryable: undefined,
          place: 0,
          scripts: call.context.service.scripts,
        },
      );
      return result.matched > 0;
    },
  };
}

/** The key of a client may allow reading only. */
function requireWriter({ connection, database, name }: Call): void {
  if (connection.principal?.kind !== 'master')
    throw new MongoError(
      'Unauthorized',
      `not authorized on ${database} to execute command ${name}: the key is read-only`,
    );
}

function equal(key: BsonDocument): BsonDocument {
  return new Map([...key].map(([name, value]) => [name, new Map([['$eq', value]])]));
}

/** Repeated ids are refused before the collection is emptied. */
async function replaceAll(
  call: Call,
  collection: Collection,
  documents: readonly BsonDocument[],
): Promise<void> {
  const { store } = call;
  const ids = new BsonSet();
  const made = documents.map((document) => finishDocument(document));
  for (const { document } of made)
    if (!ids.add(document.get('_id') as Bson))
      throw new MongoError(
        'DuplicateKey',
        `E11000 duplicate key error collection: ${collection.namespace.database}.${collection.namespace.collection} index: _id_`,
      );
  await changeDocuments(
    {
      filter: new Map(),
      update: undefined,
      arrayFilters: [],
      isUpsert: false,
      isMulti: true,
      sort: new Sort([]),
      image: 'none',
      context: PLAIN_CONTEXT,
      bypassesValidation: false,
    },
    { store, collection, retryable: undefined, place: 0, scripts: call.context.service.scripts },
  );
  for (let at = 0; at < made.length; at += INSERT_DOCUMENTS) {
    const bodies = made.slice(at, at + INSERT_DOCUMENTS).map(({ body }) => body);
    const request = { store, collection, bodies, isOrdered: true, retryable: undefined };
    const { failures } = await insertDocuments(request);
    if (failures[0] !== undefined) throw failures[0].error;
  }
}

function checkUnique(collection: Collection | undefined, fields: readonly string[]): void {
  const wanted = fields.toSorted().join('\0');
  if (wanted === '_id') return;
  const indexes =
    collection === undefined ? [] : declaredIndexes(collection).map(({ spec }) => spec);
  for (const index of indexes) {
    const key = index.get('key');
    if (index.get('unique') !== true || !isDocument(key) || isArray(key)) continue;
    if (index.has('partialFilterExpression')) continue;
    if ([...key.keys()].toSorted().join('\0') === wanted) return;
  }
  throw new MongoError(
    'Location51183',
    'Cannot find index to verify that join fields will be unique',
  );
}
