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
  if (upsertedId !== undefined) printed.set('upsertedId', upsertedId);
  const document = image === 'none' ? undefined : result[image];
  if (document !== undefined) {
    const isShort = writeBson(document).length <= NOTED_DOCUMENT_BYTES_MAX;
    printed.set(image, isShort ? document : null);
  }
  return writeBson(printed);
}

export function parseChange(bytes: Bytes): ChangeResult {
  const printed = readBson(bytes);
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
  if (image === null)
    throw new MongoError(
      'IncompleteTransactionHistory',
      'The write was applied before; the document that it returned is too large to be kept.',
    );
  return isDocument(image) ? image : undefined;
}
