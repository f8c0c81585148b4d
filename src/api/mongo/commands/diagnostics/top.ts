/** How often each collection is used, and for how long. Counters begin with the process. */
import type { Bson, BsonDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { type CollectionUsage, sumOf, type Usage } from '../../diagnostics/usage.ts';
import { documentOf, ok } from '../../reply.ts';

export const top: Command = {
  needs: 'read',
  isAdminOnly: true,
  run({ context: { operations, service } }) {
    const totals = new Map<string, Bson>([['note', 'all times in microseconds']]);
    for (const [database, collection, usage] of operations.usage.list()) {
      if (findCollection(service, { database, collection }) !== undefined)
        totals.set(`${database}.${collection}`, shown(usage));
    }
    return ok({ totals });
  },
};

/** A command that writes holds what MongoDB calls the write lock, all others the read lock. */
function shown(usage: CollectionUsage): BsonDocument {
  const { queries, getmore, insert, update, remove, commands } = usage;
  const reads = sumOf(queries, getmore, commands);
  const writes = sumOf(insert, update, remove);
  return new Map(
    Object.entries({
      total: sumOf(reads, writes),
      readLock: reads,
      writeLock: writes,
      queries,
      getmore,
      insert,
      update,
      remove,
      commands,
    }).map(([name, part]) => [name, figures(part)]),
  );
}

function figures({ count, timeUs }: Usage): BsonDocument {
  return documentOf({ time: BigInt(timeUs), count: BigInt(count) });
}
