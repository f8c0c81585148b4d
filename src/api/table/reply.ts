/** A response before it is sent, and the parts that all responses have. */
import type { HttpReply } from '../../http/index.ts';
import type { Dialect } from './dialect.ts';
import type { MetadataLevel } from './entities/entity-reply.ts';
import type { TableError } from './errors.ts';

/** The version that current clients send; a valid version is returned as it was sent. */
export const DEFAULT_VERSION = '2019-02-02';

export interface Reply extends HttpReply {
  readonly body: string | undefined;
  readonly contentType?: string | undefined;
}

const CONTENT_TYPES: Readonly<Record<MetadataLevel, string>> = {
  none: 'application/json;odata=nometadata;streaming=true;charset=utf-8',
  minimal: 'application/json;odata=minimalmetadata;streaming=true;charset=utf-8',
  full: 'application/json;odata=fullmetadata;streaming=true;charset=utf-8',
};
const XML_TYPE = 'application/xml';

interface ReplyOptions {
  readonly charge?: number;
  readonly headers?: string[];
}

export function jsonReply(
  status: number,
  body: string,
  level: MetadataLevel,
  { charge = 0, headers = [] }: ReplyOptions = {},
): Reply {
  return { status, charge, headers, body, contentType: CONTENT_TYPES[level] };
}

/** A reply of stored bytes: the text has one character per byte. */
export function storedReply(
  status: number,
  body: string,
  level: MetadataLevel,
  { charge = 0, headers = [] }: ReplyOptions = {},
): Reply {
  return { status, charge, headers, body, contentType: CONTENT_TYPES[level], encoding: 'latin1' };
}

export function xmlReply(status: number, body: string, headers: string[] = []): Reply {
  return { status, charge: 0, headers, body, contentType: XML_TYPE };
}

export function emptyReply(status: number, { charge = 0, headers = [] }: ReplyOptions = {}): Reply {
  return { status, charge, headers, body: undefined };
}

/** The headers that every response has beside its own. */
interface Sender {
  readonly requestId: string;
  readonly clientRequestId: string | undefined;
  readonly version: string;
  readonly corsHeaders: readonly string[];
}

/** Adds the headers that every response has beside its own. */
export function addServiceHeaders(reply: Reply, sender: Sender): void {
  const { headers, body, contentType, charge } = reply;
  headers.push('x-ms-request-id', sender.requestId, 'x-ms-version', sender.version);
  if (sender.clientRequestId !== undefined)
    headers.push('x-ms-client-request-id', sender.clientRequestId);
  headers.push('Cache-Control', 'no-cache', 'X-Content-Type-Options', 'nosniff');
  headers.push('DataServiceVersion', '3.0;', 'Server', 'Mesocosm-Table/1.0');
  if (charge > 0) headers.push('x-ms-request-charge', String(charge));
  for (const text of sender.corsHeaders) headers.push(text);
  if (body !== undefined) headers.push('Content-Type', contentType ?? CONTENT_TYPES.minimal);
}

interface ErrorContext {
  readonly requestId: string;
  readonly nowMs: number;
  readonly isXml: boolean;
  readonly dialect: Dialect;
}

/** The response to a request that failed. */
export function errorReply(error: TableError, context: ErrorContext): Reply {
  const { tableCode, status, retryAfterMs, charge } = error;
  const headers = ['x-ms-error-code', tableCode];
  if (retryAfterMs !== undefined)
    headers.push(
      'x-ms-retry-after-ms',
      String(retryAfterMs),
      'Retry-After',
      String(Math.ceil(retryAfterMs / 1000)),
    );
  const body = context.isXml ? errorXml(error, context) : errorJson(error, context);
  if (status === 405) headers.push('Allow', 'GET,POST,PUT,PATCH,MERGE,DELETE,OPTIONS');
  const contentType = context.isXml ? XML_TYPE : CONTENT_TYPES.minimal;
  return { status, charge, headers, body, contentType };
}

function errorJson({ tableCode: code, message }: TableError, context: ErrorContext): string {
  const value = decorated(message, context);
  return JSON.stringify({
    'odata.error': { code, message: { lang: context.dialect.language, value } },
  });
}

function errorXml({ tableCode: code, message }: TableError, context: ErrorContext): string {
  const value = decorated(message, context).replace(
    /[<>&]/g,
    (mark) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;' })[mark] as string,
  );
  return `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${value}</Message></Error>`;
}

function decorated(message: string, { requestId, nowMs }: ErrorContext): string {
  return `${message}\nRequestId:${requestId}\nTime:${new Date(nowMs).toISOString()}`;
}

/** The reason phrase of a status, as the parts of a batch spell it. */
export function statusText(status: number): string {
  return STATUS_TEXTS[status] ?? 'Error';
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Request Entity Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
};
