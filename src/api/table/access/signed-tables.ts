/**
 * Tables as signatures name them. Clients sign the name in lower case in every dialect. Where two names differ in case
 * only, such a signature is for the table whose name is in lower case; the other has to be signed as it is written.
 */
import type { Service } from '../../../service/index.ts';
import { findTable, tablesDatabase } from '../call.ts';
import type { Dialect } from '../dialect.ts';
import { type StoredPolicy, storedPolicy } from './stored-policies.ts';

export interface SignedTables {
  /** Whether both names mean the same table in the dialect of the request. */
  isSame(name: string, other: string): boolean;
  /** The names that a signature for this table may have signed. */
  signedNames(name: string): readonly string[];
  /** The policy of this id that is stored with a table. */
  policy(name: string, id: string): StoredPolicy | undefined;
}

export function signedTables(service: Service, dialect: Dialect): SignedTables {
  const idOf = (name: string): string | undefined => findTable({ service, dialect }, name)?.id;
  return {
    isSame(name, other) {
      if (name === other) return true;
      if (!dialect.hasCaselessNames || name.toLowerCase() !== other.toLowerCase()) return false;
      return idOf(name) === idOf(other);
    },
    signedNames(name) {
      const lower = name.toLowerCase();
      const id = idOf(name) ?? name;
      if (id === lower) return [lower];
      return hasTwin(service, id) ? [id] : [lower, id];
    },
    policy: (name, id) => storedPolicy(service, idOf(name) ?? name, id),
  };
}

function hasTwin(service: Service, id: string): boolean {
  const database = tablesDatabase(service);
  if (database === undefined) return false;
  const lower = id.toLowerCase();
  return service.containers
    .list(database)
    .some((table) => table.id !== id && table.id.toLowerCase() === lower);
}
