/** The plans of statements about roles and permissions. */
import { invalid, syntaxError } from '../errors.ts';
import { type Call, type Plan, type Result, type SchemaChange, VOID } from '../statements/plan.ts';
import type { Scope } from '../statements/scope.ts';
import { hasPermission, isSuperuser, unauthorized } from './access-check.ts';
import { resolveResource } from './resolve-resource.ts';
import {
  applicablePermissions,
  dataResource,
  functionResource,
  type Permission,
  type Resource,
  resourceName,
  resourceText,
  roleResource,
} from './resource.ts';
import type { ResourceTerm, RoleAction, RoleStatement } from './role-ast.ts';
import { listColumns, listPermissions, listRoles, listUsers } from './role-lists.ts';
import type { Role } from './role-store.ts';

type Of<K extends RoleAction['kind']> = Extract<RoleAction, { kind: K }>;

export function rolePlan({ action }: RoleStatement, scope: Scope): Plan {
  const isList = action.kind.startsWith('list');
  return {
    operation: isList ? 'list' : 'role',
    variables: [],
    keyIndexes: [],
    columns: isList ? listColumns(action.kind) : undefined,
    isCurrent: () => true,
    run: (call) => runAction(action, scope, call),
  };
}

async function runAction(action: RoleAction, scope: Scope, call: Call): Promise<Result> {
  if (call.caller.kind === 'reader') throw unauthorized('The key of this login is read-only');
  switch (action.kind) {
    case 'create':
      return create(action, call);
    case 'alter':
      return alter(action, call);
    case 'drop':
      return drop(action, call);
    case 'grantRole':
    case 'revokeRole':
      return changeMembership(action, call);
    case 'grant':
    case 'revoke':
      return changeGrant(action, scope, call);
    case 'listUsers':
      return listUsers(call);
    case 'listRoles':
      return listRoles(action, call);
    case 'listPermissions':
      return listPermissions(action, scope, call);
  }
}

function requireOn(call: Call, permission: Permission, resource: Resource): void {
  const { roles } = call.environment;
  if (!hasPermission(call.caller, { permission, resource }, roles))
    throw unauthorized(
      `User ${call.caller.role} does not have sufficient privileges to perform the requested operation`,
    );
}

async function create({ role, ifNotExists, options }: Of<'create'>, call: Call): Promise<Result> {
  const { roles } = call.environment;
  requireOn(call, 'CREATE', roleResource());
  if (role === '') throw invalid("Role name can't be an empty string");
  if (options.isSuperuser === true && !isSuperuser(call.caller, roles))
    throw unauthorized('Only superusers can create a role with superuser status');
  if (roles.find(role) !== undefined) {
    if (ifNotExists) return VOID;
    throw invalid(`${role} already exists`);
  }
  await roles.put(role, options);
  await grantToCreator(call, roleResource(role));
  return VOID;
}

/** Creators may do everything with what they made; what is gone has no permissions. */
export async function followSchemaChange(change: SchemaChange, call: Call): Promise<void> {
  const { keyspace, name, target } = change;
  if (target !== 'KEYSPACE' && target !== 'TABLE') return;
  const resource = target === 'KEYSPACE' ? dataResource(keyspace) : dataResource(keyspace, name);
  if (change.change === 'CREATED') {
    await grantToCreator(call, resource);
    if (target === 'KEYSPACE') await grantToCreator(call, functionResource(keyspace));
  }
  if (change.change !== 'DROPPED') return;
  await call.environment.roles.forget(resourceName(resource));
  if (target === 'KEYSPACE')
    await call.environment.roles.forget(resourceName(functionResource(keyspace)));
}

/** Who makes something may do everything with it. */
export async function grantToCreator(call: Call, resource: Resource): Promise<void> {
  const { caller, environment } = call;
  if (caller.kind !== 'role' || environment.roles.find(caller.role) === undefined) return;
  await environment.roles.setGrant({
    role: caller.role,
    resource: resourceName(resource),
    permissions: applicablePermissions(resource),
  });
}

async function alter({ role, ifExists, options }: Of<'alter'>, call: Call): Promise<Result> {
  const { roles } = call.environment;
  const { caller } = call;
  const isSuper = isSuperuser(caller, roles);
  if (Object.keys(options).length === 0) throw invalid("ALTER [ROLE|USER] can't be empty");
  const found = roles.find(role);
  if (found === undefined) {
    if (ifExists) return VOID;
    throw invalid(`${role} doesn't exist`);
  }
  if (options.isSuperuser !== undefined) {
    const isOwn = roles.memberships(caller.role).some(({ name }) => name === role);
    if (isOwn)
      throw unauthorized(
        "You aren't allowed to alter your own superuser status or that of a role granted to you",
      );
    if (!isSuper) throw unauthorized('Only superusers are allowed to alter superuser status');
  }
  if (!isSuper) {
    if (caller.role !== role) requireOn(call, 'ALTER', roleResource(role));
    else if (options.canLogin !== undefined || options.options !== undefined)
      throw unauthorized("You aren't allowed to alter the options of your own role");
  }
  await roles.put(role, options);
  return VOID;
}

async function drop({ role, ifExists }: Of<'drop'>, call: Call): Promise<Result> {
  const { roles } = call.environment;
  if (roles.find(role) === undefined) {
    if (ifExists) return VOID;
    throw invalid(`${role} doesn't exist`);
  }
  requireOn(call, 'DROP', roleResource(role));
  if (call.caller.role === role) throw invalid('Cannot DROP primary role for current login');
  if (roles.isSuperuser(role) && !isSuperuser(call.caller, roles))
    throw unauthorized('Only superusers can drop a role with superuser status');
  await roles.drop(role);
  return VOID;
}

async function changeMembership(
  { kind, role, to }: Of<'grantRole' | 'revokeRole'>,
  call: Call,
): Promise<Result> {
  const { roles } = call.environment;
  for (const name of [role, to])
    if (roles.find(name) === undefined) throw invalid(`${name} doesn't exist`);
  requireOn(call, 'AUTHORIZE', roleResource(role));
  const { memberOf } = roles.find(to) as Role;
  if (kind === 'revokeRole') {
    if (!memberOf.includes(role)) throw invalid(`${to} is not a member of ${role}`);
    await roles.setMemberships(
      to,
      memberOf.filter((one) => one !== role),
    );
    return VOID;
  }
  if (roles.memberships(to).some(({ name }) => name === role) && role !== to)
    throw invalid(`${to} is a member of ${role}`);
  if (roles.memberships(role).some(({ name }) => name === to))
    throw invalid(`${role} is a member of ${to}`);
  await roles.setMemberships(to, [...memberOf, role]);
  return VOID;
}

async function changeGrant(
  { kind, permissions, resource: term, to }: Of<'grant' | 'revoke'>,
  scope: Scope,
  call: Call,
): Promise<Result> {
  const { roles } = call.environment;
  checkApplicable(term, permissions);
  const resource = resolveResource(term, scope, call);
  if (roles.find(to) === undefined) throw invalid(`Role ${to} doesn't exist`);
  const applicable = applicablePermissions(resource);
  const wanted =
    permissions === 'all' ? applicable : permissions.filter((one) => applicable.includes(one));
  const { caller } = call;
  for (const permission of ['AUTHORIZE', ...wanted] as Permission[])
    if (!hasPermission(caller, { permission, resource }, roles))
      throw unauthorized(
        `User ${caller.role} has no ${permission} permission on ${resourceText(resource)} or any of its parents`,
      );
  const name = resourceName(resource);
  const before = roles.permissionsOn(to, name);
  const after =
    kind === 'grant'
      ? applicable.filter((one) => before.includes(one) || wanted.includes(one))
      : before.filter((one) => !wanted.includes(one));
  const warnings = grantWarnings(kind, to, resource, before, wanted, permissions === 'all');
  await roles.setGrant({ role: to, resource: name, permissions: after });
  return warnings.length === 0 ? VOID : { kind: 'void', warnings };
}

/** Whether there is anything to grant, before the resource is looked for. */
function checkApplicable(term: ResourceTerm, permissions: 'all' | readonly Permission[]): void {
  const [kind, depth] = PLACES[term.kind];
  const applicable = applicablePermissions({ kind, path: Array(depth).fill('') });
  if (permissions !== 'all' && !permissions.some((one) => applicable.includes(one)))
    throw syntaxError(
      `Resource type ${TYPE_NAMES[kind]} does not support any of the requested permissions`,
    );
}

const PLACES: Readonly<Record<ResourceTerm['kind'], readonly [Resource['kind'], number]>> = {
  allFunctions: ['functions', 0],
  allKeyspaces: ['data', 0],
  allMbeans: ['mbean', 0],
  allRoles: ['roles', 0],
  function: ['functions', 2],
  functionsIn: ['functions', 1],
  keyspace: ['data', 1],
  mbean: ['mbean', 1],
  role: ['roles', 1],
  table: ['data', 2],
};

function grantWarnings(
  kind: 'grant' | 'revoke',
  role: string,
  resource: Resource,
  before: readonly Permission[],
  wanted: readonly Permission[],
  isAll: boolean,
): readonly string[] {
  if (isAll) return [];
  const [of, was] = kind === 'grant' ? ['was already granted', true] : ['was not granted', false];
  return wanted
    .filter((permission) => before.includes(permission) === was)
    .map((permission) => `Role '${role}' ${of} ${permission} on ${resourceText(resource)}`);
}

const TYPE_NAMES = {
  data: 'DataResource',
  roles: 'RoleResource',
  functions: 'FunctionResource',
  mbean: 'JMXResource',
} as const;
