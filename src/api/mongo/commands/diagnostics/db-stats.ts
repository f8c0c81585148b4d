/** Sizes of a database. */
import { Double } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { collectionsOf, isView } from '../../collections/collection.ts';
import { checkDatabase } from '../../collections/namespace.ts';
import { databaseSizes } from '../../diagnostics/sizes.ts';
import { ok } from '../../reply.ts';
import { scaleOf } from './coll-stats.ts';

export const dbStats: Command = {
  needs: 'read',
  fields: { scale: 'long', freeStorage: 'flag' },
  async run({ context: { service }, body, database, args }) {
    checkDatabase(database);
    const scale = scaleOf(body.get('scale'));
    const all = collectionsOf(service, database);
    const { count, dataSize, indexes, indexSize } = await databaseSizes(service, all);
    const views = all.filter(isView).length;
    const scaled = (bytes: number): Double => new Double(bytes / scale);
    const isFree = args.flag('freeStorage');
    return ok({
      db: database,
      collections: BigInt(all.length - views),
      views: BigInt(views),
      objects: BigInt(count),
      avgObjSize: new Double(count === 0 ? 0 : dataSize / count),
      dataSize: scaled(dataSize),
      storageSize: scaled(dataSize),
      ...(isFree ? { freeStorageSize: scaled(0) } : {}),
      indexes: BigInt(indexes),
      indexSize: scaled(indexSize),
      ...(isFree ? { indexFreeStorageSize: scaled(0) } : {}),
      totalSize: scaled(dataSize + indexSize),
      ...(isFree ? { totalFreeStorageSize: scaled(0) } : {}),
      scaleFactor: BigInt(scale),
      fsUsedSize: scaled(0),
      fsTotalSize: scaled(0),
    });
  },
};
