/** What a change of one document did, as its updater reports it and as notes keep it. */
import type { Bytes } from '../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  isDocument,
  readBson,
  writeBson,
} from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { NOTED_DOCUMENT_BYTES_MAX } from '../limits.ts';

export interface ChangeResult {
  readonly matched: number;
  readonly modified: number;
  readonly upsertedId: Bson | undefined;
  /** The document of a change of one, before and after. */
  readonly before: BsonDocument | undefined;
  readonly after: BsonDocument | undefined;
}

export const NO_CHANGE: ChangeResult = {
  matched: 0,
  modified: 0,
  upsertedId: undefined,
  before: undefined,
  after: undefined,
};

/** Which document of a findAndModify the note must keep. */
export type KeptImage = 'before' | 'after' | 'none';

export function printChange(result: Partial<ChangeResult>, image: KeptImage = 'none'): Bytes {
  const { matched = 0, modified = 0, upsertedId } = result;
  const printed = new Map<string, Bson>([
    ['matched', matched],
    ['modified', modified],
  ]);
  if (upsertedId !== undefined && isShort(new Map([['upsertedId', upsertedId]])))
    printed.set('upsertedId', upsertedId);
  else if (upsertedId !== undefined) printed.set(LOST_ID, true);
  const document = image === 'none' ? undefined : result[image];
  if (document !== undefined) printed.set(image, isShort(document) ? document : null);
  return writeBson(printed);
}

/** A document may have an `_id` of megabytes; its note says no more than that there was one. */
const LOST_ID = 'lostId';

function isShort(document: BsonDocument): boolean {
  return writeBson(document).length <= NOTED_DOCUMENT_BYTES_MAX;
}

/** What a write has just done; `stored` is the document that it left. */
export function parseReply(
  bytes: Bytes,
  stored: Bytes | undefined,
): Pick<ChangeResult, 'matched' | 'modified' | 'upsertedId'> {
  const printed = readBson(bytes);
  const isLost = printed.has(LOST_ID) && stored !== undefined;
  return {
    matched: printed.get('matched') as number,
    modified: printed.get('modified') as number,
    upsertedId: isLost ? readBson(stored).get('_id') : printed.get('upsertedId'),
  };
}

/** What an earlier write did, by its note. Throws where it is too long to be kept. */
export function parseNote(bytes: Bytes): ChangeResult {
  const printed = readBson(bytes);
  if (printed.has(LOST_ID)) throw lost('_id that it made');
  return {
    matched: printed.get('matched') as number,
    modified: printed.get('modified') as number,
    upsertedId: printed.get('upsertedId'),
    before: imageIn(printed, 'before'),
    after: imageIn(printed, 'after'),
  };
}

function imageIn(printed: BsonDocument, name: 'before' | 'after'): BsonDocument | undefined {
  const image = printed.get(name);
  if (image === null) throw lost('document that it returned');
  return isDocument(image) ? image : undefined;
}

function lost(what: string): MongoError {
  return new MongoError(
    'IncompleteTransactionHistory',
    `The write was applied before; the ${what} is too large to be kept.`,
  );
}
