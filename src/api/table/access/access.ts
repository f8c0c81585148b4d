/** The rights of a caller, and the entities they are limited to. */

/** Permissions of a signature: read, add, update, delete; for accounts also write, list, create. */
export type Permission = 'r' | 'a' | 'u' | 'd' | 'w' | 'l' | 'c';

/** The permissions that an operation requires: any one of the list, or with `isAll` every one. */
export interface RequiredPermission {
  /** Service, container (table) or object (entity). */
  readonly level: 's' | 'c' | 'o';
  readonly permissions: readonly Permission[];
  /** All of them, as insert-or-replace adds and updates; by default any. */
  readonly isAll?: boolean;
  /** The table of the operation; undefined for the service. */
  readonly table?: string;
}

export interface Key {
  readonly partitionKey: string;
  readonly rowKey: string;
}

/** Entities between two keys, both included; an undefined bound does not limit. */
export interface KeyBounds {
  readonly startPartitionKey: string | undefined;
  readonly startRowKey: string | undefined;
  readonly endPartitionKey: string | undefined;
  readonly endRowKey: string | undefined;
}

export interface GrantedAccess {
  /** Throws a 403. */
  check(required: RequiredPermission): void;
  /** Undefined: all entities. */
  readonly bounds: KeyBounds | undefined;
}

/** The access of a holder of the account's key. */
export const FULL_ACCESS: GrantedAccess = { check: () => undefined, bounds: undefined };
