/** An answer before it is written, and the one place that writes answers. */
import type { ServerResponse } from 'node:http';
import { type Bytes, bytesToLatin1, type Receipt } from '../../base/index.ts';

export interface Reply {
  readonly status: number;
  /** Request units. */
  readonly charge: number;
  /** Flat names and values. The reply owns the array: writing it appends to it. */
  readonly headers: string[];
  /** Sent as it is. Undefined: no body. */
  readonly body: Bytes | undefined;
}

/** What every answer says about the service itself: clients show these, none acts on them. */
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

/** What an answer says beside its own headers. */
export interface Sender {
  readonly activityId: string;
  readonly serviceHeaders: readonly string[];
}

/**
 * Up to this size a body travels in one string with the head, which node writes in one piece; beyond it the copy costs
 * more than the second buffer.
 */
const JOINED_BODY_BYTES_MAX = 16 * 1024;

export function sendReply(response: ServerResponse, reply: Reply, sender: Sender): void {
  if (response.destroyed || response.headersSent) return;
  const { status, headers, body } = reply;
  for (const text of sender.serviceHeaders) headers.push(text);
  headers.push('x-ms-activity-id', sender.activityId);
  headers.push('x-ms-request-charge', String(reply.charge));
  if (body === undefined) {
    if (status !== 204 && status !== 304) headers.push('content-length', '0');
    response.writeHead(status, headers);
    response.end();
    return;
  }
  headers.push('content-type', 'application/json', 'content-length', String(body.length));
  response.writeHead(status, headers);
  if (body.length <= JOINED_BODY_BYTES_MAX) response.end(bytesToLatin1(body), 'latin1');
  else response.end(body);
}

/** Headers of an answer that came from a partition. */
export function receiptHeaders(receipt: Receipt): string[] {
  return [
    'x-ms-session-token',
    receipt.sessionToken,
    'lsn',
    String(receipt.lsn),
    'x-ms-documentdb-partitionkeyrangeid',
    receipt.partitionId,
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

export function emptyReply(
  status: number,
  options: { charge?: number; headers?: string[] } = {},
): Reply {
  return { status, charge: options.charge ?? 1, headers: options.headers ?? [], body: undefined };
}
