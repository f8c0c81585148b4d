/** Etags against what the client has: If-None-Match on reads, If-Match on changes. */
import type { Call } from '../call.ts';
import { emptyReply, type Reply } from '../reply.ts';

/** True where the client says it already has this version. */
export function isNotModified(call: Call, etag: string): boolean {
  const held = call.headers['if-none-match'];
  return held !== undefined && (held === etag || held === '*');
}

/** 304: the version has not changed. Nothing but headers. */
export function notModified(etag: string, headers: string[], charge = 1): Reply {
  headers.push('etag', etag);
  return emptyReply(304, { charge, headers });
}

/** The etag a change insists on; undefined where it does not. */
export function ifMatch(call: Call): string | undefined {
  return call.header('if-match');
}
