/** Compares etags with those of the client: If-None-Match on reads, If-Match on writes. */
import type { Call } from '../call.ts';
import { emptyReply, type Reply } from '../reply.ts';

/** True where the client already has this version. */
export function isNotModified(call: Call, etag: string): boolean {
  const held = call.headers['if-none-match'];
  return held !== undefined && (held === etag || held === '*');
}

/** 304: the version has not changed. The response has no body. */
export function notModified(etag: string, headers: string[], charge = 1): Reply {
  headers.push('etag', etag);
  return emptyReply(304, { charge, headers });
}

/** The etag that a write requires; undefined where it requires none. */
export function ifMatch(call: Call): string | undefined {
  return call.header('if-match');
}
