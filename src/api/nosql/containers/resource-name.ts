/** Checks the names of databases and containers, and the ids of items. */
import { DomainError, ITEM_ID_BYTES_MAX, RESOURCE_NAME_LENGTH_MAX } from '../../../base/index.ts';
import type { Value, ValueMap } from '../../../value/index.ts';

/** Characters that would end or split the path of the resource. */
const FORBIDDEN_IN_NAMES = /[/\\?#]/;
const FORBIDDEN_IN_ITEM_IDS = /[/\\#]/;

const UNIQUE_NAME = `Ensure to provide a unique non-empty string less than '${RESOURCE_NAME_LENGTH_MAX}' characters.`;

/** The name of a new database or container. */
export function resourceName(body: ValueMap): string {
  const { id } = body;
  checkPresent(id);
  if (typeof id !== 'string' || id === '')
    throw invalid(`The input name is invalid. ${UNIQUE_NAME}`);
  if (id.length > RESOURCE_NAME_LENGTH_MAX)
    throw invalid(`The input name is too long. ${UNIQUE_NAME}`);
  if (FORBIDDEN_IN_NAMES.test(id)) throw invalid('Id contains illegal chars.');
  if (id.endsWith(' ')) throw invalid('Id ends with a space.');
  if (!id.isWellFormed()) throw invalid('The id is not valid Unicode text.');
  return id;
}

/** The id of an item; nearly every text is valid. */
export function itemId(body: ValueMap): string {
  const { id } = body;
  checkPresent(id);
  if (typeof id !== 'string' || id === '')
    throw invalid('The id of an item must be a non-empty string.');
  if (id.length * 3 > ITEM_ID_BYTES_MAX && Buffer.byteLength(id) > ITEM_ID_BYTES_MAX)
    throw invalid(
      `The input name is too long. Ensure to provide a unique non-empty string less than '${ITEM_ID_BYTES_MAX + 1}' characters.`,
    );
  if (FORBIDDEN_IN_ITEM_IDS.test(id)) throw invalid('Id contains illegal chars.');
  if (!id.isWellFormed()) throw invalid('The id is not valid Unicode text.');
  return id;
}

function checkPresent(id: Value): void {
  if (id === undefined || id === null)
    throw invalid(
      "The input content is invalid because the required properties - 'id; ' - are missing",
    );
}

function invalid(message: string): DomainError {
  return new DomainError('invalidInput', message);
}
