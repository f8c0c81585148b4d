/** Rules for response bodies that hold on the fast path and over node:http. */
import type { Bytes } from '../base/index.ts';

/**
 * Up to this size, body and head are joined and written in one piece; beyond it the copy costs more than a second
 * write.
 */
export const JOINED_BODY_BYTES_MAX = 16 * 1024;

/** True for statuses whose responses have no body and no length. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

/** The response where an API failed to make even an error response. */
export const FAILURE = {
  status: 500,
  headers: ['content-type', 'application/json'],
  body: '{"code":"InternalServerError","message":"An unexpected error occurred; the server has logged it."}',
} as const;

export function lengthOf(body: Bytes | string, encoding: 'latin1' | undefined): number {
  return typeof body === 'string' && encoding === undefined ? Buffer.byteLength(body) : body.length;
}
