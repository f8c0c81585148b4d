/** An entity as clients send it: OData JSON, checked property by property. */
import type { Bytes } from '../../../base/index.ts';
import {
  annotationName,
  type EdmProperty,
  type Entity,
  edmProperty,
  isItemName,
  type NamedProperty,
  storedName,
  TYPE_ANNOTATION,
} from '../../../value/index.ts';
import type { Dialect } from '../dialect.ts';
import { TableError, UNREADABLE } from '../errors.ts';
import {
  BINARY_BYTES_MAX,
  ENTITY_BYTES_MAX,
  PROPERTIES_MAX,
  STRING_LENGTH_MAX,
} from '../limits.ts';
import { checkKey, checkPropertyName } from './names.ts';

/** A number that JSON.parse reads as an integer though it was not written as one: 5.0, 1e3. Some strings match as well. */
const WHOLE_DOUBLE = /:\s*-?\d+(?:\.0+\s*[,}]|(?:\.\d+)?[eE])/;

/** Clients send null for invalid dates and for infinite numbers. */
const NEVER_NULL: ReadonlySet<string> = new Set(['Edm.DateTime', 'Edm.Double']);

interface RequestEntity {
  /** Undefined where the client left it to the URL. */
  readonly partitionKey: string | undefined;
  readonly rowKey: string | undefined;
  /** True where an annotation gives a key another type than text. */
  readonly hasTypedKeys: boolean;
  readonly properties: readonly NamedProperty[];
}

/** @param text - decoded from UTF-8, so without lone surrogates. */
export function parseEntity(text: string, dialect: Dialect): RequestEntity {
  const sent = parseObject(text);
  const tokens = WHOLE_DOUBLE.test(text) ? numberTokens(text) : undefined;
  const isPlain = !text.includes('\\');
  const hasTypes = !isPlain || text.includes(TYPE_ANNOTATION);
  const properties: NamedProperty[] = [];
  let hasTypedKeys = false;
  for (const name in sent) {
    const kind = kindOf(name, dialect);
    if (kind === 'keyType') hasTypedKeys ||= sent[name] !== 'Edm.String';
    if (kind !== 'property') continue;
    const value = sent[name];
    const annotation = hasTypes ? sent[annotationName(name)] : undefined;
    if (annotation !== undefined && typeof annotation !== 'string')
      throw new TableError('InvalidInput');
    if (value === null) {
      if (annotation !== undefined && NEVER_NULL.has(annotation)) throw wrongType();
      continue;
    }
    const property = edmProperty({ value, annotation, token: tokens?.get(name), isPlain });
    if (property === undefined) throw wrongType();
    checkSize(property);
    if (name !== dialect.ignoredProperty) properties.push({ name: storedName(name), property });
  }
  if (properties.length > PROPERTIES_MAX) throw new TableError('TooManyProperties');
  return {
    partitionKey: keyOf(sent, 'PartitionKey'),
    rowKey: keyOf(sent, 'RowKey'),
    hasTypedKeys,
    properties,
  };
}

/** The entity under the keys of a URL; its own keys are ignored, as the service does. */
export function entityAt(
  { partitionKey, rowKey }: { readonly partitionKey: string; readonly rowKey: string },
  { properties, hasTypedKeys }: RequestEntity,
  dialect: Dialect,
): Entity {
  if (hasTypedKeys && dialect.checksKeysBesideUrl) throw new TableError('InvalidInput');
  checkKey('PartitionKey', partitionKey);
  checkKey('RowKey', rowKey);
  return { partitionKey, rowKey, properties };
}

/** The entity under the keys in its body. */
export function insertedEntity(sent: RequestEntity, dialect: Dialect): Entity {
  const { partitionKey, rowKey, hasTypedKeys } = sent;
  if (partitionKey === undefined || rowKey === undefined)
    throw new TableError('PropertiesNeedValue');
  if (hasTypedKeys) throw new TableError('InvalidInput');
  return entityAt({ partitionKey, rowKey }, sent, dialect);
}

/** Reads the stored text of an entity. */
export function checkEntitySize(body: Bytes): void {
  if (body.length > ENTITY_BYTES_MAX) throw new TableError('EntityTooLarge');
}

function parseObject(text: string): Record<string, unknown> {
  let sent: unknown;
  try {
    sent = JSON.parse(text);
  } catch {
    throw new TableError('InvalidInput', UNREADABLE);
  }
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    throw new TableError('InvalidInput', UNREADABLE);
  return sent as Record<string, unknown>;
}

/** The source text of each number. Slower than plain parsing, so used only where it matters. */
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

/** The kind of a name: keys, timestamp and metadata are not properties. */
type NameKind = 'property' | 'keyType' | 'other';

/** The most names in the cache: clients that generate names must not fill the memory. */
const knownNames = new Map<string, NameKind>();
const KNOWN_NAMES_MAX = 10_000;

/** Throws for an invalid name. */
function kindOf(name: string, dialect: Dialect): NameKind {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const kind = newKind(name);
  if (kind === 'property') checkPropertyName(name, dialect);
  // The dialects differ about such names, so they are not cached.
  if (isItemName(name)) return kind;
  if (knownNames.size >= KNOWN_NAMES_MAX) knownNames.clear();
  knownNames.set(name, kind);
  return kind;
}

function newKind(name: string): NameKind {
  if (KEY_TYPES.has(name)) return 'keyType';
  return isMetadata(name) || OWN_NAMES.has(name) ? 'other' : 'property';
}

const OWN_NAMES: ReadonlySet<string> = new Set(['PartitionKey', 'RowKey', 'Timestamp']);
const KEY_TYPES: ReadonlySet<string> = new Set(['PartitionKey', 'RowKey'].map(annotationName));

/** `odata.etag` and the like, and annotations, describe properties and are none. */
function isMetadata(name: string): boolean {
  return name.startsWith('odata.') || name.includes('@odata.');
}

function keyOf(sent: Record<string, unknown>, name: 'PartitionKey' | 'RowKey'): string | undefined {
  const key = sent[name];
  if (key === undefined || key === null) return undefined;
  if (typeof key === 'string') return key;
  throw new TableError('InvalidInput');
}

function checkSize({ type, value }: EdmProperty): void {
  if (typeof value !== 'string') return;
  if (type === 'Edm.String' && value.length > STRING_LENGTH_MAX)
    throw new TableError('PropertyValueTooLarge');
  if (type === 'Edm.Binary' && Buffer.byteLength(value, 'base64') > BINARY_BYTES_MAX)
    throw new TableError('PropertyValueTooLarge');
}

/** The services do not name the property in this refusal. */
function wrongType(): TableError {
  return new TableError('InvalidInput', UNREADABLE);
}
