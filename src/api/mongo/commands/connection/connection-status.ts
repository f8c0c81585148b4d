/** Who is authenticated on this connection. */
import type { Command } from '../../call.ts';
import { documentOf, ok } from '../../reply.ts';

export const connectionStatus: Command = {
  needs: 'nothing',
  run({ connection }) {
    const { principal, grants, user, userDatabase: db } = connection;
    const role = principal?.kind === 'reader' ? 'readAnyDatabase' : 'root';
    const roles = grants?.roles ?? [{ role, db: 'admin' }];
    return ok({
      authInfo: documentOf({
        authenticatedUsers: principal === undefined ? [] : [documentOf({ user, db })],
        authenticatedUserRoles:
          principal === undefined ? [] : roles.map(({ role, db }) => documentOf({ role, db })),
      }),
    });
  },
};
