/** The body of a POST, as JSON. An empty one is `{}`. */
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../base/index.ts';

/** Orders to the server are short. */
const BODY_BYTES_MAX = 64 * 1024;

export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new DomainError('tooLarge', 'The request body is too long.');
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    throw new DomainError('invalidInput', 'The request body is not JSON.');
  }
}
