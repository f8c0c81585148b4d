/** Sizes of a collection. */
import type { Bson, BsonDocument } from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import type { Call, Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { collectionSizes } from '../../diagnostics/sizes.ts';
import { MongoError } from '../../errors.ts';
import { numberBson } from '../../fields/numbers.ts';
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { documentOf, ok } from '../../reply.ts';

export const collStats: Command = {
  needs: 'read',
  fields: { scale: 'long', waitForLock: 'bool', queryExecStats: 'any' },
  async run(call) {
    const { context, body } = call;
    const namespace = namespaceOf(call);
    const scale = scaleOf(body.get('scale'));
    const collection = findCollection(context.service, namespace);
    const ns = namespaceText(namespace);
    if (collection === undefined)
      return ok({
        ns,
        size: 0,
        count: 0,
        numOrphanDocs: 0,
        storageSize: 0,
        totalSize: 0,
        nindexes: 0,
        totalIndexSize: 0,
        indexDetails: documentOf({}),
        indexSizes: documentOf({}),
        scaleFactor: scale,
      });
    return ok({ ns, ...(await collectionStats(call, collection, scale)) });
  },
};

async function collectionStats(
  { context: { service } }: Call,
  collection: NonNullable<ReturnType<typeof findCollection>>,
  scale: number,
): Promise<Readonly<Record<string, Bson>>> {
  const { options } = collection;
  const { count, dataSize, indexes, indexSize } = await collectionSizes(service, collection);
  const scaled = (bytes: number): Bson => numberBson(Math.floor(bytes / scale));
  const names = ['_id_', ...declaredIndexes(collection).map(({ name }) => name)];
  const each = (value: Bson): BsonDocument => new Map(names.map((name) => [name, value] as const));
  const perIndex = scaled(indexes === 0 ? 0 : Math.floor(indexSize / indexes));
  return {
    size: scaled(dataSize),
    count: numberBson(count),
    ...(count > 0 ? { avgObjSize: numberBson(Math.floor(dataSize / count)) } : {}),
    numOrphanDocs: 0,
    storageSize: scaled(dataSize),
    freeStorageSize: 0,
    capped: options.get('capped') === true,
    ...(options.get('capped') === true
      ? { max: options.get('max') ?? 0, maxSize: scaled(Number(options.get('size'))) }
      : {}),
    wiredTiger: documentOf({}),
    nindexes: indexes,
    indexDetails: each(documentOf({})),
    indexBuilds: [],
    totalIndexSize: scaled(indexSize),
    indexSizes: each(perIndex),
    totalSize: scaled(dataSize + indexSize),
    scaleFactor: scale,
  };
}

export function scaleOf(sent: Bson | undefined): number {
  if (sent === undefined || sent === null) return 1;
  const scale = isNumber(sent) ? Math.trunc(doubleOf(sent)) : Number.NaN;
  if (!(scale >= 1))
    throw new MongoError(
      'BadValue',
      `BSON field 'scale' value must be >= 1, actual value '${scale}'`,
    );
  return Math.min(scale, 2 ** 31 - 1);
}
