/** Rules for the names of tables, keys and properties. */
import { isPropertyName } from '../../../value/index.ts';
import type { Dialect } from '../dialect.ts';
import { TableError } from '../errors.ts';
import { COSMOS_NAME_LENGTH_MAX, KEY_LENGTH_MAX, PROPERTY_NAME_LENGTH_MAX } from '../limits.ts';

const TABLE_NAME = /^[A-Za-z][A-Za-z0-9]{2,62}$/;
/** Characters that are not allowed in the path of a URL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the forbidden ones
const FORBIDDEN_IN_KEYS = /[/\\#?\u0000-\u001f\u007f-\u009f]/;

/** Table names of Storage: letters and digits. */
export function checkStorageTableName(name: string): void {
  if (name.length < 3 || name.length > 63) throw new TableError('OutOfRangeInput');
  if (!TABLE_NAME.test(name)) throw new TableError('InvalidResourceName');
  if (name.toLowerCase() === 'tables')
    throw new TableError('InvalidResourceName', 'Tables is a reserved name.');
}

/** Table names of Cosmos: all that is allowed in the path of a URL. */
export function checkCosmosTableName(name: string): void {
  if (name === '' || name.length > COSMOS_NAME_LENGTH_MAX) throw new TableError('BadRequest');
  if (FORBIDDEN_IN_KEYS.test(name) || !name.isWellFormed())
    throw new TableError('InvalidInput', 'The table name contains an invalid character.');
  if (name.endsWith(' '))
    throw new TableError('InvalidInput', 'Table name cannot end with a space.');
  if (name === 'Tables')
    throw new TableError('InvalidInput', 'The table name is that of the list of tables.');
}

/** Checks the keys of an entity to be written. */
export function checkKey(name: 'PartitionKey' | 'RowKey', key: string): void {
  if (key.length > KEY_LENGTH_MAX) throw new TableError('KeyValueTooLarge');
  if (FORBIDDEN_IN_KEYS.test(key))
    throw new TableError(
      'OutOfRangeInput',
      `The '${name}' parameter of value '${printable(key)}' is out of range.`,
    );
  if (!key.isWellFormed()) throw new TableError('InvalidInput');
}

/** Control characters are not allowed in response headers. */
function printable(key: string): string {
  return key.slice(0, 100).replace(/[^ -~]/g, '?');
}

export function checkPropertyName(name: string, dialect: Dialect): void {
  if (name.length > PROPERTY_NAME_LENGTH_MAX) throw new TableError('PropertyNameTooLong');
  if (!isPropertyName(name))
    throw new TableError('PropertyNameInvalid', dialect.propertyNameText(name));
  if (dialect.isReservedName(name))
    throw new TableError('PropertyNameInvalid', `The property name '${name}' is reserved.`);
}
