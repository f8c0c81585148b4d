/** The collections of a database. */
import type { Bson, BsonDocument } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import { type Collection, collectionsOf, isView } from '../../collections/collection.ts';
import { collectionUuid } from '../../collections/collection-uuid.ts';
import { checkDatabase } from '../../collections/namespace.ts';
import { openList } from '../../cursors/open-list.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { compileFilter } from '../../query/filter-test.ts';
import { documentOf } from '../../reply.ts';

export const listCollections: Command = {
  needs: 'read',
  fields: {
    filter: 'object',
    cursor: 'object',
    nameOnly: 'bool',
    authorizedCollections: 'bool',
    includePendingDrops: 'bool',
  },
  run(call) {
    const { context, args, database } = call;
    checkDatabase(database);
    const test = compileFilter(parseFilter(args.optionalDocument('filter') ?? new Map()));
    const isShort = args.flag('nameOnly');
    const found = collectionsOf(context.service, database)
      .filter(({ options }) => options.get('temp') !== true)
      .map((collection) => describe(collection, isShort))
      .filter(test);
    return openList(call as Call, `${database}.$cmd.listCollections`, found);
  },
};

export function typeOf(collection: Collection): 'collection' | 'view' | 'timeseries' {
  if (isView(collection)) return 'view';
  return collection.options.has('timeseries') ? 'timeseries' : 'collection';
}

function describe(collection: Collection, isShort: boolean): BsonDocument {
  const { namespace, container, options } = collection;
  const type = typeOf(collection);
  const described: Record<string, Bson> = { name: namespace.collection, type };
  if (isShort) return documentOf(described);
  if (type === 'view')
    return documentOf({ ...described, options, info: documentOf({ readOnly: true }) });
  const info = documentOf({
    readOnly: false,
    ...(type === 'collection' ? { uuid: collectionUuid(container) } : {}),
  });
  if (type === 'timeseries' || options.has('clusteredIndex'))
    return documentOf({ ...described, options, info });
  const collation = options.get('collation');
  const idIndex = documentOf({
    v: 2,
    key: documentOf({ _id: 1 }),
    name: '_id_',
    ...(collation === undefined ? {} : { collation }),
  });
  return documentOf({ ...described, options, info, idIndex });
}
