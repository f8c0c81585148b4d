/** LIST of users, roles and permissions. */
import type { Bytes } from '../../../base/index.ts';
import { invalid } from '../errors.ts';
import { type Call, type Result, type ResultColumn, VOID } from '../statements/plan.ts';
import type { Scope } from '../statements/scope.ts';
import { type CqlType, native } from '../types/cql-type.ts';
import { bytesOfJson } from '../types/values.ts';
import { hasPermission, isSuperuser, unauthorized } from './access-check.ts';
import { resolveResource } from './resolve-resource.ts';
import {
  resourceName,
  resourceOfName,
  resourceText,
  roleResource,
  withParents,
} from './resource.ts';
import type { RoleAction } from './role-ast.ts';
import type { Role } from './role-store.ts';

type Of<K extends RoleAction['kind']> = Extract<RoleAction, { kind: K }>;

const TEXT = native('text');
const BOOLEAN = native('boolean');
const TEXT_MAP: CqlType = { kind: 'map', key: TEXT, value: TEXT, isFrozen: false };

export function listColumns(kind: RoleAction['kind']): readonly ResultColumn[] {
  const [table, columns]: readonly [string, readonly (readonly [string, CqlType])[]] =
    kind === 'listPermissions'
      ? [
          'permissions',
          [
            ['role', TEXT],
            ['username', TEXT],
            ['resource', TEXT],
            ['permission', TEXT],
          ],
        ]
      : kind === 'listRoles'
        ? [
            'roles',
            [
              ['role', TEXT],
              ['super', BOOLEAN],
              ['login', BOOLEAN],
              ['options', TEXT_MAP],
              ['datacenters', TEXT],
            ],
          ]
        : [
            'users',
            [
              ['name', TEXT],
              ['super', BOOLEAN],
              ['datacenters', TEXT],
            ],
          ];
  return columns.map(([name, type]) => ({ keyspace: 'system_auth', table, name, type }));
}

function rowsOf(kind: RoleAction['kind'], rows: readonly (readonly unknown[])[]): Result {
  const columns = listColumns(kind);
  return {
    kind: 'rows',
    columns,
    rows: rows.map((row) =>
      columns.map(({ type }, at): Bytes | null => bytesOfJson(type, row[at] as never)),
    ),
  };
}

export function listUsers(call: Call): Result {
  const { roles } = call.environment;
  const shown = visibleRoles(call).filter(({ canLogin }) => canLogin);
  return rowsOf(
    'listUsers',
    shown.map(({ name }) => [name, roles.isSuperuser(name), 'ALL']),
  );
}

/** All roles for those who may see them, otherwise the caller's own. */
function visibleRoles(call: Call): readonly Role[] {
  const { roles } = call.environment;
  const mayDescribe = hasPermission(
    call.caller,
    { permission: 'DESCRIBE', resource: roleResource() },
    roles,
  );
  return mayDescribe ? roles.list() : roles.memberships(call.caller.role);
}

export function listRoles({ of, isRecursive }: Of<'listRoles'>, call: Call): Result {
  const { roles } = call.environment;
  if (of !== undefined && roles.find(of) === undefined) throw invalid(`${of} doesn't exist`);
  const visible = visibleRoles(call);
  if (of !== undefined && !visible.some(({ name }) => name === of))
    throw unauthorized(`You are not authorized to view roles granted to ${of} `);
  const shown = of === undefined ? visible : roles.memberships(of, isRecursive);
  const sorted = [...shown].sort((a, b) => (a.name < b.name ? -1 : 1));
  return rowsOf(
    'listRoles',
    sorted.map(({ name, canLogin, options }) => [
      name,
      roles.isSuperuser(name),
      canLogin,
      options,
      'ALL',
    ]),
  );
}

export function listPermissions(
  { permissions, resource: term, of, isRecursive }: Of<'listPermissions'>,
  scope: Scope,
  call: Call,
): Result {
  const { roles } = call.environment;
  const { caller } = call;
  if (of !== undefined && roles.find(of) === undefined) throw invalid(`${of} doesn't exist`);
  const isVisible =
    isSuperuser(caller, roles) ||
    hasPermission(caller, { permission: 'DESCRIBE', resource: roleResource() }, roles) ||
    (of !== undefined && roles.memberships(caller.role).some(({ name }) => name === of));
  if (!isVisible)
    throw unauthorized(`You are not authorized to view ${of ?? 'everyone'}'s permissions`);
  const resource = term && resolveResource(term, scope, call);
  const names = resource && (isRecursive ? withParents(resource) : [resource]).map(resourceName);
  const members = of === undefined ? undefined : roles.memberships(of).map(({ name }) => name);
  const rows = roles.grants
    .filter(({ role }) => members?.includes(role) ?? true)
    .filter((grant) => names?.includes(grant.resource) ?? true)
    .flatMap((grant) =>
      grant.permissions
        .filter((permission) => permissions === 'all' || permissions.includes(permission))
        .map((permission) => [
          grant.role,
          grant.role,
          resourceText(resourceOfName(grant.resource)),
          permission,
        ]),
    );
  rows.sort((a, b) => (a.join('\0') < b.join('\0') ? -1 : 1));
  return rows.length === 0 ? VOID : rowsOf('listPermissions', rows);
}
