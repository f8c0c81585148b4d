/** A new session is a new id. Unknown fields are ignored, as in MongoDB. */
import { randomUUID } from 'node:crypto';
import { Extended } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { SESSION_MINUTES } from '../../limits.ts';
import { documentOf, ok } from '../../reply.ts';

export const startSession: Command = {
  needs: 'read',
  run({ context, connection }) {
    const bytes = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
    context.sessions.start(bytes.toString('hex'), connection.user);
    const id = new Extended({ kind: 'binary', bytes, subtype: 4 });
    return ok({ id: documentOf({ id }), timeoutMinutes: SESSION_MINUTES });
  },
};
