/** /dbs/{id}/users: names that own permissions. */
import type { StoredResourceKind } from './stored-resources.ts';

export const USERS: StoredResourceKind = {
  kind: 'user',
  type: 'users',
  listName: 'Users',
  properties: () => ({}),
  extras: () => ({ _permissions: 'permissions/' }),
};
