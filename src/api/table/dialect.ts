/**
 * Two services speak this protocol, Azure Storage and Azure Cosmos DB, and clients behave differently for
 * each. Clients distinguish them by the host name, and so does this file. All differences are here.
 */
import { NORMAL_CLASS, type RequestClass, UNMETERED_CLASS } from '../../throughput/index.ts';
import { isItemName } from '../../value/index.ts';
import { checkCosmosTableName, checkStorageTableName } from './entities/names.ts';
import { TABLE_ERRORS, TableError, type TableErrorCode, UNREADABLE } from './errors.ts';
import { COSMOS_NAME_LENGTH_MAX } from './limits.ts';

export interface Dialect {
  /** The language that error texts are marked with. */
  readonly language: string;
  /** A refusal in the words of this service. */
  translated(error: TableError): TableError;
  /** The text of `PropertyNameInvalid`. */
  propertyNameText(name: string): string;
  /** Names that no property may have, beside those of the keys and the timestamp. */
  isReservedName(name: string): boolean;
  /** Table names are compared without case. */
  readonly hasCaselessNames: boolean;
  /** Checks the name of a new table. Throws a 400. */
  checkTableName(name: string): void;
  /** Throws for a table that does not exist: `TableNotFound`, unless no table can have the name. */
  checkPossibleName(name: string): void;
  /** True: `/t/x` is refused as a path below table `t`; false: as an invalid URL. */
  readonly hasNestedUrls: boolean;
  /** The secondary of an account allows reads only. */
  readonly hasSecondary: boolean;
  /** The permission to update also allows to insert, by insert-or-replace and insert-or-merge. */
  readonly updateImpliesInsert: boolean;
  /** Keys annotated with another type than text are refused even where the URL has the keys. */
  readonly checksKeysBesideUrl: boolean;
  /** Storage has no request units: its requests are neither throttled nor charged to others. */
  readonly requestClass: RequestClass;
  /** A property that is ignored, like the timestamp. */
  readonly ignoredProperty: string | undefined;
}

const STORAGE: Dialect = {
  language: 'en-US',
  translated: (error) => error,
  propertyNameText: () => TABLE_ERRORS.PropertyNameInvalid[1],
  isReservedName: () => false,
  hasCaselessNames: true,
  checkTableName: checkStorageTableName,
  checkPossibleName: checkStorageTableName,
  hasNestedUrls: true,
  hasSecondary: true,
  updateImpliesInsert: true,
  checksKeysBesideUrl: false,
  requestClass: UNMETERED_CLASS,
  ignoredProperty: undefined,
};

const COSMOS: Dialect = {
  language: 'en-us',
  translated: inCosmosWords,
  propertyNameText: (name) => `The property name '${name}' is invalid.`,
  isReservedName: isItemName,
  hasCaselessNames: false,
  checkTableName: checkCosmosTableName,
  checkPossibleName: checkLongName,
  hasNestedUrls: false,
  hasSecondary: false,
  updateImpliesInsert: false,
  checksKeysBesideUrl: true,
  requestClass: NORMAL_CLASS,
  ignoredProperty: 'Etag',
};

/** Codes of Storage and the corresponding codes of Cosmos. */
const COSMOS_WORDS: ReadonlyMap<string, readonly [TableErrorCode, string]> = new Map([
  [TABLE_ERRORS.InvalidInput[1], ['InvalidInput', 'One of the input values is invalid.']],
  [UNREADABLE, ['InvalidInput', 'One of the input values is invalid.']],
]);

function checkLongName(name: string): void {
  if (name.length > COSMOS_NAME_LENGTH_MAX) throw new TableError('ResourceNotFound');
}

function inCosmosWords(error: TableError): TableError {
  const words = COSMOS_WORDS.get(error.message);
  if (words === undefined) return error;
  const { retryAfterMs, charge } = error;
  return new TableError(words[0], words[1], { retryAfterMs, charge });
}

/** Emulators of Storage listen here, on localhost as well. */
const STORAGE_PORT = ':10002';

/** @param host - as the client addressed it, with the port. */
export function dialectOf(host = ''): Dialect {
  if (!host.startsWith('localhost')) return host.includes('.table.cosmos') ? COSMOS : STORAGE;
  const port = host.slice('localhost'.length);
  return port === '' || (port.startsWith(':') && port !== STORAGE_PORT) ? COSMOS : STORAGE;
}
