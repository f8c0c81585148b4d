/** The bytes of a collection, or of the documents in a range of a key. */
import { type Bson, type BsonDocument, compareBson } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import {
  type Collection,
  findCollection,
  isTimeSeries,
  isView,
} from '../../collections/collection.ts';
import { splitNamespace } from '../../collections/namespace.ts';
import { collectionSizes } from '../../diagnostics/sizes.ts';
import { findDocuments } from '../../documents/find-documents.ts';
import { MongoError } from '../../errors.ts';
import { missingField, wrongType } from '../../fields/field-table.ts';
import { EVERYTHING } from '../../query/filter.ts';
import { parseSort, Sort, type SortKey } from '../../query/sort.ts';
import { ok } from '../../reply.ts';

export const dataSize: Command = {
  needs: 'read',
  fields: { keyPattern: 'object', min: 'object', max: 'object', estimate: 'flag' },
  async run(call) {
    const { context, args, body, name } = call;
    const startedMs = performance.now();
    const sent = body.get(name) ?? null;
    if (sent === null) throw missingField(name, name);
    if (typeof sent !== 'string') throw wrongType(`${name}.${name}`, sent, 'string');
    const namespace = splitNamespace(sent);
    const range = rangeIn(call);
    const collection = findCollection(context.service, namespace);
    if (collection !== undefined && (isView(collection) || isTimeSeries(collection)))
      throw new MongoError(
        'CommandNotSupportedOnView',
        `Namespace ${sent} is a view, not a collection`,
      );
    const sizes = await sizesOf(call, collection, range);
    return ok({
      estimate: args.flag('estimate'),
      size: BigInt(sizes.dataSize),
      numObjects: BigInt(sizes.count),
      maxReached: false,
      millis: BigInt(Math.round(performance.now() - startedMs)),
    });
  },
};

interface Range {
  readonly sort: Sort;
  readonly from: SortKey;
  readonly to: SortKey;
}

function rangeIn({ args }: Call): Range | undefined {
  const [min, max] = [args.optionalDocument('min'), args.optionalDocument('max')];
  const pattern = args.optionalDocument('keyPattern');
  if (min === undefined && max === undefined) return undefined;
  if (min === undefined || max === undefined)
    throw new MongoError('BadValue', 'min and max must be specified together, or not at all');
  if (pattern === undefined) throw new MongoError('OperationFailed', 'a range needs a keyPattern');
  const keyOf = (bound: BsonDocument): SortKey =>
    [...pattern.keys()].map((name): Bson => bound.get(name) ?? null);
  return { sort: new Sort(parseSort(pattern), compareBson), from: keyOf(min), to: keyOf(max) };
}

async function sizesOf(
  { context: { service }, store }: Call,
  collection: Collection | undefined,
  range: Range | undefined,
): Promise<{ readonly dataSize: number; readonly count: number }> {
  if (collection === undefined) return { dataSize: 0, count: 0 };
  if (range === undefined) return await collectionSizes(service, collection);
  const { sort, from, to } = range;
  let [dataSize, count] = [0, 0];
  for await (const batch of findDocuments(store, collection, EVERYTHING))
    for (const row of batch) {
      const key = sort.keyOf(row.document);
      if (sort.compare(key, from) < 0 || sort.compare(key, to) >= 0) continue;
      dataSize += row.body.length;
      count += 1;
    }
  return { dataSize, count };
}
