/** Bearers of tokens: identities that the provider vouches for, with the roles they have over the tables' database. */
import type { Access as AccountAccess, Action, IdentityFault } from '../../service/index.ts';
import type { Access, Need, Permission } from './access.ts';
import { TABLES_DATABASE } from './call.ts';
import { TableError } from './errors.ts';

export type IdentityAccess = Pick<AccountAccess, 'identities' | 'roles'>;

/** Throws a 403 for a token that is not good. */
export async function tokenAccess(
  { identities, roles }: IdentityAccess,
  token: string,
): Promise<Access> {
  const reading = await identities.read(token);
  if (reading.kind === 'invalid')
    throw new TableError('AuthenticationFailed', FAULTS[reading.fault]);
  const { id, groups } = reading.identity;
  const principals = [id, ...groups];
  return {
    bounds: undefined,
    check(need: Need): void {
      const database = `/dbs/${TABLES_DATABASE}`;
      const isOfTable = need.level === 'o' && need.table !== undefined;
      const scope = isOfTable ? `${database}/colls/${need.table}` : database;
      for (const action of actionsOf(need)) {
        const verdict = roles.decide(principals, action, scope);
        if (verdict.kind === 'notData') throw new TableError('AuthorizationFailure');
        if (verdict.kind === 'missing') throw new TableError('AuthorizationPermissionMismatch');
      }
    },
  };
}

/** What is wrong with a token, in the service's words where it has any. */
const FAULTS: Readonly<Partial<Record<IdentityFault, string>>> = {
  audience: 'Audience validation failed. Audience did not match.',
  expired: 'Lifetime validation failed. The token is expired.',
  issuer: 'Issuer validation failed. Issuer did not match.',
  notYetValid: 'Lifetime validation failed. The token is not yet valid.',
  signature: 'Signature validation failed. The token is not signed by a known key.',
};

const ENTITY_ACTIONS: Readonly<Partial<Record<Permission, Action>>> = {
  r: 'queryItems',
  a: 'createItem',
  u: 'replaceItem',
  d: 'deleteItem',
};

/** In the words all APIs share. Policies and properties are the account's: only its keys give them. */
function actionsOf({ level, permissions, isAll }: Need): readonly Action[] {
  if (level === 'o') {
    const all = permissions.map((permission) => ENTITY_ACTIONS[permission] ?? 'writeItems');
    return isAll === true ? all : all.slice(0, 1);
  }
  const [first] = permissions;
  if (level === 's' || first === 'r' || first === 'w') return ['replaceContainer'];
  return first === 'l' ? ['listContainers'] : ['writeItems'];
}
