export {
  type AccessControl,
  type AccessSettings,
  type AccessState,
  type AccessStore,
  memoryAccessStore,
  openAccessControl,
} from './access.ts';
export {
  AccountKeys,
  currentKey,
  isReadOnly,
  isShort,
  KEY_BYTES_MIN,
  KEY_NAMES,
  type KeyName,
  type RotatedKeys,
} from './account-keys.ts';
export { type Action, isRead } from './actions.ts';
export type { Identity, IdentityFault, IdentityRules, IdentitySettings } from './identity.ts';
export type { Passwords, ScramSecret } from './passwords.ts';
export { describePrincipal, MASTER, type Principal, READER } from './principal.ts';
export { type Grant, type GrantScope, ResourceTokens, type ScriptType } from './resource-token.ts';
export {
  ANYONE,
  BUILT_IN_ROLES,
  CONTRIBUTOR,
  type RoleAssignment,
  type RoleDefinition,
  type RoleSettings,
  Roles,
} from './roles.ts';
export type { ScramMechanism } from './scram-secrets.ts';
export { isInMasks, readSharedSignature, type SharedGrant } from './shared-signature.ts';
