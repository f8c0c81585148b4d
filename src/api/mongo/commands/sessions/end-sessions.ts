/** Sessions that have ended: their transactions and cursors are over. */
import type { Command } from '../../call.ts';
import { ok } from '../../reply.ts';
import { closeSession, sessionIdsOf } from './session-list.ts';

export const endSessions: Command = {
  needs: 'nothing',
  fields: {},
  async run(call) {
    for (const id of sessionIdsOf(call)) await closeSession(call, id);
    return ok();
  },
};
