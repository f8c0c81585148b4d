/** Storage compacts itself: there is nothing to free. */
import type { Command } from '../../call.ts';
import { existingCollection } from '../../collections/target.ts';
import { MongoError } from '../../errors.ts';
import { ok } from '../../reply.ts';

export const compact: Command = {
  needs: 'write',
  fields: { force: 'flag', freeSpaceTargetMB: 'long', dryRun: 'flag' },
  run(call) {
    existingCollection(call);
    if (call.context.topology === 'replica-set' && !call.args.flag('force'))
      throw new MongoError(
        'IllegalOperation',
        'will not run compact on an active replica set primary as this is a slow blocking operation. use force:true to force',
      );
    return ok(call.args.flag('dryRun') ? { estimatedBytesFreed: 0 } : { bytesFreed: 0 });
  },
};

export const reIndex: Command = {
  needs: 'write',
  fields: {},
  run(call) {
    if (call.context.topology !== 'standalone')
      throw new MongoError(
        'IllegalOperation',
        'reIndex is only allowed on a standalone mongod instance. Cannot reIndex on a replica set',
      );
    existingCollection(call);
    return ok({ nIndexesWas: 1, nIndexes: 1, indexes: [] });
  },
};
