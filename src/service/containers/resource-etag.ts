import { randomUUID } from 'node:crypto';
import { DomainError } from '../../base/index.ts';

/** The etag of a database, container or offer: new with every change, quoted as HTTP wants it. */
export function newEtag(): string {
  return `"${randomUUID()}"`;
}

/** If-Match: throws `preconditionFailed` where the resource is no longer what the caller saw. */
export function checkEtag(etag: string, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === etag) return;
  throw new DomainError(
    'preconditionFailed',
    'Operation cannot be performed because one of the specified precondition is not met.',
  );
}
