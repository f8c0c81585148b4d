/** The caller of a request, after authentication. */
import type { Identity } from './identity.ts';
import type { Grant } from './resource-token.ts';
import type { SharedGrant } from './shared-signature.ts';

export type Principal =
  | { readonly kind: 'master' }
  | { readonly kind: 'reader' }
  | { readonly kind: 'token'; readonly grant: Grant }
  | { readonly kind: 'shared'; readonly grant: SharedGrant }
  | { readonly kind: 'identity'; readonly identity: Identity };

export const MASTER: Principal = { kind: 'master' };
export const READER: Principal = { kind: 'reader' };

/** For the audit log: names, never secrets. */
export function describePrincipal(principal: Principal | undefined): string {
  switch (principal?.kind) {
    case undefined:
      return 'unknown';
    case 'master':
      return 'key';
    case 'reader':
      return 'read-only key';
    case 'token':
      return `permission ${principal.grant.permission}`;
    case 'shared':
      return `sas ${principal.grant.user}`;
    case 'identity':
      return `identity ${principal.identity.id}`;
  }
}
