/** Drops the transaction of the session: nothing of it was written. */
import type { Command } from '../../call.ts';
import { ok } from '../../reply.ts';

export const abortTransaction: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: { recoveryToken: 'object' },
  async run({ context: { transactions }, body }) {
    await transactions.abort(body);
    return ok();
  },
};
