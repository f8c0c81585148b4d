// Goal: roles give what they say, where they say. Method: a table of assignments, actions and places.
import { expect, test } from 'vitest';
import type { Action } from './actions.ts';
import { type RoleAssignment, Roles } from './roles.ts';

const READER = '00000000-0000-0000-0000-000000000001';
const CONTRIBUTOR = '00000000-0000-0000-0000-000000000002';
const CONTAINERS = 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers';

const DEFINITIONS = [
  {
    id: 'writer',
    permissions: [
      { dataActions: [`${CONTAINERS}/items/*`], notDataActions: [`${CONTAINERS}/items/delete`] },
    ],
  },
];

const assignment = (
  roleDefinitionId: string,
  scope: string,
  principalId = 'ada',
): RoleAssignment => ({
  roleDefinitionId,
  scope,
  principalId,
});

test.each<[RoleAssignment[], Action, string, string]>([
  [[assignment(READER, '/')], 'readItem', '/dbs/a/colls/b', 'allowed'],
  [[assignment(READER, '/')], 'queryItems', '/dbs/a/colls/b', 'allowed'],
  [[assignment(READER, '/')], 'createItem', '/dbs/a/colls/b', 'missing'],
  [[assignment(CONTRIBUTOR, '/')], 'createItem', '/dbs/a/colls/b', 'allowed'],
  [[assignment(CONTRIBUTOR, '/')], 'writeItems', '/dbs/a/colls/b', 'allowed'],
  [[assignment(CONTRIBUTOR, '/')], 'executeProcedure', '/dbs/a/colls/b', 'allowed'],
  [[assignment(CONTRIBUTOR, '/')], 'createContainer', '/dbs/a', 'notData'],
  [[assignment(CONTRIBUTOR, '/')], 'readPermissions', '/dbs/a/users/b', 'notData'],
  [[assignment(CONTRIBUTOR, '/')], 'replaceOffer', '/', 'notData'],
  [[assignment(CONTRIBUTOR, '/dbs/a')], 'createItem', '/dbs/a/colls/b', 'allowed'],
  [[assignment(CONTRIBUTOR, '/dbs/a')], 'createItem', '/dbs/ab/colls/b', 'missing'],
  [[assignment(CONTRIBUTOR, '/dbs/a/colls/b')], 'createItem', '/dbs/a/colls/c', 'missing'],
  [[assignment(CONTRIBUTOR, '/dbs/a/colls/b')], 'readAccount', '/', 'allowed'],
  [[assignment(CONTRIBUTOR, '/dbs/a/colls/b')], 'listDatabases', '/', 'missing'],
  [[assignment('writer', '/')], 'upsertItem', '/dbs/a/colls/b', 'allowed'],
  [[assignment('writer', '/')], 'deleteItem', '/dbs/a/colls/b', 'missing'],
  [[assignment('writer', '/')], 'writeItems', '/dbs/a/colls/b', 'missing'],
  [[assignment(READER, '/', 'team')], 'readItem', '/dbs/a/colls/b', 'allowed'],
  [[assignment(READER, '/', 'others')], 'readItem', '/dbs/a/colls/b', 'missing'],
  [[assignment(READER, '/', '*')], 'readItem', '/dbs/a/colls/b', 'allowed'],
  [[], 'readAccount', '/', 'missing'],
])('%j: %s on %s is %s', (assignments, action, resource, verdict) => {
  const roles = new Roles({ definitions: DEFINITIONS, assignments });
  expect(roles.decide(['ada', 'team'], action, resource).kind).toBe(verdict);
});
