/** A response before it is sent, and the headers that all responses have. */
import type { Bytes, ResponseInfo } from '../../base/index.ts';
import type { HttpReply } from '../../http/index.ts';
import { printSessionToken } from './session-token.ts';

export interface Reply extends HttpReply {
  readonly body: Bytes | undefined;
  /** JSON by default. */
  readonly contentType?: string;
}

/** Headers about the service itself, the same in every response. Clients show them and do not act on them. */
export function serviceHeaders(startedMs: number): readonly string[] {
  return [
    'x-ms-gatewayversion',
    'version=2.14.0',
    'x-ms-serviceversion',
    'version=2.14.0.0',
    'x-ms-schemaversion',
    '1.18',
    'x-ms-last-state-change-utc',
    new Date(startedMs).toUTCString(),
  ];
}

/** Adds the headers of every response: service, activity id, charge and content type. */
export function addServiceHeaders(
  { headers, charge, body, contentType = 'application/json' }: Reply,
  activityId: string,
  about: readonly string[],
): void {
  for (const text of about) headers.push(text);
  headers.push('x-ms-activity-id', activityId, 'x-ms-request-charge', String(charge));
  if (body !== undefined) headers.push('content-type', contentType);
}

/** Headers of a response that came from a partition. */
export function responseInfoHeaders(responseInfo: ResponseInfo): string[] {
  return [
    'x-ms-session-token',
    printSessionToken(responseInfo),
    'lsn',
    String(responseInfo.lsn),
    'x-ms-documentdb-partitionkeyrangeid',
    responseInfo.partitionId,
  ];
}

export function jsonReply(
  status: number,
  resource: object,
  options: { charge?: number; headers?: string[] } = {},
): Reply {
  const body = Buffer.from(JSON.stringify(resource));
  return { status, charge: options.charge ?? 1, headers: options.headers ?? [], body };
}

/** 304: the version has not changed. The response has no body. */
export function notModified(etag: string, headers: string[], charge = 1): Reply {
  headers.push('etag', etag);
  return emptyReply(304, { charge, headers });
}

export function emptyReply(
  status: number,
  options: { charge?: number; headers?: string[] } = {},
): Reply {
  return { status, charge: options.charge ?? 1, headers: options.headers ?? [], body: undefined };
}
