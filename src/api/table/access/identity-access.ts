/** Bearers of tokens: identities that the provider vouches for, with the roles they have over the tables' database. */
import {
  type Access as AccountAccess,
  type Action,
  type IdentityFault,
  type IdentityRules,
  TABLES_DATABASE,
} from '../../../service/index.ts';
import { TableError } from '../errors.ts';
import { EMULATOR_ACCOUNT } from '../target.ts';
import type { Access, Permission, RequiredPermission } from './access.ts';

export type IdentityAccess = Pick<AccountAccess, 'identities' | 'roles'>;

/** Throws a 403 for a token that is not good. */
export async function tokenAccess(
  { identities, roles }: IdentityAccess,
  token: string,
): Promise<Access> {
  const reading = await identities.read(token, RULES);
  if (reading.kind === 'invalid')
    throw new TableError('AuthenticationFailed', FAULTS[reading.fault]);
  const { id, groups } = reading.identity;
  const principals = [id, ...groups];
  return {
    bounds: undefined,
    check(need: RequiredPermission): void {
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

/** Who issues tokens in the clouds of the service; the tenant follows. */
const ISSUERS: readonly string[] = [
  'https://sts.windows.net/',
  'https://sts.windows-ppe.net/',
  'https://sts.chinacloudapi.cn/',
  'https://sts.microsoftonline.de/',
  'https://login.microsoftonline.com/',
  'https://login.microsoftonline.us/',
  'https://login.partner.microsoftonline.cn/',
];

/** The service as a whole, by name or by its number, and the account in each of the clouds. */
const AUDIENCE = new RegExp(
  `^(?:e406a681-f3d4-42a8-90b6-c2b029497af1|https://(?:storage\\.azure\\.com|cosmos\\.azure\\.com|${EMULATOR_ACCOUNT}\\.table\\.(?:cosmos\\.azure\\.com|core\\.(?:windows\\.net|chinacloudapi\\.cn|usgovcloudapi\\.net|cloudapi\\.de)))/?)$`,
);

/** A token for something else is none for tables; whoever has an issuer or audience of their own names it by a flag. */
const RULES: IdentityRules = {
  isIssuer: (issuer) => ISSUERS.some((prefix) => issuer.startsWith(prefix)),
  isAudience: (audience) => AUDIENCE.test(audience),
};

/** What is wrong with a token, in the service's words where it has any. */
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

/** In the words all APIs share. Policies and properties are the account's: only its keys give them. */
function actionsOf({ level, permissions, isAll }: RequiredPermission): readonly Action[] {
  if (level === 'o') {
    const all = permissions.map((permission) => ENTITY_ACTIONS[permission] ?? 'writeItems');
    return isAll === true ? all : all.slice(0, 1);
  }
  const [first] = permissions;
  if (level === 's' || first === 'r' || first === 'w') return ['replaceContainer'];
  return first === 'l' ? ['listContainers'] : ['writeItems'];
}
