/**
 * Stored entities (edm.ts) to and from values. The text of an entity before its partition finishes it:
 *
 *   {"PartitionKey":"p","RowKey":"r","Timestamp":"0001-01-01T00:00:00.0000000Z", …properties… ,"id":"r"}
 *
 * The container's body finisher overwrites the time and appends the system properties.
 * `id` repeats the row key under its name in the NoSQL API. Everything from it on is not part of the entity. A
 * property of the entity with one of these names is stored with the prefix `$`, which no property name can have.
 */
import { assert, type Bytes, bufferOf, bytesToText, DomainError } from '../../base/index.ts';
import type { Codec } from '../codec.ts';
import { type Path, readPath } from '../path.ts';
import { isMap, type Value, type ValueMap } from '../value.ts';
import {
  annotatedName,
  annotatedValue,
  annotationName,
  type EdmProperty,
  type EdmType,
  edmProperty,
  isAnnotated,
  TYPE_ANNOTATION,
} from './edm.ts';

/** Placeholder of the time until the entity is stamped. It is as long as any time. */
export const TIME_PLACEHOLDER = '0001-01-01T00:00:00.0000000Z';

export interface Entity {
  readonly partitionKey: string;
  readonly rowKey: string;
  /** In order, without the keys and the timestamp. */
  readonly properties: readonly NamedProperty[];
}

export interface NamedProperty {
  readonly name: string;
  readonly property: EdmProperty;
}

/** Names that are not properties: the keys and the timestamp. */
const KEY_NAMES = ['PartitionKey', 'RowKey', 'Timestamp'];

/** Names that the NoSQL API adds to every item. */
const ITEM_NAMES = ['id', '_rid', '_self', '_etag', '_attachments', '_ts', '_lsn'];

const SYSTEM_NAMES: ReadonlySet<string> = new Set([...KEY_NAMES, ...ITEM_NAMES]);

const NAME_PREFIX = '$';
const PREFIXED_NAMES: ReadonlyMap<string, string> = new Map(
  ITEM_NAMES.map((name) => [name, NAME_PREFIX + name]),
);
/**
 * A marked name in a stored text, with or without annotation. Within a text value a backslash would precede the
 * quotation mark.
 */
const PREFIXED_TEXT = new RegExp(`"\\$((?:${ITEM_NAMES.join('|')})(?:@odata\\.type)?":)`, 'g');

/** The name under which a property is stored. */
export function storedName(name: string): string {
  return PREFIXED_NAMES.get(name) ?? name;
}

/** Renames stored properties to their own names. */
export function restoreNames(stored: string): string {
  return stored.includes('"$') ? stored.replace(PREFIXED_TEXT, '"$1') : stored;
}

function isPrefixedName(name: string): boolean {
  return name.startsWith(NAME_PREFIX) && PREFIXED_NAMES.has(name.slice(NAME_PREFIX.length));
}

export const edmCodec: Codec = {
  encoding: 'edm',
  decode: decodeEntity,

  /** Encodes a document of the NoSQL API. Types come from its annotations, otherwise from its JSON values. */
  encode(value: Value): Bytes {
    return Buffer.from(printEntity(entityOfDocument(value)), 'utf8');
  },

  pluck(body: Bytes, path: Path): Value {
    return readPath(decodeEntity(body), path);
  },
};

function decodeEntity(body: Bytes): Value {
  const text = bytesToText(body);
  const document = JSON.parse(text) as Record<string, Value>;
  if (!text.includes(`${TYPE_ANNOTATION}":`)) return document;
  for (const name in document) {
    if (!name.endsWith(TYPE_ANNOTATION)) continue;
    const property = annotatedName(name);
    document[property] = annotatedValue(document[property], document[name] as string);
  }
  return document;
}

const TIME_NAME = Buffer.from('"Timestamp":"');

/** The timestamp in a stored body. */
export function entityTime(body: Bytes): string {
  const stored = bufferOf(body);
  const at = stored.indexOf(TIME_NAME);
  assert(at > 0, 'a stored entity has a time');
  return stored.toString(
    'latin1',
    at + TIME_NAME.length,
    at + TIME_NAME.length + TIME_PLACEHOLDER.length,
  );
}

/** The text of an entity, before it is finished. */
export function printEntity({ partitionKey, rowKey, properties }: Entity): string {
  const key = JSON.stringify(rowKey);
  let text = `{"PartitionKey":${JSON.stringify(partitionKey)},"RowKey":${key},"Timestamp":"${TIME_PLACEHOLDER}"`;
  for (const { name, property } of properties) {
    if (isAnnotated(property)) text += `,"${name}${TYPE_ANNOTATION}":"${property.type}"`;
    text += `,"${name}":${property.token}`;
  }
  return `${text},"id":${key}}`;
}

/** The value that the codec decodes from that text. */
export function entityValue({ partitionKey, rowKey, properties }: Entity): ValueMap {
  const value: Record<string, Value> = {
    PartitionKey: partitionKey,
    RowKey: rowKey,
    Timestamp: TIME_PLACEHOLDER,
  };
  for (const { name, property } of properties) {
    if (isAnnotated(property)) value[annotationName(name)] = property.type;
    value[name] = property.value;
  }
  value.id = rowKey;
  return value;
}

/** Decodes the entity of a stored body. */
export function readEntity(body: Bytes): Entity {
  return entityOfDocument(JSON.parse(bytesToText(body)) as Value);
}

/** Throws `invalidInput` for values that no entity can have. */
export function entityOfDocument(document: Value): Entity {
  if (!isMap(document)) throw refused('An item of a table must be an object.');
  const { PartitionKey: partitionKey, id } = document;
  const rowKey = document.RowKey ?? id;
  if (typeof partitionKey !== 'string' || typeof rowKey !== 'string')
    throw refused('An item of a table must have texts PartitionKey and RowKey (or id).');
  if (id !== undefined && id !== rowKey)
    throw refused('The id of an item of a table is its RowKey.');
  const properties: NamedProperty[] = [];
  for (const name of Object.keys(document)) {
    if (SYSTEM_NAMES.has(name) || name.endsWith(TYPE_ANNOTATION)) continue;
    const value = document[name];
    if (value === null || value === undefined) continue;
    if (!isPropertyName(name) && !isPrefixedName(name))
      throw refused(`'${name.slice(0, 64)}' cannot be the name of a property of an entity.`);
    const annotation = document[annotationName(name)] as EdmType | undefined;
    const property = edmProperty({ value, annotation });
    if (property === undefined)
      throw refused(`The value of '${name}' is of no type that an entity can hold.`);
    properties.push({ name, property });
  }
  return { partitionKey, rowKey, properties };
}

/** Matches nearly every name without the tables of Unicode. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const PROPERTY_NAME = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}\p{Cf}]*$/u;

/** An identifier of C#, the language in which the data model was written. */
export function isPropertyName(name: string): boolean {
  return PLAIN_NAME.test(name) || PROPERTY_NAME.test(name);
}

/** Names that the NoSQL API uses itself. */
export function isItemName(name: string): boolean {
  return PREFIXED_NAMES.has(name);
}

function refused(message: string): DomainError {
  return new DomainError('invalidInput', message);
}
