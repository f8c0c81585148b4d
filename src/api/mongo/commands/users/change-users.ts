/** Makes, changes and drops users. */
import { type Bson, isArray } from '../../../../value/index.ts';
import { credentialsOf, USERS } from '../../auth/users.ts';
import type { Call, Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { missingField } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';
import {
  addRoles,
  checkRoles,
  existingUser,
  newUserId,
  parseMechanisms,
  parseRoles,
  removeRoles,
  roleDocuments,
} from './user-documents.ts';

const FIELDS = {
  pwd: 'string',
  customData: 'object',
  roles: 'array',
  authenticationRestrictions: 'array',
  mechanisms: 'array',
  digestPassword: 'bool',
} as const;

export const createUser: Command = {
  needs: 'write',
  fields: FIELDS,
  async run(call) {
    const { context, args, body, name, database } = call;
    const user = args.text(name);
    if (user === '')
      throw new MongoError('BadValue', "User document needs 'user' field to be non-empty");
    const sent = body.get('roles');
    if (!isArray(sent)) throw missingField('createUser', 'roles');
    const password = args.optionalText('pwd');
    if (password === undefined && database !== '$external')
      throw new MongoError(
        'BadValue',
        "Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db",
      );
    if (password === '') throw new MongoError('BadValue', 'Password cannot be empty');
    const roles = parseRoles(call, sent);
    await checkRoles(call, roles);
    if ((await context.users.find(user, database)) !== undefined)
      throw new MongoError('Location51003', `User "${user}@${database}" already exists`);
    const mechanisms = parseMechanisms(body.get('mechanisms'));
    const document = new Map<string, Bson>([
      ['_id', `${database}.${user}`],
      ['userId', newUserId()],
      ['user', user],
      ['db', database],
      ['credentials', await credentialsOf(user, password ?? '', mechanisms)],
      ['roles', roleDocuments(roles)],
    ]);
    const data = body.get('customData');
    if (data !== undefined) document.set('customData', data);
    await context.users.put(USERS, document);
    return ok();
  },
};

export const updateUser: Command = {
  needs: 'write',
  fields: FIELDS,
  async run(call) {
    const { context, args, body, name } = call;
    const found = new Map(await existingUser(call));
    const [password, roles, data] = [
      args.optionalText('pwd'),
      body.get('roles'),
      body.get('customData'),
    ];
    if (
      password === undefined &&
      roles === undefined &&
      data === undefined &&
      !body.has('mechanisms')
    )
      throw new MongoError('BadValue', 'Must specify at least one field to update in updateUser');
    if (password !== undefined)
      found.set(
        'credentials',
        await credentialsOf(args.text(name), password, parseMechanisms(body.get('mechanisms'))),
      );
    if (isArray(roles)) {
      const parsed = parseRoles(call, roles);
      await checkRoles(call, parsed);
      found.set('roles', roleDocuments(parsed));
    }
    if (data !== undefined) found.set('customData', data);
    await context.users.put(USERS, found);
    return ok();
  },
};

export const dropUser: Command = {
  needs: 'write',
  fields: {},
  async run(call) {
    await call.context.users.remove(USERS, await existingUser(call));
    return ok();
  },
};

export const dropAllUsersFromDatabase: Command = {
  needs: 'write',
  fields: {},
  async run({ context, database }) {
    const all = (await context.users.list(USERS)).filter((user) => user.get('db') === database);
    for (const user of all) await context.users.remove(USERS, user);
    return ok({ n: all.length });
  },
};

export const grantRolesToUser: Command = changeRoles(addRoles);
export const revokeRolesFromUser: Command = changeRoles(removeRoles);

function changeRoles(change: typeof addRoles): Command {
  return {
    needs: 'write',
    fields: { roles: 'array!' },
    async run(call: Call) {
      const roles = parseRoles(call, call.args.optionalList('roles') ?? []);
      await checkRoles(call, roles);
      const found = await existingUser(call);
      await call.context.users.put(USERS, change(found, roles));
      return ok();
    },
  };
}
