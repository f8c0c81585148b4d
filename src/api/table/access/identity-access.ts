/** Access by token: identities of the provider, with their roles in the database of the tables. */
import {
  type AccessControl,
  type Action,
  type IdentityFault,
  type IdentityRules,
  TABLES_DATABASE,
} from '../../../service/index.ts';
import { TableError } from '../errors.ts';
import { EMULATOR_ACCOUNT } from '../target.ts';
import type { GrantedAccess, Permission, RequiredPermission } from './access.ts';

export type IdentityAccess = Pick<AccessControl, 'identities' | 'roles'>;

/** Throws a 403 for an invalid token. */
export async function tokenAccess(
  { identities, roles }: IdentityAccess,
  token: string,
): Promise<GrantedAccess> {
  const reading = await identities.read(token, RULES);
  if (reading.kind === 'invalid')
    throw new TableError('AuthenticationFailed', FAULTS[reading.fault]);
  const { id, groups } = reading.identity;
  const principals = [id, ...groups];
  return {
    bounds: undefined,
    check(required: RequiredPermission): void {
      const database = `/dbs/${TABLES_DATABASE}`;
      const isOfTable = required.level === 'o' && required.table !== undefined;
      const scope = isOfTable ? `${database}/colls/${required.table}` : database;
      for (const action of actionsOf(required)) {
        const verdict = roles.decide(principals, action, scope);
        if (verdict.kind === 'notData') throw new TableError('AuthorizationFailure');
        if (verdict.kind === 'missing') throw new TableError('AuthorizationPermissionMismatch');
      }
    },
  };
}

/** Issuers of tokens in the clouds of the service; the tenant follows. */
const ISSUERS: readonly string[] = [
  'https://sts.windows.net/',
  'https://sts.windows-ppe.net/',
  'https://sts.chinacloudapi.cn/',
  'https://sts.microsoftonline.de/',
  'https://login.microsoftonline.com/',
  'https://login.microsoftonline.us/',
  'https://login.partner.microsoftonline.cn/',
];

/** Audiences: the service by name or number, and the account in each of the clouds. */
const AUDIENCE = new RegExp(
  `^(?:e406a681-f3d4-42a8-90b6-c2b029497af1|https://(?:storage\\.azure\\.com|cosmos\\.azure\\.com|${EMULATOR_ACCOUNT}\\.table\\.(?:cosmos\\.azure\\.com|core\\.(?:windows\\.net|chinacloudapi\\.cn|usgovcloudapi\\.net|cloudapi\\.de)))/?)$`,
);

/** A token for another service is refused; an operator with an own issuer or audience names it by a flag. */
const RULES: IdentityRules = {
  isIssuer: (issuer) => ISSUERS.some((prefix) => issuer.startsWith(prefix)),
  isAudience: (audience) => AUDIENCE.test(audience),
};

/** The refusal of a token, in the service's words where it has any. */
const FAULTS: Readonly<Partial<Record<IdentityFault, string>>> = {
  audience:
    'Audience validation failed. Audience did not match. The audience must be the service or the account, or that of --identity-audience.',
  expired: 'Lifetime validation failed. The token is expired.',
  issuer:
    'Issuer validation failed. Issuer did not match. The issuer must be Microsoft Entra, or that of --identity-issuer.',
  noExpiry: 'Lifetime validation failed. The token is missing an Expiration Time.',
  notYetValid: 'Lifetime validation failed. The token is not yet valid.',
  signature: 'Signature validation failed. The token is not signed by a known key.',
};

const ENTITY_ACTIONS: Readonly<Partial<Record<Permission, Action>>> = {
  r: 'queryItems',
  a: 'createItem',
  u: 'replaceItem',
  d: 'deleteItem',
};

/** The action that all APIs share. Policies and properties belong to the account: only its keys allow them. */
function actionsOf({ level, permissions, isAll }: RequiredPermission): readonly Action[] {
  if (level === 'o') {
    const all = permissions.map((permission) => ENTITY_ACTIONS[permission] ?? 'writeItems');
    return isAll === true ? all : all.slice(0, 1);
  }
  const [first] = permissions;
  if (level === 's' || first === 'r' || first === 'w') return ['replaceContainer'];
  return first === 'l' ? ['listContainers'] : ['writeItems'];
}
