/** CREATE, ALTER and DROP of roles and users, GRANT, REVOKE and LIST. */
import type { TokenCursor } from '../cql/token-cursor.ts';
import { isPermission, type Permission } from './resource.ts';
import type { ResourceTerm, RoleAction, RoleOptions, RoleStatement } from './role-ast.ts';

export function parseCreateRole(cursor: TokenCursor): RoleStatement {
  const isUser = isOfUser(cursor);
  const ifNotExists = cursor.takeWords('if', 'not', 'exists');
  const role = roleName(cursor);
  const options = isUser ? userOptions(cursor) : roleOptions(cursor);
  const login = isUser ? { canLogin: true } : {};
  return statement({ kind: 'create', role, ifNotExists, options: { ...login, ...options } });
}

export function parseAlterRole(cursor: TokenCursor): RoleStatement {
  const isUser = isOfUser(cursor);
  const ifExists = cursor.takeWords('if', 'exists');
  const role = roleName(cursor);
  const options = isUser ? userOptions(cursor) : roleOptions(cursor);
  return statement({ kind: 'alter', role, ifExists, options });
}

export function parseDropRole(cursor: TokenCursor): RoleStatement {
  isOfUser(cursor);
  const ifExists = cursor.takeWords('if', 'exists');
  return statement({ kind: 'drop', role: roleName(cursor), ifExists });
}

export function parseGrant(cursor: TokenCursor): RoleStatement {
  const isGrant = cursor.next().text === 'grant';
  const between = isGrant ? 'to' : 'from';
  const permissions = permissionList(cursor);
  if (permissions === undefined) {
    const role = roleName(cursor);
    cursor.expectWords(between);
    return statement({ kind: isGrant ? 'grantRole' : 'revokeRole', role, to: roleName(cursor) });
  }
  cursor.expectWords('on');
  const resource = resourceTerm(cursor);
  cursor.expectWords(between);
  const to = roleName(cursor);
  return statement({ kind: isGrant ? 'grant' : 'revoke', permissions, resource, to });
}

export function parseList(cursor: TokenCursor): RoleStatement {
  cursor.expectWords('list');
  if (cursor.takeWords('users')) return statement({ kind: 'listUsers' });
  if (cursor.takeWords('roles')) {
    const of = cursor.takeWords('of') ? roleName(cursor) : undefined;
    return statement({ kind: 'listRoles', of, isRecursive: !cursor.takeWords('norecursive') });
  }
  const permissions = permissionList(cursor);
  if (permissions === undefined) throw cursor.unexpected();
  const resource = cursor.takeWords('on') ? resourceTerm(cursor) : undefined;
  const of = cursor.takeWords('of') ? roleName(cursor) : undefined;
  const isRecursive = !cursor.takeWords('norecursive');
  return statement({ kind: 'listPermissions', permissions, resource, of, isRecursive });
}

function statement(action: RoleAction): RoleStatement {
  return { kind: 'role', action };
}

/** Steps over the first two words. */
function isOfUser(cursor: TokenCursor): boolean {
  cursor.next();
  return cursor.next().text === 'user';
}

function roleName(cursor: TokenCursor): string {
  return cursor.token.kind === 'string' ? cursor.next().text : cursor.name();
}

function stringOf(cursor: TokenCursor): string {
  if (cursor.token.kind !== 'string') throw cursor.mismatch('STRING_LITERAL');
  return cursor.next().text;
}

function booleanOf(cursor: TokenCursor): boolean {
  if (cursor.takeWords('true')) return true;
  cursor.expectWords('false');
  return false;
}

function userOptions(cursor: TokenCursor): RoleOptions {
  let password: string | undefined;
  if (cursor.takeWords('with')) {
    cursor.expectWords('password');
    password = stringOf(cursor);
  }
  const isSuperuser = cursor.takeWords('superuser')
    ? true
    : cursor.takeWords('nosuperuser')
      ? false
      : undefined;
  return {
    ...(password === undefined ? {} : { password }),
    ...(isSuperuser === undefined ? {} : { isSuperuser }),
  };
}

function roleOptions(cursor: TokenCursor): RoleOptions {
  let options: RoleOptions = {};
  if (!cursor.takeWords('with')) return options;
  do options = { ...options, ...roleOption(cursor) };
  while (cursor.takeWords('and'));
  return options;
}

function roleOption(cursor: TokenCursor): RoleOptions {
  // Every role reaches the one data center.
  if (cursor.takeWords('access', 'to', 'all', 'datacenters')) return {};
  if (cursor.takeWords('access', 'to', 'datacenters')) {
    cursor.expectSymbol('{');
    cursor.list(() => stringOf(cursor));
    cursor.expectSymbol('}');
    return {};
  }
  const name = cursor.next().text;
  cursor.takeSymbol('=');
  switch (name) {
    case 'password':
      return { password: stringOf(cursor) };
    case 'superuser':
      return { isSuperuser: booleanOf(cursor) };
    case 'login':
      return { canLogin: booleanOf(cursor) };
    case 'options':
      return { options: optionMap(cursor) };
    default:
      throw cursor.unexpected();
  }
}

function optionMap(cursor: TokenCursor): ReadonlyMap<string, string> {
  const options = new Map<string, string>();
  cursor.expectSymbol('{');
  while (!cursor.takeSymbol('}')) {
    const name = stringOf(cursor);
    cursor.expectSymbol(':');
    options.set(name, cursor.next().text);
    cursor.takeSymbol(',');
  }
  return options;
}

/** Undefined where a role's name follows. */
function permissionList(cursor: TokenCursor): 'all' | readonly Permission[] | undefined {
  if (cursor.takeWords('all')) {
    cursor.takeWords('permissions');
    return 'all';
  }
  const { kind, text } = cursor.token;
  const isNamed = kind === 'word' && isPermission(text.toUpperCase());
  const follows = cursor.peek(1).text;
  if (!isNamed || !['on', ',', 'permission', 'of', ';', '<EOF>', 'norecursive'].includes(follows))
    return undefined;
  return cursor.list(() => {
    const permission = cursor.next().text.toUpperCase();
    if (!isPermission(permission)) throw cursor.unexpected();
    cursor.takeWords('permission');
    return permission;
  });
}

function resourceTerm(cursor: TokenCursor): ResourceTerm {
  if (cursor.takeWords('all')) return allOf(cursor);
  if (cursor.takeWords('keyspace')) return { kind: 'keyspace', name: cursor.name() };
  if (cursor.takeWords('role')) return { kind: 'role', name: roleName(cursor) };
  if (cursor.takeWords('function')) {
    const { keyspace, name } = cursor.tableName();
    const types = cursor.parenthesized(() => cursor.typeText());
    return { kind: 'function', keyspace, name, types };
  }
  if (cursor.takeWords('mbean') || cursor.takeWords('mbeans'))
    return { kind: 'mbean', name: stringOf(cursor) };
  if (!cursor.takeWords('table')) cursor.takeWords('columnfamily');
  return { kind: 'table', ...cursor.tableName() };
}

function allOf(cursor: TokenCursor): ResourceTerm {
  if (cursor.takeWords('keyspaces')) return { kind: 'allKeyspaces' };
  if (cursor.takeWords('roles')) return { kind: 'allRoles' };
  if (cursor.takeWords('mbeans')) return { kind: 'allMbeans' };
  if (cursor.takeWords('tables')) {
    cursor.expectWords('in', 'keyspace');
    return { kind: 'keyspace', name: cursor.name() };
  }
  cursor.expectWords('functions');
  if (!cursor.takeWords('in')) return { kind: 'allFunctions' };
  cursor.expectWords('keyspace');
  return { kind: 'functionsIn', name: cursor.name() };
}
