/** Keeps sessions from expiring. */
import type { Command } from '../../call.ts';
import { ok } from '../../reply.ts';
import { sessionIdsOf } from './session-list.ts';

export const refreshSessions: Command = {
  needs: 'read',
  fields: {},
  run(call) {
    for (const id of sessionIdsOf(call)) call.context.sessions.start(id, call.connection.user);
    return ok();
  },
};
