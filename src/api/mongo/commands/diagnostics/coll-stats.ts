/** Sizes of a collection. */
import type { Bson } from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import type { Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { collectionStatistics } from '../../diagnostics/statistics.ts';
import { MongoError } from '../../errors.ts';
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
    return ok({ ns, ...(await collectionStatistics(context.service, collection, scale)) });
  },
};

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
