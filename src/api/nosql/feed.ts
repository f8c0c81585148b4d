/** Feeds: the envelope all lists come in, and pages over the resources of the catalog. */
import { type Bytes, DomainError } from '../../base/index.ts';
import type { Call } from './call.ts';
import { matchFeedQuery } from './feed-query.ts';
import type { Reply } from './reply.ts';
import { pageLimit } from './request.ts';

export interface Envelope {
  /** Of the parent. */
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

/** A resource of the catalog as clients see it; `id` orders the list. */
export interface ListedResource {
  readonly id: string;
}

/** GET of a feed, or POST of a query on it: one page of the resources in the order of their ids. */
export function listReply(
  call: Call,
  envelope: Envelope,
  resources: readonly ListedResource[],
): Reply {
  const matches = call.method === 'POST' ? matchFeedQuery(call) : undefined;
  const after = readContinuation(call);
  const selected = resources
    .filter((resource) => matches?.(resource) ?? true)
    .filter(({ id }) => after === undefined || id > after)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const page = selected.slice(0, pageLimit(call));
  const last = page.at(-1);
  const headers = ['x-ms-item-count', String(page.length)];
  if (last !== undefined && page.length < selected.length)
    headers.push('x-ms-continuation', printContinuation(last.id));
  const bodies = page.map((resource) => Buffer.from(JSON.stringify(resource)));
  return { status: 200, charge: 1, headers, body: feedBody(envelope, bodies) };
}

/** A feed of resources this server does not have yet. */
export function emptyFeed(call: Call, envelope: Envelope): Reply {
  return listReply(call, envelope, []);
}

/** Base64 keeps names of any script within what a header may carry. */
function printContinuation(after: string): string {
  return Buffer.from(JSON.stringify({ v: 1, after })).toString('base64');
}

function readContinuation(call: Call): string | undefined {
  const text = call.header('x-ms-continuation');
  if (text === undefined) return undefined;
  try {
    const token = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
    if (token?.v === 1 && typeof token.after === 'string') return token.after;
  } catch {
    // Falls through to the one refusal below.
  }
  throw new DomainError('invalidInput', 'Invalid Continuation Token');
}
