/** Counts the documents that a filter matches. */

import { type Bson, bsonTypeOf } from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import type { Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { namespaceOf } from '../../collections/target.ts';
import { findDocuments, foldDocuments } from '../../documents/find-documents.ts';
import { CountFold } from '../../documents/folds.ts';
import { limited, matching, skipping } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { ok } from '../../reply.ts';
import { checkHint, checkTextHint, contextOf } from './query-arguments.ts';

export const count: Command = {
  needs: 'read',
  fields: {
    query: 'object',
    limit: 'any',
    skip: 'count',
    hint: 'any',
    collation: 'object',
    fields: 'any',
    queryOptions: 'object',
    mirrored: 'flag',
    includeQueryStatsMetrics: 'flag',
  },
  async run(call) {
    const {
      context: { service },
      args,
      body,
      store,
    } = call;
    const collection = findCollection(service, namespaceOf(call));
    const context = contextOf(call, collection);
    const filter = parseFilter(args.optionalDocument('query') ?? new Map(), context);
    const limit = limitIn(body.get('limit'));
    const skip = args.optionalCount('skip') ?? 0;
    checkTextHint(filter, body.get('hint'));
    const covered = checkHint(collection, body.get('hint'), filter, true);
    if (collection === undefined) return ok({ n: 0 });
    const options = { compare: context.expression.compare };
    const wanted = limit > 0 ? skip + limit : Number.POSITIVE_INFINITY;
    const start = () => new CountFold(wanted);
    const folded =
      covered === undefined ? foldDocuments(store, collection, filter, start, options) : undefined;
    if (folded !== undefined)
      return ok({ n: Math.max(0, Math.min((await folded()).count, wanted) - skip) });
    const found = findDocuments(store, collection, filter, options);
    let rows = skipping(covered === undefined ? found : matching(found, covered), skip);
    if (limit > 0) rows = limited(rows, limit);
    let n = 0;
    for await (const batch of rows) n += batch.length;
    return ok({ n });
  },
};

/** A negative limit counts as its absolute value. */
function limitIn(value: Bson | undefined): number {
  if (value === undefined) return 0;
  if (!isNumber(value))
    throw new MongoError('BadValue', `the limit must be a number, found ${bsonTypeOf(value)}`);
  const limit = doubleOf(value);
  if (limit === -(2 ** 63))
    throw new MongoError('BadValue', 'limit value for count cannot be min long');
  if (!Number.isInteger(limit) || Math.abs(limit) > 2 ** 63)
    throw new MongoError('FailedToParse', `Expected an integer: limit: ${limit}`);
  return Math.abs(limit);
}
