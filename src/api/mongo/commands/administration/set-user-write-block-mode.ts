/** Refuses the writes of clients until it is switched off; it lasts as long as the process. */
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { ok } from '../../reply.ts';

const REASONS = ['Unspecified', 'ClusterToClusterMigrationInProgress', 'DiskUseThresholdExceeded'];

export const setUserWriteBlockMode: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: { global: 'bool!', reason: 'string' },
  run({ args, context }) {
    const reason = args.optionalText('reason') ?? 'Unspecified';
    if (!REASONS.includes(reason))
      throw new MongoError(
        'BadValue',
        `Enumeration value '${reason}' for field 'setUserWriteBlockMode.reason' is not a valid value.`,
      );
    context.writeBlock.set(args.get('global') === true, reason);
    return ok();
  },
};
