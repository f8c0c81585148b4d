/** Ends sessions by their ids; an empty list means all. */
import type { Command } from '../../call.ts';
import { ok } from '../../reply.ts';
import { closeSession, sessionIdsOf } from './session-list.ts';

export const killSessions: Command = {
  needs: 'read',
  async run(call) {
    const sent = sessionIdsOf(call);
    const ids = sent.length > 0 ? sent : call.context.sessions.list().map(({ id }) => id);
    for (const id of ids) await closeSession(call, id);
    return ok();
  },
};
