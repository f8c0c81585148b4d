/**
 * The file of `--roles`: which identities have which roles, in the words of the reference service.
 *
 *   {"definitions": [{"id": "mine", "permissions": [{"dataActions": ["Microsoft.DocumentDB/databaseAccounts/readMetadata"]}]}],
 *    "assignments": [{"roleDefinitionId": "mine", "principalId": "<object id>", "scope": "/dbs/shop"}]}
 */
import { readFileSync } from 'node:fs';
import {
  BUILT_IN_ROLES,
  type RoleAssignment,
  type RoleDefinition,
  type RoleSettings,
} from '../service/index.ts';
import { ExitError } from './exit-error.ts';

/** Throws ExitError 2. */
export function readRolesFile(path: string): RoleSettings {
  return parseRoles(path, readRolesText(path));
}

export function readRolesText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw wrong(path, error instanceof Error ? error.message : String(error));
  }
}

/** @param path - where the text is from, for messages. */
export function parseRoles(path: string, text: string): RoleSettings {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw wrong(path, error instanceof Error ? error.message : String(error));
  }
  const { definitions = [], assignments = [] } = (parsed ?? {}) as Record<string, unknown>;
  if (!Array.isArray(definitions) || !definitions.every(isDefinition))
    throw wrong(path, 'each definition needs an id and permissions with dataActions');
  if (!Array.isArray(assignments) || !assignments.every(isAssignment))
    throw wrong(
      path,
      'each assignment needs roleDefinitionId, principalId and a scope such as /dbs/a',
    );
  const defined = new Set([...BUILT_IN_ROLES, ...definitions].map(({ id }) => id));
  // The reference service writes ids as paths that end in them.
  const short = assignments.map((assignment) => ({
    ...assignment,
    roleDefinitionId: assignment.roleDefinitionId.split('/').at(-1) ?? '',
  }));
  const undefinedRole = short.find(({ roleDefinitionId }) => !defined.has(roleDefinitionId));
  if (undefinedRole !== undefined)
    throw wrong(path, `there is no role ${undefinedRole.roleDefinitionId}`);
  return { definitions, assignments: short };
}

function isDefinition(value: unknown): value is RoleDefinition {
  const { id, permissions } = (value ?? {}) as Partial<RoleDefinition>;
  return (
    typeof id === 'string' &&
    Array.isArray(permissions) &&
    permissions.every(
      ({ dataActions, notDataActions }) =>
        isTexts(dataActions) && (notDataActions === undefined || isTexts(notDataActions)),
    )
  );
}

function isAssignment(value: unknown): value is RoleAssignment {
  const { roleDefinitionId, principalId, scope } = (value ?? {}) as Partial<RoleAssignment>;
  return (
    typeof roleDefinitionId === 'string' &&
    typeof principalId === 'string' &&
    typeof scope === 'string' &&
    /^\/(dbs\/[^/]+(\/colls\/[^/]+)?)?$/.test(scope)
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function wrong(path: string, reason: string): ExitError {
  return new ExitError(2, `--roles ${JSON.stringify(path)}: ${reason}.`);
}
