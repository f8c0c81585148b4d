/** One collection of a change stream, and how far it was read. */
import { type ChangeFeedPosition, printChangePosition } from '../../../service/index.ts';
import type { Collection } from '../collections/collection.ts';
import type { StreamState } from './token.ts';

export interface StreamPart {
  collection: Collection;
  position: ChangeFeedPosition;
  /** True while changes from before versions were kept are read: deletions and updates show as they are now. */
  isEarly: boolean;
  /** True until all versions were read once: what was written before they were kept is read as it is now. */
  mayBeEarly: boolean;
  /** The position as a text, which is part of the token of every event, also of those of other collections. */
  printed?: { readonly position: ChangeFeedPosition; readonly text: string };
}

export function placeOfPart(part: StreamPart): StreamState['parts'][number] {
  const { position, collection } = part;
  if (part.printed?.position !== position)
    part.printed = { position, text: printChangePosition(position) };
  return [collection.container.databaseRid, collection.container.rid, part.printed.text];
}
