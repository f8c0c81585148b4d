/** The different values of a field, in their order. */
import { type Bson, isArray } from '../../../../value/index.ts';
import { BsonSet } from '../../aggregate/bson-set.ts';
import type { Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { namespaceOf } from '../../collections/target.ts';
import { findDocuments } from '../../documents/find-documents.ts';
import { matching } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
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
    const covered = checkHint(collection, body.get('hint'), filter, true);
    if (path.some((step) => step.includes('\0')))
      throw new MongoError('Location31032', 'The key must not contain embedded null characters');
    if (collection === undefined) return ok({ values: [] });
    const { collation } = context;
    const values = collation === undefined ? new BsonSet() : new CollatedSet(collation);
    const add = (value: Bson | undefined): boolean => {
      if (isArray(value)) for (const element of value) values.add(element);
      else if (value !== undefined) values.add(value);
      return false;
    };
    const options = { compare: context.expression.compare };
    const found = findDocuments(store, collection, filter, options);
    const rows = covered === undefined ? found : matching(found, covered);
    for await (const batch of rows) for (const row of batch) someWholeAt(row.document, path, add);
    return ok({ values: [...values.values()].sort(context.expression.compare) });
  },
};
