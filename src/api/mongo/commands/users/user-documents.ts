/** Users and roles as commands name and show them. */
import { randomUUID } from 'node:crypto';
import {
  type Bson,
  type BsonDocument,
  Extended,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { isBuiltIn, type RoleName } from '../../auth/grants.ts';
import { rolesOf } from '../../auth/users.ts';
import type { Call } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { wrongType } from '../../fields/field-table.ts';
import { documentOf } from '../../reply.ts';

const MECHANISMS = ['SCRAM-SHA-1', 'SCRAM-SHA-256'] as const;
type Mechanism = (typeof MECHANISMS)[number];

/** Roles of a command: names in its own database, or names with a database. */
export function parseRoles(call: Call, sent: readonly Bson[]): readonly RoleName[] {
  return sent.map((each) => {
    if (typeof each === 'string') return { role: each, db: call.database };
    if (!isDocument(each))
      throw new MongoError('FailedToParse', 'Role names must be either strings or objects');
    const [role, db] = [each.get('role'), each.get('db')];
    if (typeof role !== 'string' || typeof db !== 'string')
      throw new MongoError('FailedToParse', 'Role objects need a role and a db');
    return { role, db };
  });
}

/** Throws RoleNotFound. */
export async function checkRoles({ context }: Call, roles: readonly RoleName[]): Promise<void> {
  for (const each of roles)
    if (!isBuiltIn(each) && (await context.users.findRole(each)) === undefined)
      throw new MongoError('RoleNotFound', `Could not find role: ${each.role}@${each.db}`);
}

export function roleDocuments(roles: readonly RoleName[]): readonly BsonDocument[] {
  return roles.map(({ role, db }) => documentOf({ role, db }));
}

export function parseMechanisms(sent: Bson | undefined): readonly Mechanism[] {
  if (sent === undefined || sent === null) return MECHANISMS;
  if (!isArray(sent)) throw wrongType('createUser.mechanisms', sent, 'array');
  if (sent.length === 0) throw new MongoError('BadValue', 'mechanisms field must not be empty');
  return sent.map((name) => {
    const known = MECHANISMS.find((each) => each === name);
    if (known === undefined)
      throw new MongoError('BadValue', `Unknown auth mechanism '${String(name)}'`);
    return known;
  });
}

export function newUserId(): Extended {
  const bytes = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
  return new Extended({ kind: 'binary', bytes: new Uint8Array(bytes), subtype: 4 });
}

/** The existing user of a command. */
export async function existingUser(call: Call): Promise<BsonDocument> {
  const { context, args, name, database } = call;
  const user = args.text(name);
  const found = await context.users.find(user, database);
  if (found === undefined)
    throw new MongoError('UserNotFound', `Could not find user "${user}" for db "${database}"`);
  return found;
}

export async function existingRole(call: Call): Promise<BsonDocument> {
  const { context, args, name, database: db } = call;
  const role = args.text(name);
  const found = await context.users.findRole({ role, db });
  if (found !== undefined) return found;
  if (isBuiltIn({ role, db }))
    throw new MongoError(
      'InvalidRoleModification',
      `${role}@${db} is a built-in role and cannot be modified`,
    );
  throw new MongoError('RoleNotFound', `Role ${role}@${db} not found`);
}

/** The same document with other roles. */
function withRoles(document: BsonDocument, roles: readonly RoleName[]): BsonDocument {
  return new Map(document).set('roles', roleDocuments(roles));
}

export function addRoles(document: BsonDocument, more: readonly RoleName[]): BsonDocument {
  const known = rolesOf(document);
  const added = more.filter(
    ({ role, db }) => !known.some((old) => old.role === role && old.db === db),
  );
  return withRoles(document, [...known, ...added]);
}

export function removeRoles(document: BsonDocument, less: readonly RoleName[]): BsonDocument {
  const kept = rolesOf(document).filter(
    ({ role, db }) => !less.some((old) => old.role === role && old.db === db),
  );
  return withRoles(document, kept);
}
