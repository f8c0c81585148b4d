/** Who is authenticated on this connection, and what they may do. */
import { type Bson, Extended } from '../../../../value/index.ts';
import { privilegesOf } from '../../auth/grants.ts';
import type { Command } from '../../call.ts';
import { documentOf, ok } from '../../reply.ts';

export const connectionStatus: Command = {
  needs: 'nothing',
  fields: { showPrivileges: 'flag' },
  run({ connection, args }) {
    const { principal, grants, user, userDatabase: db } = connection;
    const role = principal?.kind === 'reader' ? 'readAnyDatabase' : 'root';
    const roles = principal === undefined ? [] : (grants?.roles ?? [{ role, db: 'admin' }]);
    const info: Record<string, Bson> = {
      authenticatedUsers: principal === undefined ? [] : [documentOf({ user, db })],
      authenticatedUserRoles: roles.map(({ role, db }) => documentOf({ role, db })),
    };
    if (args.flag('showPrivileges'))
      info.authenticatedUserPrivileges = privilegesOf(roles).map(({ db, actions }) =>
        documentOf({ resource: documentOf({ db, collection: '' }), actions }),
      );
    return ok({
      authInfo: documentOf(info),
      uuid: new Extended({ kind: 'binary', subtype: 4, bytes: connection.uuid }),
    });
  },
};
