/** What shells and tools ask a sharded cluster: one shard, the server itself, and nothing to balance. */
import type { Command } from '../../call.ts';
import { wrongType } from '../../fields/field-table.ts';
import { documentOf, ok } from '../../reply.ts';
import { addressText, REPLICA_SET } from '../connection/hello.ts';

/** Every database may have sharded collections. */
export const enableSharding: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: { primaryShard: 'string' },
  run({ body, name }) {
    const database = body.get(name) ?? null;
    if (typeof database !== 'string') throw wrongType(`${name}.${name}`, database, 'string');
    return ok();
  },
};

export const listShards: Command = {
  needs: 'read',
  isAdminOnly: true,
  run: ({ connection }) =>
    ok({
      shards: [
        documentOf({
          _id: REPLICA_SET,
          host: `${REPLICA_SET}/${addressText(connection.info)}`,
          state: 1,
        }),
      ],
    }),
};

export const balancerStatus: Command = {
  needs: 'read',
  isAdminOnly: true,
  run: () => ok({ mode: 'full', inBalancerRound: false, numBalancerRounds: 0n }),
};
