/** Whether a caller may do what a statement asks for. */
import { CqlError } from '../errors.ts';
import type { Caller } from './caller.ts';
import { type Requirement, resourceName, resourceText, withParents } from './resource.ts';
import type { RoleStore } from './role-store.ts';

export function isSuperuser({ kind, role }: Caller, roles: RoleStore): boolean {
  return kind === 'account' || (kind === 'role' && roles.isSuperuser(role));
}

/** Throws `unauthorized` for the first permission that is missing. */
export function checkAccess(
  caller: Caller,
  requirements: readonly Requirement[],
  roles: RoleStore,
): void {
  if (caller.kind === 'reader') {
    checkReader(requirements);
    return;
  }
  if (requirements.length === 0 || isSuperuser(caller, roles)) return;
  for (const { permission, resource } of requirements)
    if (!hasPermission(caller, { permission, resource }, roles))
      throw unauthorized(
        `User ${caller.role} has no ${permission} permission on ${resourceText(resource)} or any of its parents`,
      );
}

function checkReader(requirements: readonly Requirement[]): void {
  if (requirements.some(({ permission }) => permission !== 'SELECT' && permission !== 'EXECUTE'))
    throw unauthorized('The key of this login is read-only');
}

export function hasPermission(
  caller: Caller,
  { permission, resource }: Requirement,
  roles: RoleStore,
): boolean {
  if (isSuperuser(caller, roles)) return true;
  if (caller.kind === 'reader') return permission === 'SELECT';
  const names = withParents(resource).map(resourceName);
  const members = new Set(roles.memberships(caller.role).map(({ name }) => name));
  return roles.grants.some(
    (grant) =>
      members.has(grant.role) &&
      names.includes(grant.resource) &&
      grant.permissions.includes(permission),
  );
}

export function unauthorized(message: string): CqlError {
  return new CqlError('unauthorized', message);
}
