/** One request with all that its operation needs. */
import { type Bytes, DomainError, type MaybePromise } from '../../base/index.ts';
import type { ContainerRecord, DatabaseRecord } from '../../catalog/index.ts';
import { type Service, TABLES_DATABASE } from '../../service/index.ts';
import type { GrantedAccess } from './access/access.ts';
import type { Dialect } from './dialect.ts';
import type { LinkBase } from './entities/entity-reply.ts';
import { TableError } from './errors.ts';
import type { Reply } from './reply.ts';
import type { Headers } from './request.ts';
import type { Target } from './target.ts';

export interface Call {
  readonly service: Service;
  readonly method: string;
  readonly target: Target;
  readonly dialect: Dialect;
  readonly headers: Headers;
  readonly body: Bytes;
  readonly access: GrantedAccess;
  /** The account as the client addresses it: scheme, host and, where the path has it, the first segment of the path. */
  readonly origin: string;
  readonly account: string;
  readonly requestId: string;
  /** How long it may wait in the server where it is throttled. */
  readonly retryWaitMs: number;
}

export type RequestHandler = (call: Call) => MaybePromise<Reply>;

/** Table names that are equal in a URL. */
const PLAIN_NAME = /^\w+$/;

/** Runs an operation again while it is throttled. Returns no promise where the first attempt returns none. */
export function withThrottleWait<T>(call: Call, operation: () => MaybePromise<T>): MaybePromise<T> {
  return call.service.withThrottleWait(call.retryWaitMs, operation, call.body.length);
}

/** The base of links to entities of a table. */
export function linkBaseOf({ origin, account }: Call, table: string): LinkBase {
  return { origin, account, table: PLAIN_NAME.test(table) ? table : encodeURIComponent(table) };
}

export function tablesDatabase(service: Service): DatabaseRecord | undefined {
  return service.databases.find(TABLES_DATABASE);
}

/** The table of exactly this name. */
export function tableNamed(service: Service, name: string): ContainerRecord | undefined {
  const database = tablesDatabase(service);
  const found = database && service.containers.find(database, name);
  return found?.home === 'table' ? found : undefined;
}

/** The table of this name, or of one that is equal in this dialect. */
export function findTable(
  { service, dialect }: Pick<Call, 'service' | 'dialect'>,
  name: string,
): ContainerRecord | undefined {
  const exact = tableNamed(service, name);
  if (exact !== undefined || !dialect.hasCaselessNames) return exact;
  const database = tablesDatabase(service);
  if (database === undefined) return undefined;
  const lower = name.toLowerCase();
  return service.containers
    .list(database)
    .find(({ home, id }) => home === 'table' && id.toLowerCase() === lower);
}

/** The table of the entities that the request names. */
export function ownerTable(call: Call, name: string): ContainerRecord {
  const table = findTable(call, name);
  if (table !== undefined) return table;
  call.dialect.checkPossibleName(name);
  throw new TableError('TableNotFound');
}

/** The database of all tables, which is created with the first one. */
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
