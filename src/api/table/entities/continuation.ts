/**
 * The end of a page of entities, as clients carry it: two headers, sent back as two query options. Ours hold the keys
 * of the last entity returned. Plain keys, which clients of other servers may have kept, name the first entity to return.
 */
import { type Position, parsePosition } from '../../../query/index.ts';
import type { Query } from '../request.ts';

/** `1`, the length of the rest, and base64 whose padding is allowed in a URL. */
const TOKEN = /^1!(\d{1,4})!([A-Za-z0-9+/]*-{0,2})$/;

/** A rid after that of every entity, so that the keys alone say where to continue. */
const LAST_RID = Number.MAX_SAFE_INTEGER;

/** @param last - the stored text of the last entity of the page. */
export function continuationHeaders(last: string | undefined, position: string): string[] {
  const keys = last === undefined ? keysOfPosition(position) : keysOfText(last);
  if (keys === undefined) return [];
  return [
    'x-ms-continuation-NextPartitionKey',
    printToken(keys[0]),
    'x-ms-continuation-NextRowKey',
    printToken(keys[1]),
  ];
}

/** The position in the shared query layer; undefined for the first page. */
export function parseContinuation(query: Query): Position | undefined {
  const partitionKey = query.get('NextPartitionKey');
  if (partitionKey === undefined || partitionKey === '') return undefined;
  const rowKey = query.get('NextRowKey') ?? '';
  const given = [parseToken(partitionKey), parseToken(rowKey)] as const;
  const isOurs = given[0] !== undefined && given[1] !== undefined;
  const keys = isOurs ? (given as readonly [string, string]) : [partitionKey, rowKey];
  const at = isOurs ? LAST_RID : 0;
  return {
    kind: 'ordered',
    after: { keys, rid: at, row: at },
    window: { skip: 0, take: Number.POSITIVE_INFINITY },
  };
}

/** The continuation of a list of tables: the first table of the next page. */
export function nextTableHeaders(name: string | undefined): string[] {
  return name === undefined ? [] : ['x-ms-continuation-NextTableName', printToken(name)];
}

/** The first table of the page; the empty text for the first page. */
export function parseNextTable(query: Query): string {
  const text = query.get('NextTableName') ?? '';
  return parseToken(text) ?? text;
}

function printToken(key: string): string {
  const base64 = Buffer.from(key, 'utf8').toString('base64').replaceAll('=', '-');
  return `1!${base64.length}!${base64}`;
}

function parseToken(text: string): string | undefined {
  const match = TOKEN.exec(text.replaceAll(' ', '+'));
  const base64 = match?.[2];
  if (base64 === undefined || base64.length !== Number(match?.[1])) return undefined;
  return Buffer.from(base64.replaceAll('-', '='), 'base64').toString('utf8');
}

/** The keys are the first two properties of a stored entity. */
function keysOfText(stored: string): readonly [string, string] {
  const end = stored.indexOf(',"Timestamp":"');
  const { PartitionKey, RowKey } = JSON.parse(`${stored.slice(0, end)}}`);
  return [PartitionKey, RowKey];
}

function keysOfPosition(text: string): readonly [string, string] | undefined {
  const position = parsePosition(text);
  if (position?.kind !== 'ordered') return undefined;
  const [partitionKey, rowKey] = position.after?.keys ?? [];
  if (typeof partitionKey !== 'string' || typeof rowKey !== 'string') return undefined;
  return [partitionKey, rowKey];
}
