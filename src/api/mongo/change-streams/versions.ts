/** Versions of one document beside the one that changed. */
import { DomainError } from '../../../base/index.ts';
import type { Service } from '../../../service/index.ts';
import { type BsonDocument, EPK_MAX, EPK_MIN } from '../../../value/index.ts';
import { addressOf } from '../documents/address.ts';
import { Row } from '../documents/rows.ts';
import { type FoundChange, foundChange } from './events.ts';

/** The version before a change; undefined where it is no longer kept. */
export async function versionBefore(
  { changeFeed }: Service,
  { collection, previousLsn, rid }: FoundChange,
): Promise<BsonDocument | undefined> {
  if (previousLsn === 0) return undefined;
  const start = { kind: 'after', lsn: previousLsn - 1 } as const;
  try {
    const { changes } = await changeFeed.read(collection.container, {
      scope: { kind: 'container' },
      mode: 'all',
      start: { kind: 'position', position: [{ min: EPK_MIN, max: EPK_MAX, start }] },
      limit: 1,
      bytesMax: 1,
    });
    for (const change of changes) {
      const found = foundChange(collection, change, 0);
      if (found?.rid === rid && found.lsn === previousLsn) return found.document;
    }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
  return undefined;
}

/** The document as it is now. */
export async function currentDocument(
  { items }: Service,
  { collection, document }: FoundChange,
): Promise<BsonDocument | undefined> {
  if (document === undefined) return undefined;
  const address = addressOf(collection, document);
  const { item } = await items.read(collection.container, address, undefined);
  return item && Row.ofBody(item.body).document;
}
