import { randomUUID } from 'node:crypto';

/** The etag of a database, container or offer: new with every change, quoted as HTTP wants it. */
export function newEtag(): string {
  return `"${randomUUID()}"`;
}
