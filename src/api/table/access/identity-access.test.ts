// Goal: bearers of tokens may do what their roles say, and nothing of the account's own. Method: roles against required permissions.
import { expect, test } from 'vitest';
import {
  type IdentitySettings,
  memoryAccessStore,
  openAccessControl,
} from '../../../service/index.ts';
import type { RequiredPermission } from './access.ts';
import { tokenAccess } from './identity-access.ts';

const READER = '00000000-0000-0000-0000-000000000001';
const CONTRIBUTOR = '00000000-0000-0000-0000-000000000002';
const clock = { nowMs: () => Date.parse('2026-01-01T00:00:00Z') };

function token(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = clock.nowMs() / 1000 + 3600;
  return `${part({ alg: 'none' })}.${part({ oid: 'me', exp, ...claims })}.x`;
}

function open(roleDefinitionId: string, scope: string) {
  const identities: IdentitySettings = {
    keys: { kind: 'any' },
    issuer: undefined,
    audience: 'tables',
  };
  const assignments = [{ roleDefinitionId, principalId: 'me', scope }];
  const roles = { definitions: [], assignments };
  return openAccessControl(
    { keys: { primary: 'a2V5' }, identities, roles },
    memoryAccessStore(),
    clock,
  );
}

const read: RequiredPermission = { level: 'o', permissions: ['r'], table: 't' };
const upsert: RequiredPermission = { level: 'o', permissions: ['a', 'u'], isAll: true, table: 't' };
const list: RequiredPermission = { level: 'c', permissions: ['l'] };
const create: RequiredPermission = { level: 'c', permissions: ['c', 'w'], table: 't' };
const policies: RequiredPermission = { level: 'c', permissions: ['w'], table: 't' };
const properties: RequiredPermission = { level: 's', permissions: ['r'] };

test.each([
  [READER, '/', read, undefined],
  [READER, '/', list, undefined],
  [READER, '/', upsert, 'AuthorizationPermissionMismatch'],
  [READER, '/', create, 'AuthorizationPermissionMismatch'],
  [CONTRIBUTOR, '/', upsert, undefined],
  [CONTRIBUTOR, '/', create, undefined],
  [CONTRIBUTOR, '/', policies, 'AuthorizationFailure'],
  [CONTRIBUTOR, '/', properties, 'AuthorizationFailure'],
  [CONTRIBUTOR, '/dbs/TablesDB/colls/t', upsert, undefined],
  [CONTRIBUTOR, '/dbs/TablesDB/colls/t', create, 'AuthorizationPermissionMismatch'],
  [CONTRIBUTOR, '/dbs/TablesDB/colls/other', read, 'AuthorizationPermissionMismatch'],
])('role %s over %s: %j is %s', async (role, scope, required, code) => {
  const access = await tokenAccess(open(role, scope), token({ aud: 'tables' }));
  const refusal = (() => {
    try {
      access.check(required);
      return undefined;
    } catch (error) {
      return (error as { tableCode: string }).tableCode;
    }
  })();
  expect(refusal).toBe(code);
});

test.each([
  [{ aud: 'other' }, 'Audience'],
  [{ aud: 'tables', exp: 1 }, 'expired'],
  [{ aud: 'tables', nbf: 4_000_000_000 }, 'Lifetime'],
])('the token %j is refused: %s', async (claims, words) => {
  await expect(tokenAccess(open(READER, '/'), token(claims))).rejects.toThrow(words);
});

test.each([
  ['https://sts.windows.net/tenant/', 'https://storage.azure.com/', undefined],
  ['https://sts.windows.net/tenant/', 'https://devstoreaccount1.table.core.windows.net', undefined],
  ['https://login.microsoftonline.com/tenant/v2.0', 'https://cosmos.azure.com', undefined],
  ['https://sts.windows.net/tenant/', 'https://other.table.core.windows.net', 'Audience'],
  ['https://sts.windows.net/tenant/', 'https://storage.azure.com.example', 'Audience'],
  ['https://sts.windows.net.example/', 'https://storage.azure.com/', 'Issuer'],
  [undefined, 'https://storage.azure.com/', 'Issuer'],
])('where any token will do, one of %s for %s is refused by its %s', async (iss, aud, words) => {
  const open = openAccessControl(
    {
      keys: { primary: 'a2V5' },
      identities: { keys: { kind: 'any' }, issuer: undefined, audience: undefined },
      roles: { definitions: [], assignments: [] },
    },
    memoryAccessStore(),
    clock,
  );
  const access = tokenAccess(open, token({ iss, aud }));
  if (words === undefined) await expect(access).resolves.toBeDefined();
  else await expect(access).rejects.toThrow(words);
});

test('what is no token is refused', async () => {
  await expect(tokenAccess(open(READER, '/'), 'x')).rejects.toMatchObject({
    tableCode: 'AuthenticationFailed',
  });
});
