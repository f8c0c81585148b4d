/** Feeds: the envelope of every list, and pages over the resources of the catalog. */
import { type Bytes, DomainError, FIXED_EVALUATION } from '../../base/index.ts';
import type { FoundItem, ResultRow } from '../../query/index.ts';
import type { Value } from '../../value/index.ts';
import type { Call } from './call.ts';
import { readQuery } from './query/query-body.ts';
import type { Reply } from './reply.ts';
import { pageLimit, queryLimit } from './request.ts';
import { runQuery } from './sql/index.ts';

export interface Envelope {
  /** The resource id of the parent. */
  readonly rid: string;
  /** Name of the list, such as `Documents`. */
  readonly key: string;
}

const COMMA = Buffer.from(',');

export function feedBody({ rid, key }: Envelope, bodies: readonly Bytes[]): Bytes {
  const parts: Bytes[] = [Buffer.from(`{"_rid":"${rid}","${key}":[`)];
  for (let at = 0; at < bodies.length; at++) {
    if (at > 0) parts.push(COMMA);
    parts.push(bodies[at] as Bytes);
  }
  parts.push(Buffer.from(`],"_count":${bodies.length}}`));
  return Buffer.concat(parts);
}

/** A page of a query: items as they are stored, values as their JSON texts. */
export function resultsBody(envelope: Envelope, rows: readonly ResultRow[]): Bytes {
  // A page has whole items only or none, except for rows such as `VALUE [c, c.id][1] ?? c`.
  if (rows.every(({ item }) => item !== undefined))
    return feedBody(
      envelope,
      rows.map(({ item }) => (item as FoundItem).body),
    );
  return rowsBody(envelope, rows.map(rowText));
}

/** The JSON text of a row. */
export function rowText({ item, value, text }: ResultRow): string {
  return item?.text() ?? text ?? JSON.stringify(value);
}

/** The body of a feed whose rows are JSON texts already. */
export function rowsBody({ rid, key }: Envelope, rows: readonly string[]): Bytes {
  return Buffer.from(`{"_rid":"${rid}","${key}":[${rows.join(',')}],"_count":${rows.length}}`);
}

/** A record of the catalog; `id` orders the list. */
export interface ListedResource {
  readonly id: string;
}

/**
 * GET of a feed, or POST of a query on it: one page of the records in the order of their ids.
 * @param show - the resource as clients see it; called for the page only, because a catalog may have thousands.
 */
export function listReply<T extends ListedResource>(
  call: Call,
  envelope: Envelope,
  records: readonly T[],
  show: (record: T) => object,
): Reply {
  if (call.method !== 'POST') return pagedReply(call, envelope, records, show);
  return queriedReply(call, envelope, [...records].sort(byId).map(show));
}

function pagedReply<T extends ListedResource>(
  call: Call,
  envelope: Envelope,
  records: readonly T[],
  show: (record: T) => object,
): Reply {
  const after = readContinuation(call, 'after', isText);
  const left = records.filter(({ id }) => after === undefined || id > after).sort(byId);
  const page = left.slice(0, pageLimit(call));
  const last = page.at(-1);
  const rows = page.map((record) => JSON.stringify(show(record)));
  const isMore = last !== undefined && page.length < left.length;
  return feedReply(envelope, rows, isMore ? { after: last.id } : undefined);
}

/** Every page runs the whole query, because a catalog is small; the continuation is the count of rows sent. */
export function queriedReply(call: Call, envelope: Envelope, resources: readonly object[]): Reply {
  const { text, parameters } = readQuery(call);
  const skipped = readContinuation(call, 'given', isCount) ?? 0;
  // Resources are copied through JSON: records share objects, and a query must not see two values as one.
  const documents = resources.map((resource) => JSON.parse(JSON.stringify(resource)) as Value);
  const found = runQuery(
    call.queries.compile(text),
    documents,
    parameters,
    call.service.clock.nowMs(),
    FIXED_EVALUATION,
  );
  const end = skipped + queryLimit(call);
  const rows = found.slice(skipped, end).map((value) => JSON.stringify(value));
  return feedReply(envelope, rows, end < found.length ? { given: end } : undefined);
}

function byId(a: ListedResource, b: ListedResource): number {
  return a.id < b.id ? -1 : 1;
}

function feedReply(envelope: Envelope, rows: readonly string[], next: object | undefined): Reply {
  const headers = ['x-ms-item-count', String(rows.length)];
  if (next !== undefined) headers.push('x-ms-continuation', printContinuation(next));
  return { status: 200, charge: 1, headers, body: rowsBody(envelope, rows) };
}

/** Base64 keeps names of any script within what a header may carry. */
function printContinuation(next: object): string {
  return Buffer.from(JSON.stringify({ v: 1, ...next })).toString('base64');
}

function readContinuation<T>(
  call: Call,
  name: string,
  isValid: (value: unknown) => value is T,
): T | undefined {
  const text = call.header('x-ms-continuation');
  if (text === undefined) return undefined;
  try {
    const token = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
    if (token?.v === 1 && isValid(token[name])) return token[name];
  } catch {
    // A token that is no JSON gets the same error as one with wrong content, below.
  }
  throw new DomainError('invalidInput', 'Invalid Continuation Token');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
