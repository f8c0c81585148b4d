/** An entity as clients send it: OData JSON, checked property by property. */
import type { Bytes } from '../../base/index.ts';
import { annotationName, type EdmProperty, type Entity, edmProperty } from '../../value/index.ts';
import { TableError } from './errors.ts';
import { BINARY_BYTES_MAX, ENTITY_BYTES_MAX, PROPERTIES_MAX, STRING_LENGTH_MAX } from './limits.ts';
import { checkKey, checkPropertyName } from './names.ts';

/** A number that JSON.parse makes whole though it was not written so: 5.0, 1e3. Some texts look like one as well. */
const WHOLE_DOUBLE = /:\s*-?\d+(?:\.0+\s*[,}]|(?:\.\d+)?[eE])/;

export interface SentEntity {
  /** Undefined where the client left it to the URL. */
  readonly partitionKey: string | undefined;
  readonly rowKey: string | undefined;
  readonly properties: ReadonlyMap<string, EdmProperty>;
}

/** @param text - as UTF-8 has it: no half of a pair alone. */
export function parseEntity(text: string): SentEntity {
  const sent = parseObject(text);
  const tokens = WHOLE_DOUBLE.test(text) ? numberTokens(text) : undefined;
  const isPlain = !text.includes('\\');
  const properties = new Map<string, EdmProperty>();
  for (const name in sent) {
    if (!isProperty(name)) continue;
    const value = sent[name];
    const annotation = sent[annotationName(name)];
    if (annotation !== undefined && typeof annotation !== 'string')
      throw new TableError('InvalidInput');
    if (value === null) {
      // Clients send it for what their own types have no form for, such as an invalid date.
      if (annotation !== undefined && annotation !== 'Edm.String')
        throw wrongType(name, annotation);
      continue;
    }
    const property = edmProperty({ value, annotation, token: tokens?.get(name), isPlain });
    if (property === undefined) throw wrongType(name, annotation);
    checkSize(property);
    properties.set(name, property);
  }
  if (properties.size > PROPERTIES_MAX) throw new TableError('TooManyProperties');
  return {
    partitionKey: keyOf(sent, 'PartitionKey'),
    rowKey: keyOf(sent, 'RowKey'),
    properties,
  };
}

/** The entity under the keys of a URL; what it says of its own keys is read over, as the service does. */
export function entityAt(
  { partitionKey, rowKey }: { readonly partitionKey: string; readonly rowKey: string },
  { properties }: SentEntity,
): Entity {
  checkKey('PartitionKey', partitionKey);
  checkKey('RowKey', rowKey);
  return { partitionKey, rowKey, properties };
}

/** An entity that brings its own keys. */
export function insertedEntity({ partitionKey, rowKey, properties }: SentEntity): Entity {
  if (partitionKey === undefined || rowKey === undefined)
    throw new TableError('PropertiesNeedValue');
  return entityAt({ partitionKey, rowKey }, { partitionKey, rowKey, properties });
}

/** Of the text an entity is stored as. */
export function checkEntitySize(body: Bytes): void {
  if (body.length > ENTITY_BYTES_MAX) throw new TableError('EntityTooLarge');
}

function parseObject(text: string): Record<string, unknown> {
  let sent: unknown;
  try {
    sent = JSON.parse(text);
  } catch {
    throw new TableError('InvalidInput', 'An error occurred while processing this request.');
  }
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    throw new TableError('InvalidInput', 'An error occurred while processing this request.');
  return sent as Record<string, unknown>;
}

/** How each number was written. Slower than plain parsing, so only where it matters. */
function numberTokens(text: string): ReadonlyMap<string, string> {
  const tokens = new Map<string, string>();
  const note = (name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (typeof value === 'number' && context?.source !== undefined)
      tokens.set(name, context.source);
    return value;
  };
  JSON.parse(text, note);
  return tokens;
}

/** Names met before, and whether they are properties; clients that make up names must not fill the memory. */
const knownNames = new Map<string, boolean>();
const KNOWN_NAMES_MAX = 10_000;

/** False for the keys, the stamp and metadata; throws for what can be no name. */
function isProperty(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const isOne =
    !isMetadata(name) && name !== 'PartitionKey' && name !== 'RowKey' && name !== 'Timestamp';
  if (isOne) checkPropertyName(name);
  if (knownNames.size >= KNOWN_NAMES_MAX) knownNames.clear();
  knownNames.set(name, isOne);
  return isOne;
}

/** `odata.etag` and the like, and annotations: they tell of properties and are none. */
function isMetadata(name: string): boolean {
  return name.startsWith('odata.') || name.includes('@odata.');
}

function keyOf(sent: Record<string, unknown>, name: 'PartitionKey' | 'RowKey'): string | undefined {
  const key = sent[name];
  if (key === undefined || key === null) return undefined;
  if (typeof key === 'string') return key;
  throw new TableError('InvalidInput', `The value of ${name} must be a text.`);
}

function checkSize({ type, value }: EdmProperty): void {
  if (typeof value !== 'string') return;
  if (type === 'Edm.String' && value.length > STRING_LENGTH_MAX)
    throw new TableError('PropertyValueTooLarge');
  if (type === 'Edm.Binary' && Buffer.byteLength(value, 'base64') > BINARY_BYTES_MAX)
    throw new TableError('PropertyValueTooLarge');
}

function wrongType(name: string, annotation: string | undefined): TableError {
  const type = annotation === undefined ? '' : ` of type '${annotation.slice(0, 64)}'`;
  return new TableError('InvalidInput', `The value of property '${name}'${type} is not valid.`);
}
