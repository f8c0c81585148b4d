/** Commits the transaction of the session; once more is answered alike. */
import type { Command } from '../../call.ts';
import { ok } from '../../reply.ts';

export const commitTransaction: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: { recoveryToken: 'object' },
  async run({ context: { transactions }, body, meter }) {
    await transactions.commit(body, meter);
    return ok();
  },
};
