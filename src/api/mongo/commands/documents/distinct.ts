/** The different values of a field, in the order they are found. */
import { type Bson, isArray } from '../../../../value/index.ts';
import { BsonSet } from '../../aggregate/bson-set.ts';
import type { Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { namespaceOf } from '../../collections/target.ts';
import { findDocuments } from '../../documents/find-documents.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { someWholeAt, splitPath } from '../../query/path.ts';
import { ok } from '../../reply.ts';
import { CollatedSet } from './collated-set.ts';
import { checkHint, contextOf } from './query-arguments.ts';

export const distinct: Command = {
  needs: 'read',
  fields: {
    key: 'string!',
    query: 'object',
    collation: 'object',
    hint: 'any',
    includeQueryStatsMetrics: 'flag',
    querySettings: 'object',
  },
  async run(call) {
    const {
      context: { service },
      args,
      body,
      store,
    } = call;
    const collection = findCollection(service, namespaceOf(call));
    const path = splitPath(args.text('key'));
    const context = contextOf(call, collection);
    const filter = parseFilter(args.optionalDocument('query') ?? new Map(), context);
    checkHint(collection, body.get('hint'), filter);
    if (collection === undefined) return ok({ values: [] });
    const { collation } = context;
    const values = collation === undefined ? new BsonSet() : new CollatedSet(collation);
    const add = (value: Bson | undefined): boolean => {
      if (isArray(value)) for (const element of value) values.add(element);
      else if (value !== undefined) values.add(value);
      return false;
    };
    const options = { compare: context.expression.compare, scripts: service.scripts };
    for await (const batch of findDocuments(store, collection, filter, options))
      for (const row of batch) someWholeAt(row.document, path, add);
    return ok({ values: values.values() });
  },
};
