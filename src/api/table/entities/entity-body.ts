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

/** A number that JSON.parse makes whole though it was not written so: 5.0, 1e3. Some texts look like one as well. */
const WHOLE_DOUBLE = /:\s*-?\d+(?:\.0+\s*[,}]|(?:\.\d+)?[eE])/;

/** Clients send null for dates that are none, and for numbers beyond all. */
const NEVER_NULL: ReadonlySet<string> = new Set(['Edm.DateTime', 'Edm.Double']);

interface RequestEntity {
  /** Undefined where the client left it to the URL. */
  readonly partitionKey: string | undefined;
  readonly rowKey: string | undefined;
  /** An annotation says that a key is no text. */
  readonly hasTypedKeys: boolean;
  readonly properties: readonly NamedProperty[];
}

/** @param text - as UTF-8 has it: no half of a pair alone. */
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

/** The entity under the keys of a URL; what it says of its own keys is read over, as the service does. */
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

/** An entity that brings its own keys. */
export function insertedEntity(sent: RequestEntity, dialect: Dialect): Entity {
  const { partitionKey, rowKey, hasTypedKeys } = sent;
  if (partitionKey === undefined || rowKey === undefined)
    throw new TableError('PropertiesNeedValue');
  if (hasTypedKeys) throw new TableError('InvalidInput');
  return entityAt({ partitionKey, rowKey }, sent, dialect);
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
    throw new TableError('InvalidInput', UNREADABLE);
  }
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    throw new TableError('InvalidInput', UNREADABLE);
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

/** What a name tells of: the keys, the stamp and metadata are no properties. */
type NameKind = 'property' | 'keyType' | 'other';

/** Names met before; clients that make up names must not fill the memory. */
const knownNames = new Map<string, NameKind>();
const KNOWN_NAMES_MAX = 10_000;

/** Throws for what can be no name. */
function kindOf(name: string, dialect: Dialect): NameKind {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const kind = newKind(name);
  if (kind === 'property') checkPropertyName(name, dialect);
  // What one dialect takes the other may refuse: such names are looked at every time.
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

/** `odata.etag` and the like, and annotations: they tell of properties and are none. */
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

/** The services do not say which property it is. */
function wrongType(): TableError {
  return new TableError('InvalidInput', UNREADABLE);
}
