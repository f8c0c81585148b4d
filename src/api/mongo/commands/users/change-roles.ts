/** Makes, changes and drops roles. What a role allows comes from the built-in roles that it inherits. */
import { type Bson, isArray } from '../../../../value/index.ts';
import { isBuiltIn } from '../../auth/grants.ts';
import { ROLES } from '../../auth/users.ts';
import type { Call, Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { missingField } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';
import {
  addRoles,
  checkRoles,
  existingRole,
  parseRoles,
  removeRoles,
  roleDocuments,
} from './user-documents.ts';

export const createRole: Command = {
  needs: 'write',
  fields: { privileges: 'array', roles: 'array', authenticationRestrictions: 'array' },
  async run(call) {
    const { context, args, body, name, database } = call;
    const role = args.text(name);
    if (role === '') throw new MongoError('BadValue', 'Role name must be non-empty');
    const [privileges, roles] = [body.get('privileges'), body.get('roles')];
    if (!isArray(privileges)) throw missingField('createRole', 'privileges');
    if (!isArray(roles)) throw missingField('createRole', 'roles');
    const parsed = parseRoles(call, roles);
    await checkRoles(call, parsed);
    const known =
      isBuiltIn({ role, db: database }) ||
      (await context.users.findRole({ role, db: database })) !== undefined;
    if (known) throw new MongoError('Location51002', `Role "${role}@${database}" already exists`);
    await context.users.put(
      ROLES,
      new Map<string, Bson>([
        ['_id', `${database}.${role}`],
        ['role', role],
        ['db', database],
        ['privileges', privileges],
        ['roles', roleDocuments(parsed)],
      ]),
    );
    return ok();
  },
};

export const updateRole: Command = {
  needs: 'write',
  fields: { privileges: 'array', roles: 'array', authenticationRestrictions: 'array' },
  async run(call) {
    const { context, body } = call;
    const [privileges, roles] = [body.get('privileges'), body.get('roles')];
    if (privileges === undefined && roles === undefined)
      throw new MongoError('BadValue', 'updateRole requires at least one field to update');
    const found = new Map(await existingRole(call));
    if (isArray(privileges)) found.set('privileges', privileges);
    if (isArray(roles)) {
      const parsed = parseRoles(call, roles);
      await checkRoles(call, parsed);
      found.set('roles', roleDocuments(parsed));
    }
    await context.users.put(ROLES, found);
    return ok();
  },
};

export const dropRole: Command = {
  needs: 'write',
  fields: {},
  async run(call) {
    await call.context.users.remove(ROLES, await existingRole(call));
    return ok();
  },
};

export const dropAllRolesFromDatabase: Command = {
  needs: 'write',
  fields: {},
  async run({ context, database }) {
    const all = (await context.users.list(ROLES)).filter((role) => role.get('db') === database);
    for (const role of all) await context.users.remove(ROLES, role);
    return ok({ n: all.length });
  },
};

export const grantRolesToRole: Command = changeRoles(addRoles);
export const revokeRolesFromRole: Command = changeRoles(removeRoles);

function changeRoles(change: typeof addRoles): Command {
  return {
    needs: 'write',
    fields: { roles: 'array!' },
    async run(call: Call) {
      const roles = parseRoles(call, call.args.optionalList('roles') ?? []);
      await checkRoles(call, roles);
      await call.context.users.put(ROLES, change(await existingRole(call), roles));
      return ok();
    },
  };
}

export const grantPrivilegesToRole: Command = changePrivileges((old, sent) => [...old, ...sent]);
export const revokePrivilegesFromRole: Command = changePrivileges((old, sent) => {
  const gone = new Set(sent.map((each) => JSON.stringify(each, replaceMaps)));
  return old.filter((each) => !gone.has(JSON.stringify(each, replaceMaps)));
});

function replaceMaps(_name: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value;
}

function changePrivileges(
  change: (old: readonly Bson[], sent: readonly Bson[]) => readonly Bson[],
): Command {
  return {
    needs: 'write',
    fields: { privileges: 'array!' },
    async run(call: Call) {
      const found = new Map(await existingRole(call));
      const old = found.get('privileges');
      const sent = call.args.optionalList('privileges') ?? [];
      found.set('privileges', change(isArray(old) ? old : [], sent));
      await call.context.users.put(ROLES, found);
      return ok();
    },
  };
}
