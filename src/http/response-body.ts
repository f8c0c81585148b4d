/** What is true of the bodies of answers, whatever carries them. */
import type { Bytes } from '../base/index.ts';

/**
 * Up to this size a body travels in one string with the head, which is written in one piece; beyond it the copy costs
 * more than the second buffer.
 */
export const JOINED_BODY_BYTES_MAX = 16 * 1024;

/** These say that there is no body; not even its length. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

/** What is answered where an API could not even refuse. */
export const FAILURE = {
  status: 500,
  headers: ['content-type', 'application/json'],
  body: '{"code":"InternalServerError","message":"An unexpected error occurred; the server has logged it."}',
} as const;

export function lengthOf(body: Bytes | string, encoding: 'latin1' | undefined): number {
  return typeof body === 'string' && encoding === undefined ? Buffer.byteLength(body) : body.length;
}
