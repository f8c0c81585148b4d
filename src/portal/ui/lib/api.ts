/** Requests of the page. All go to its own origin; the server signs them. */
import { isReadOnly } from './session.ts';

/** A refusal, with what a person needs to report it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly activityId: string | undefined;

  constructor(status: number, code: string, message: string, activityId?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.activityId = activityId;
  }
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Init {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Throws ApiError where the server refuses or cannot be reached. */
export async function send(path: string, init: Init = {}): Promise<Reply> {
  const headers = {
    'x-mesocosm-portal': '1',
    ...(isReadOnly.value && { 'x-mesocosm-read-only': '1' }),
    ...init.headers,
  };
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { ...init, headers, credentials: 'same-origin' });
    text = await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'Unreachable', 'The server does not answer. Is it still running?');
  }
  if (response.ok || response.status === 304)
    return { status: response.status, headers: response.headers, text };
  throw refusalOf(response, text);
}

function refusalOf(response: Response, text: string): ApiError {
  const activityId = response.headers.get('x-ms-activity-id') ?? undefined;
  try {
    const { code, message } = JSON.parse(text);
    return new ApiError(response.status, String(code), firstLine(String(message)), activityId);
  } catch {
    return new ApiError(response.status, String(response.status), text.slice(0, 500), activityId);
  }
}

/** The NoSQL API puts the reason into a list of errors, with ids behind it. */
export function firstLine(message: string): string {
  const [line = ''] = message.split('\r\n');
  const listed = /"message":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1];
  if (listed !== undefined) return JSON.parse(`"${listed}"`);
  return line.replace(/^Message: \{"Errors":\["?/, '').replace(/"?\]\}$/, '');
}

/** A route of administration. */
export async function ask<T>(
  route: string,
  query: Readonly<Record<string, string>> = {},
): Promise<T> {
  const search = new URLSearchParams(query).toString();
  const { text } = await send(`/portal/api/${route}${search === '' ? '' : `?${search}`}`);
  return JSON.parse(text) as T;
}

export async function post<T>(route: string, body: object, signal?: AbortSignal): Promise<T> {
  const init = { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) };
  const { text } = await send(`/portal/api/${route}`, init);
  return parseExact(text) as T;
}

/** A resource of the NoSQL API: `['dbs', 'shop', 'colls']`. */
export function nosql(path: readonly string[], init: Init = {}): Promise<Reply> {
  return send(`/portal/api/nosql/${path.map(encodeURIComponent).join('/')}`, init);
}

type RawJson = { readonly rawJSON: string };
declare global {
  interface JSON {
    rawJSON?: (text: string) => RawJson;
  }
}

/** Numbers that a double cannot hold keep their digits: they are printed as they came. */
export function parseExact(text: string): unknown {
  const raw = JSON.rawJSON;
  if (raw === undefined) return JSON.parse(text);
  const keep = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    return String(value) === context.source || isExact(value, context.source)
      ? value
      : raw(context.source);
  };
  return JSON.parse(text, keep as (key: string, value: unknown) => unknown);
}

function isExact(value: number, source: string): boolean {
  return Number.isSafeInteger(value) || !/^-?\d{16,}$/.test(source);
}

/** True for a number whose digits would be lost in JavaScript. */
export function isRaw(value: unknown): value is RawJson {
  return typeof value === 'object' && value !== null && 'rawJSON' in value;
}
