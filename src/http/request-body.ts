/**
 * Collects a request's body within bounds. A body somewhat too large is read to its end and discarded, so that the
 * client gets to read the refusal; one far too large, or of unknown length and never ending, closes the connection.
 */
import type { IncomingMessage } from 'node:http';
import { type Bytes, DomainError, EMPTY_BYTES } from '../base/index.ts';

/** The most that is read and discarded of a body that is refused. */
export const DISCARD_BYTES_MAX = 16 * 1024 * 1024;

/** The client closed the connection before its request was complete, so no response can be sent. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError';
}

/** Rejects with `tooLarge` beyond `bytesMax`, with AbortedError where the client is gone. */
export function collectBody(request: IncomingMessage, bytesMax: number): Promise<Bytes> {
  const declared = Number(request.headers['content-length']);
  if (declared > DISCARD_BYTES_MAX) return Promise.reject(tooLarge());
  // With optimizeEmptyRequests, node marks requests without a body as read; they emit no more events.
  if (request.readableEnded) return Promise.resolve(EMPTY_BYTES);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= bytesMax) chunks.push(chunk);
      else chunks.length = 0;
      if (length <= DISCARD_BYTES_MAX) return;
      request.pause();
      reject(tooLarge());
    });
    request.on('end', () => {
      if (length > bytesMax) reject(tooLarge());
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length));
    });
    request.on('error', () => reject(new AbortedError('the client went away')));
    // The event also comes after `end`; the error is made only where it is used, because its stack is expensive.
    request.on('close', () => {
      if (!request.complete) reject(new AbortedError('the client went away'));
    });
  });
}

/**
 * True where a refused request may still send more than is worth reading: then the connection closes with the
 * response. Node itself reads the rest of a shorter body.
 */
export function isUnreadBodyLong({ headers, complete }: IncomingMessage): boolean {
  if (complete) return false;
  return (
    headers['transfer-encoding'] !== undefined ||
    Number(headers['content-length'] ?? 0) > DISCARD_BYTES_MAX
  );
}

export function tooLarge(): DomainError {
  return new DomainError('tooLarge', 'Request size is too large');
}
