/** Shows users. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { rolesOf, USERS } from '../../auth/users.ts';
import type { Call, Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { compileFilter } from '../../query/filter-test.ts';
import { ok } from '../../reply.ts';
import { roleDocuments } from './user-documents.ts';

export const usersInfo: Command = {
  needs: 'read',
  fields: {
    showCredentials: 'flag',
    showPrivileges: 'flag',
    showCustomData: 'flag',
    showAuthenticationRestrictions: 'flag',
    filter: 'object',
  },
  async run(call) {
    const { context, args, body, name } = call;
    const wanted = wantedUsers(call, body.get(name) ?? null);
    const test = compileFilter(parseFilter(args.optionalDocument('filter') ?? new Map()));
    const found = (await context.users.list(USERS)).filter(wanted).map((user) => show(call, user));
    const users: BsonDocument[] = [];
    for (const each of found) {
      const shown = await each;
      if (test(shown)) users.push(shown);
    }
    return ok({ users });
  },
};

function wantedUsers(call: Call, sent: Bson): (user: BsonDocument) => boolean {
  const { database } = call;
  if (sent === 1 || (typeof sent === 'object' && sent !== null && 'value' in sent))
    return (user) => user.get('db') === database;
  if (isDocument(sent) && sent.get('forAllDBs') === true) return () => true;
  const names = (isArray(sent) ? sent : [sent]).map((each) => {
    if (typeof each === 'string') return `${database}.${each}`;
    if (isDocument(each)) return `${String(each.get('db'))}.${String(each.get('user'))}`;
    throw new MongoError('BadValue', 'User names must be either strings or objects');
  });
  return (user) => names.includes(String(user.get('_id')));
}

async function show({ args, context }: Call, user: BsonDocument): Promise<BsonDocument> {
  const shown = new Map<string, Bson>();
  for (const name of ['_id', 'userId', 'user', 'db']) {
    const value = user.get(name);
    if (value !== undefined) shown.set(name, value);
  }
  const credentials = user.get('credentials');
  const mechanisms = isDocument(credentials) ? [...credentials.keys()] : [];
  if (args.flag('showCredentials') && credentials !== undefined)
    shown.set('credentials', credentials);
  const data = user.get('customData');
  if (args.flag('showCustomData', true) && data !== undefined) shown.set('customData', data);
  shown.set('roles', user.get('roles') ?? []);
  shown.set('mechanisms', mechanisms);
  if (args.flag('showPrivileges')) {
    const inherited = await context.users.inherited(rolesOf(user));
    shown.set('inheritedRoles', roleDocuments(inherited));
    shown.set('inheritedPrivileges', []);
  }
  return shown;
}
