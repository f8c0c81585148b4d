export * from './access.ts';
export * from './account-keys.ts';
export * from './actions.ts';
export type { Identity, IdentityFault, IdentityRules, IdentitySettings } from './identity.ts';
export * from './resource-token.ts';
export * from './roles.ts';
export * from './shared-signature.ts';
