/** Who is authenticated on this connection. */
import type { Command } from '../../call.ts';
import { documentOf, ok } from '../../reply.ts';

export const connectionStatus: Command = {
  needs: 'nothing',
  run({ connection }) {
    const { principal, user, userDatabase } = connection;
    const db = userDatabase;
    const isReadOnly = principal?.kind === 'reader';
    return ok({
      authInfo: documentOf({
        authenticatedUsers: principal === undefined ? [] : [documentOf({ user, db })],
        authenticatedUserRoles:
          principal === undefined
            ? []
            : [documentOf({ role: isReadOnly ? 'readAnyDatabase' : 'root', db: 'admin' })],
      }),
    });
  },
};
