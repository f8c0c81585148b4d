/** /dbs/{id}/colls/{id}/sprocs, triggers and udfs: the properties of scripts. */
import { DomainError, SCRIPT_BYTES_MAX } from '../../../base/index.ts';
import type { Value, ValueMap } from '../../../value/index.ts';
import type { StoredResourceKind } from './stored-resources.ts';

export const STORED_PROCEDURES: StoredResourceKind = {
  kind: 'storedProcedure',
  type: 'sprocs',
  listName: 'StoredProcedures',
  properties: (body) => ({ body: scriptText(body) }),
};

export const USER_DEFINED_FUNCTIONS: StoredResourceKind = {
  kind: 'userDefinedFunction',
  type: 'udfs',
  listName: 'UserDefinedFunctions',
  properties: (body) => ({ body: scriptText(body) }),
};

export const TRIGGERS: StoredResourceKind = {
  kind: 'trigger',
  type: 'triggers',
  listName: 'Triggers',
  properties: (body) => ({
    body: scriptText(body),
    triggerType: oneOf(body.triggerType, TRIGGER_TYPES, 'triggerType'),
    triggerOperation: oneOf(body.triggerOperation, TRIGGER_OPERATIONS, 'triggerOperation'),
  }),
};

const TRIGGER_TYPES = ['Pre', 'Post'] as const;
const TRIGGER_OPERATIONS = ['All', 'Create', 'Update', 'Delete', 'Replace'] as const;

/** The text is not parsed here; an error in it shows when the script runs. */
function scriptText({ body }: ValueMap): string {
  if (body === undefined || body === null)
    throw new DomainError(
      'invalidInput',
      "The input content is invalid because the required properties - 'body; ' - are missing",
    );
  if (typeof body !== 'string' || body.trim() === '')
    throw new DomainError('invalidInput', 'The body of a script must be the text of a function.');
  if (Buffer.byteLength(body) > SCRIPT_BYTES_MAX)
    throw new DomainError('tooLarge', 'Request size is too large');
  return body;
}

/** Compares without case and keeps the case of the client, which compares the response with its request. */
function oneOf(value: Value, allowed: readonly string[], name: string): string {
  const wanted = String(value).toLowerCase();
  if (allowed.some((text) => text.toLowerCase() === wanted)) return String(value);
  throw new DomainError('invalidInput', `The ${name} must be one of ${allowed.join(', ')}.`);
}
