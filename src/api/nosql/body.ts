/**
 * Collects a request's body within bounds. A body somewhat too large is read to its end and thrown away, so that the
 * client gets to read the refusal; one far too large, or of unknown length and never ending, closes the connection.
 */
import type { IncomingMessage } from 'node:http';
import { type Bytes, ITEM_BYTES_MAX } from '../../base/index.ts';
import { RequestError } from './errors.ts';

/** Documented limit of a request. */
export const REQUEST_BYTES_MAX = ITEM_BYTES_MAX;

/** What is still read, and dropped, of a body that is refused. */
const DISCARD_BYTES_MAX = 16 * 1024 * 1024;

/** The client went away before its request was complete: nobody is left to answer. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError';
}

export function collectBody(request: IncomingMessage): Promise<Bytes> {
  const declared = Number(request.headers['content-length']);
  if (declared > DISCARD_BYTES_MAX) return Promise.reject(tooLarge(true));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= REQUEST_BYTES_MAX) chunks.push(chunk);
      else chunks.length = 0;
      if (length <= DISCARD_BYTES_MAX) return;
      request.pause();
      reject(tooLarge(true));
    });
    request.on('end', () => {
      if (length > REQUEST_BYTES_MAX) reject(tooLarge(false));
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length));
    });
    request.on('error', () => reject(new AbortedError('the client went away')));
    request.on('close', () => reject(new AbortedError('the client went away')));
  });
}

function tooLarge(isClosing: boolean): RequestError {
  const headers = isClosing ? { headers: ['connection', 'close'] } : {};
  return new RequestError(413, 'Request size is too large', headers);
}
