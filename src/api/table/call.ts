/** One request on its way through the API: what was asked, and what it is asked of. */
import { type Bytes, DomainError, type MaybePromise } from '../../base/index.ts';
import type { ContainerRecord, DatabaseRecord } from '../../catalog/index.ts';
import type { Service } from '../../service/index.ts';
import type { Access } from './access.ts';
import type { Place } from './entity-reply.ts';
import { TableError } from './errors.ts';
import type { Reply } from './reply.ts';
import type { Headers } from './request.ts';
import type { Target } from './target.ts';

/** The database that holds the tables, under the name it has in the reference service. */
export const TABLES_DATABASE = 'TablesDB';

export interface Call {
  readonly service: Service;
  readonly method: string;
  readonly target: Target;
  readonly headers: Headers;
  readonly body: Bytes;
  readonly access: Access;
  /** The account as the client addresses it: scheme, host and, where it stands there, the first segment of the path. */
  readonly origin: string;
  readonly account: string;
  readonly requestId: string;
}

export type Operation = (call: Call) => MaybePromise<Reply>;

export function placeOf({ origin, account }: Call, table: string): Place {
  return { origin, account, table };
}

export function tablesDatabase(service: Service): DatabaseRecord | undefined {
  return service.databases.find(TABLES_DATABASE);
}

/** By its name; with `isCaseless`, as Storage has it, whatever the case of its letters. */
export function findTable(
  service: Service,
  name: string,
  isCaseless = false,
): ContainerRecord | undefined {
  const database = tablesDatabase(service);
  if (database === undefined) return undefined;
  const exact = service.containers.find(database, name);
  if (exact?.encoding === 'edm') return exact;
  if (!isCaseless) return undefined;
  const lower = name.toLowerCase();
  return service.containers
    .list(database)
    .find(({ encoding, id }) => encoding === 'edm' && id.toLowerCase() === lower);
}

/** The table that owns what the request names. */
export function ownerTable({ service, target }: Call, name: string): ContainerRecord {
  const table = findTable(service, name, isStorage(target));
  if (table === undefined) throw new TableError('TableNotFound');
  return table;
}

/** Accounts in the path are Storage's; the Cosmos service tells names apart by the case of their letters. */
export function isStorage({ account }: Target): boolean {
  return account !== undefined;
}

/** Made with the first table. */
export async function openDatabase(service: Service): Promise<DatabaseRecord> {
  const known = tablesDatabase(service);
  if (known !== undefined) return known;
  try {
    return await service.databases.create(TABLES_DATABASE, undefined);
  } catch (error) {
    const made = tablesDatabase(service);
    if (error instanceof DomainError && made !== undefined) return made;
    throw error;
  }
}
