/** Commands about plans: none is cached, and shapes of queries may be given the indexes that they use. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import {
  type Collection,
  findCollection,
  isTimeSeries,
  isView,
} from '../../collections/collection.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { MongoError } from '../../errors.ts';
import { parseCollation } from '../../query/collation.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import type { IndexFilter } from '../../query-shapes/index-filters.ts';
import { documentOf, ok } from '../../reply.ts';

const NOTHING: BsonDocument = new Map();

/** Every query is planned when it comes, so that there is nothing to clear. */
export const planCacheClear: Command = {
  needs: 'write',
  run(call) {
    storedCollection(call);
    return ok();
  },
};

export const planCacheListFilters: Command = {
  needs: 'read',
  run(call) {
    const collection = storedCollection(call);
    const filters = collection === undefined ? [] : call.context.indexFilters.list(collection);
    return ok({
      filters: filters.map(({ query, sort, projection, collation, indexes }) =>
        documentOf({
          query,
          sort,
          projection,
          ...(collation === undefined ? {} : { collation }),
          indexes,
        }),
      ),
    });
  },
};

export const planCacheClearFilters: Command = {
  needs: 'write',
  run(call) {
    const collection = storedCollection(call);
    if (collection === undefined) return ok();
    const query = call.body.get('query');
    if (!isDocument(query)) {
      const isAll = ['query', 'sort', 'projection'].every(
        (name) => (call.body.get(name) ?? null) === null,
      );
      if (isAll) call.context.indexFilters.clear(collection);
      return ok();
    }
    call.context.indexFilters.clear(collection, partsOf(call.body, query));
    return ok();
  },
};

export const planCacheSetFilter: Command = {
  needs: 'write',
  run(call) {
    const { body, context } = call;
    const collection = storedCollection(call);
    if (collection === undefined)
      throw bad(`no such collection: ${namespaceText(namespaceOf(call))}`);
    const query = requireDocument(body, 'query');
    for (const name of ['sort', 'projection', 'collation'])
      if (body.has(name)) requireDocument(body, name);
    const collation = body.get('collation');
    if (isArray(collation)) throw bad("field 'collation' must be an object");
    if (isDocument(collation)) {
      if (collation.size === 0) throw bad("optional field 'collation' cannot be empty");
      parseCollation(collation);
    }
    parseFilter(query);
    const filter: IndexFilter = {
      ...partsOf(body, query),
      indexes: indexesIn(body.get('indexes')),
    };
    context.indexFilters.set(collection, filter);
    return ok();
  },
};

function indexesIn(sent: Bson | undefined): readonly Bson[] {
  if (!isArray(sent)) throw bad("required field 'indexes' must be an array");
  if (sent.length === 0) throw bad("required field 'indexes' must contain at least one index");
  for (const index of sent) {
    if (typeof index !== 'string' && !isDocument(index))
      throw bad("each item in 'indexes' must be an object or a string");
    if (isDocument(index) && index.size === 0) throw bad('index specification cannot be empty');
  }
  return sent;
}

function partsOf(body: BsonDocument, query: BsonDocument): Omit<IndexFilter, 'indexes'> {
  const part = (name: string): BsonDocument | undefined => {
    const value = body.get(name);
    return isDocument(value) ? value : undefined;
  };
  return {
    query,
    sort: part('sort') ?? NOTHING,
    projection: part('projection') ?? NOTHING,
    collation: part('collation'),
  };
}

/** A list counts as a document without fields. */
function requireDocument(body: BsonDocument, name: string): BsonDocument {
  const value = body.get(name);
  if (isDocument(value)) return value;
  if (isArray(value)) return NOTHING;
  throw bad(`field '${name}' must be an object`);
}

/** Undefined where there is none; refuses what stores no documents of its own. */
function storedCollection(call: Call): Collection | undefined {
  const namespace = namespaceOf(call);
  const found = findCollection(call.context.service, namespace);
  if (found !== undefined && (isView(found) || isTimeSeries(found)))
    throw new MongoError(
      'CommandNotSupportedOnView',
      `Namespace ${namespaceText(namespace)} is a view, not a collection`,
    );
  return found;
}

function bad(message: string): MongoError {
  return new MongoError('BadValue', message);
}
