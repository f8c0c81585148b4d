/** Names of tables, keys and properties: what they may be. */
import { isPropertyName, isSystemName } from '../../value/index.ts';
import { TableError } from './errors.ts';
import { KEY_LENGTH_MAX, PROPERTY_NAME_LENGTH_MAX } from './limits.ts';

const TABLE_NAME = /^[A-Za-z][A-Za-z0-9]{2,62}$/;
/** They cannot stand in the path of a URL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the forbidden ones
const FORBIDDEN_IN_KEYS = /[/\\#?\u0000-\u001f\u007f-\u009f]/;

/** Of a table to be made. */
export function checkTableName(name: unknown): string {
  if (typeof name !== 'string') throw new TableError('InvalidInput');
  if (name.length < 3 || name.length > 63) throw new TableError('OutOfRangeInput');
  if (!TABLE_NAME.test(name)) throw new TableError('InvalidResourceName');
  if (name.toLowerCase() === 'tables')
    throw new TableError('InvalidResourceName', 'Tables is a reserved name.');
  return name;
}

/** Of an entity to be written. */
export function checkKey(name: 'PartitionKey' | 'RowKey', key: string): void {
  if (key.length > KEY_LENGTH_MAX) throw new TableError('KeyValueTooLarge');
  if (FORBIDDEN_IN_KEYS.test(key))
    throw new TableError(
      'OutOfRangeInput',
      `The '${name}' parameter of value '${printable(key)}' is out of range.`,
    );
  if (!key.isWellFormed()) throw new TableError('InvalidInput');
}

/** Control characters may not stand in an answer's headers, nor need they in its text. */
function printable(key: string): string {
  return key.slice(0, 100).replace(/[^ -~]/g, '?');
}

export function checkPropertyName(name: string): void {
  if (name.length > PROPERTY_NAME_LENGTH_MAX) throw new TableError('PropertyNameTooLong');
  if (!isPropertyName(name)) throw new TableError('PropertyNameInvalid');
  if (isSystemName(name))
    throw new TableError('PropertyNameInvalid', `The property name '${name}' is reserved.`);
}
