/**
 * A stored entity as clients read it. The stored text is the response, except for the metadata before it (by level)
 * and the system properties of the NoSQL API after it: a read without $select cuts and joins, and parses nothing.
 */
import { assert } from '../../../base/index.ts';
import { timeEtag } from '../../../partition/index.ts';
import {
  edmProperty,
  isAnnotated,
  restoreNames,
  storedName,
  TYPE_ANNOTATION,
} from '../../../value/index.ts';
import { keyLiteral } from '../target.ts';

export type MetadataLevel = 'none' | 'minimal' | 'full';

/** The base of links: the account as the client addresses it, with a slash at the end. */
export interface LinkBase {
  readonly origin: string;
  readonly account: string;
  /** The table's name, encoded for a URL. */
  readonly table: string;
}

interface EntityView {
  readonly level: MetadataLevel;
  readonly base: LinkBase;
  /** Undefined: all properties. */
  readonly select: readonly string[] | undefined;
}

/** The end of a stored entity's text for clients of this API. */
const TAIL = ',"id":';
const TIME_NAME = '"Timestamp":"';
const TIME_LENGTH = '0001-01-01T00:00:00.0000000Z'.length;
/** An annotation with the comma after it. It cannot match inside a string, where quotation marks are escaped. */
const ANNOTATION = /"[^"\\]{1,255}@odata\.type":"Edm\.\w+",/g;

/** One entity with the metadata of the response. */
export function entityText(stored: string, view: EntityView): string {
  const { level, base } = view;
  const entity = memberText(stored, view);
  if (level === 'none') return entity;
  const metadata = `${base.origin}$metadata#${base.table}/@Element`;
  return `{"odata.metadata":${JSON.stringify(metadata)},${entity.slice(1)}`;
}

/** Entities of a page, each a stored text. */
export function entitiesText(stored: readonly string[], view: EntityView): string {
  const { level, base } = view;
  const values = `"value":[${stored.map((text) => memberText(text, view)).join(',')}]}`;
  if (level === 'none') return `{${values}`;
  const metadata = `${base.origin}$metadata#${base.table}`;
  return `{"odata.metadata":${JSON.stringify(metadata)},${values}`;
}

/** The etag of a stored text, made from its time. */
export function storedEtag(stored: string): string {
  const from = timePlace(stored) + TIME_NAME.length;
  return timeEtag(stored.slice(from, from + TIME_LENGTH));
}

function timePlace(stored: string): number {
  const timeAt = stored.indexOf(TIME_NAME);
  assert(timeAt > 0, 'a stored entity has a time');
  return timeAt;
}

function memberText(stored: string, { level, base, select }: EntityView): string {
  const end = stored.lastIndexOf(TAIL);
  assert(end > 0, 'a stored entity has an end');
  const own = restoreNames(
    select === undefined ? stored.slice(1, end) : selected(stored, end, select),
  );
  if (level === 'none') {
    if (!own.includes(TYPE_ANNOTATION)) return `{${own}}`;
    return `{${own.replace(ANNOTATION, '')}}`;
  }
  const etag = JSON.stringify(storedEtag(stored));
  const comma = own === '' ? '' : ',';
  if (level === 'minimal') return `{"odata.etag":${etag}${comma}${own}}`;
  const link = editLink(base.table, keysOf(stored, timePlace(stored)));
  const type = JSON.stringify(`${base.account}.${base.table}`);
  const id = JSON.stringify(`${base.origin}${link}`);
  const typed = own.replace(TIME_NAME, `"Timestamp${TYPE_ANNOTATION}":"Edm.DateTime",${TIME_NAME}`);
  return `{"odata.type":${type},"odata.id":${id},"odata.etag":${etag},"odata.editLink":${JSON.stringify(link)}${comma}${typed}}`;
}

export function editLink(
  table: string,
  { partitionKey, rowKey }: { readonly partitionKey: string; readonly rowKey: string },
): string {
  return `${table}(PartitionKey=${keyLiteral(partitionKey)},RowKey=${keyLiteral(rowKey)})`;
}

/** The keys are the first two properties. */
function keysOf(stored: string, timeAt: number): { partitionKey: string; rowKey: string } {
  const { PartitionKey: partitionKey, RowKey: rowKey } = JSON.parse(
    `${stored.slice(0, timeAt - 1)}}`,
  );
  return { partitionKey, rowKey };
}

/** The selected properties in stored order, then the missing ones as null. */
function selected(stored: string, end: number, select: readonly string[]): string {
  const wanted = new Set(select.map(storedName));
  const document = JSON.parse(`${stored.slice(0, end)}}`) as Record<string, unknown>;
  const parts: string[] = [];
  for (const name of Object.keys(document)) {
    if (name.endsWith(TYPE_ANNOTATION) || !wanted.delete(name)) continue;
    const annotation = document[`${name}${TYPE_ANNOTATION}`] as string | undefined;
    const property = edmProperty({ value: document[name], annotation });
    assert(property !== undefined, 'a stored property has a type');
    if (isAnnotated(property)) parts.push(`"${name}${TYPE_ANNOTATION}":"${property.type}"`);
    parts.push(`"${name}":${property.token}`);
  }
  for (const name of wanted) parts.push(`${JSON.stringify(name)}:null`);
  return parts.join(',');
}
