/**
 * Two services speak this protocol, Azure Storage and Azure Cosmos DB, and where they differ clients look at which of
 * them they talk to. They tell them apart by the host they are given, and so does this. All differences stand here.
 */
import { NORMAL_CLASS, type RequestClass, UNMETERED_TRAFFIC } from '../../throughput/index.ts';
import { isItemName } from '../../value/index.ts';
import { checkCosmosTableName, checkStorageTableName } from './entities/names.ts';
import { TABLE_ERRORS, TableError, type TableErrorCode, UNREADABLE } from './errors.ts';
import { COSMOS_NAME_LENGTH_MAX } from './limits.ts';

export interface Dialect {
  /** Of the texts of errors, as it stands beside them. */
  readonly language: string;
  /** How this service words a refusal. */
  translated(error: TableError): TableError;
  /** The text of `PropertyNameInvalid`. */
  propertyNameText(name: string): string;
  /** Names that no property may have, beside those of the keys and the timestamp. */
  isReservedName(name: string): boolean;
  /** Names of tables are the same whatever the case of their letters. */
  readonly hasCaselessNames: boolean;
  /** Of a table to be made. Throws a 400. */
  checkTableName(name: string): void;
  /** Of a table that is not there to be looked into: `TableNotFound`, unless no table can have the name. Throws. */
  checkPossibleName(name: string): void;
  /** `/t/x` is an attempt at something inside of table `t`; else no URL at all. */
  readonly hasNestedUrls: boolean;
  /** The secondary of an account takes reads only. */
  readonly hasSecondary: boolean;
  /** Who may update may also add what is not there yet, by insert-or-replace and insert-or-merge. */
  readonly updateImpliesInsert: boolean;
  /** Keys that say they are no texts are refused even where the URL has keys as well. */
  readonly checksKeysBesideUrl: boolean;
  /** Storage has no request units: what its clients ask is neither refused for its cost nor taken from others. */
  readonly traffic: RequestClass;
  /** A property that is read over, like the timestamp. */
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
  traffic: UNMETERED_TRAFFIC,
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
  traffic: NORMAL_CLASS,
  ignoredProperty: 'Etag',
};

/** What refusals in Storage's words are in Cosmos'. */
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
