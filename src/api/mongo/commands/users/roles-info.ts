/** Shows roles. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { builtInRoles, isBuiltIn } from '../../auth/grants.ts';
import { ROLES, rolesOf } from '../../auth/users.ts';
import type { Call, Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { documentOf, ok } from '../../reply.ts';
import { roleDocuments } from './user-documents.ts';

export const rolesInfo: Command = {
  needs: 'read',
  fields: {
    showPrivileges: 'any',
    showBuiltinRoles: 'flag',
    showAuthenticationRestrictions: 'flag',
  },
  async run(call) {
    const { context, args, body, name, database } = call;
    const sent = body.get(name) ?? null;
    if (sent === 1 || (typeof sent === 'object' && sent !== null && 'value' in sent)) {
      const own = (await context.users.list(ROLES)).filter((role) => role.get('db') === database);
      const builtIn = args.flag('showBuiltinRoles')
        ? builtInRoles(database).map((role) => builtInDocument(role, database))
        : [];
      return ok({ roles: [...(await shown(call, own)), ...builtIn] });
    }
    const names = (isArray(sent) ? sent : [sent]).map((each) => nameOf(each, database));
    const found: BsonDocument[] = [];
    for (const each of names) {
      const role = await context.users.findRole(each);
      if (role !== undefined) found.push(...(await shown(call, [role])));
      else if (isBuiltIn(each)) found.push(builtInDocument(each.role, each.db));
    }
    return ok({ roles: found });
  },
};

function nameOf(sent: Bson, database: string): { readonly role: string; readonly db: string } {
  if (typeof sent === 'string') return { role: sent, db: database };
  if (isDocument(sent)) return { role: String(sent.get('role')), db: String(sent.get('db')) };
  throw new MongoError('BadValue', 'Role names must be either strings or objects');
}

function builtInDocument(role: string, db: string): BsonDocument {
  return documentOf({
    _id: `${db}.${role}`,
    role,
    db,
    roles: [],
    inheritedRoles: [],
    isBuiltin: true,
  });
}

async function shown(
  { context, body }: Call,
  roles: readonly BsonDocument[],
): Promise<readonly BsonDocument[]> {
  const found: BsonDocument[] = [];
  for (const role of roles) {
    const document = new Map([...role].filter(([name]) => name !== 'privileges'));
    document.set('inheritedRoles', roleDocuments(await context.users.inherited(rolesOf(role))));
    document.set('isBuiltin', false);
    if (body.get('showPrivileges') === true) {
      document.set('privileges', role.get('privileges') ?? []);
      document.set('inheritedPrivileges', role.get('privileges') ?? []);
    }
    found.push(document);
  }
  return found;
}
