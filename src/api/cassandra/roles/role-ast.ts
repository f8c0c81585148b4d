/** Statements about roles and permissions. */
import type { Permission } from './resource.ts';

export interface RoleOptions {
  readonly password?: string;
  readonly isSuperuser?: boolean;
  readonly canLogin?: boolean;
  readonly options?: ReadonlyMap<string, string>;
}

/** A resource as written: the keyspace of a table may come from USE. */
export type ResourceTerm =
  | { readonly kind: 'allKeyspaces' | 'allRoles' | 'allFunctions' | 'allMbeans' }
  | { readonly kind: 'keyspace' | 'role' | 'functionsIn' | 'mbean'; readonly name: string }
  | { readonly kind: 'table'; readonly keyspace: string | undefined; readonly name: string }
  | {
      readonly kind: 'function';
      readonly keyspace: string | undefined;
      readonly name: string;
      readonly types: readonly string[];
    };

export type RoleAction =
  | {
      readonly kind: 'create';
      readonly role: string;
      readonly ifNotExists: boolean;
      readonly options: RoleOptions;
    }
  | {
      readonly kind: 'alter';
      readonly role: string;
      readonly ifExists: boolean;
      readonly options: RoleOptions;
    }
  | { readonly kind: 'drop'; readonly role: string; readonly ifExists: boolean }
  | { readonly kind: 'grantRole' | 'revokeRole'; readonly role: string; readonly to: string }
  | {
      readonly kind: 'grant' | 'revoke';
      readonly permissions: 'all' | readonly Permission[];
      readonly resource: ResourceTerm;
      readonly to: string;
    }
  | { readonly kind: 'listUsers' }
  | { readonly kind: 'listRoles'; readonly of: string | undefined; readonly isRecursive: boolean }
  | {
      readonly kind: 'listPermissions';
      readonly permissions: 'all' | readonly Permission[];
      readonly resource: ResourceTerm | undefined;
      readonly of: string | undefined;
      readonly isRecursive: boolean;
    };

export interface RoleStatement {
  readonly kind: 'role';
  readonly action: RoleAction;
}
