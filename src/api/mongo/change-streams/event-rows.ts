/** The rows that an event is for its client: itself, or fragments of one that is larger than a document may be. */
import { type Bson, type BsonDocument, writeBson } from '../../../value/index.ts';
import type { LogicalTime } from '../cluster-clock.ts';
import type { LiveRow } from '../cursors/live-cursor.ts';
import { MongoError } from '../errors.ts';
import { EVENT_BYTES_MAX } from '../limits.ts';
import { documentOf } from '../reply.ts';
import { printToken, type SplitEvent, type StreamState } from './token.ts';

/** Where an event is in its stream, for tokens between its fragments. */
export interface EventPlace {
  /** The stream before the event. */
  readonly before: StreamState;
  readonly event: SplitEvent;
  readonly time: LogicalTime;
  /** Fragments that the client had before it resumed. */
  readonly fragmentsSeen: number;
}

/**
 * @param token - the place behind the event, which is its id.
 * @param place - set where large events are split.
 */
export function eventRows(
  document: BsonDocument,
  token: BsonDocument,
  place: EventPlace | undefined,
): readonly LiveRow[] {
  checkId(document.get('_id'), token);
  const body = writeBson(document);
  if (place === undefined || body.length <= EVENT_BYTES_MAX) return [{ body, resumeToken: token }];
  const fragments = fragmentsOf(document);
  const rows = fragments.map((fields, at): LiveRow => {
    const number = at + 1;
    const isLast = number === fragments.length;
    const fragment: SplitEvent = [...place.event.slice(0, 4), number] as unknown as SplitEvent;
    const [, , lsn, operation] = place.event;
    const inTime = { lsn, operation, fragment: number };
    const own = isLast ? token : printToken({ ...place.before, fragment }, place.time, inTime);
    const splitEvent = documentOf({ fragment: number, of: fragments.length });
    const parts = [['_id', own], ['splitEvent', splitEvent], ...fields] as const;
    return { body: writeBson(new Map<string, Bson>(parts)), resumeToken: own };
  });
  return rows.slice(place.fragmentsSeen);
}

function checkId(id: Bson | undefined, token: BsonDocument): void {
  if (id instanceof Map && id.get('_data') === token.get('_data')) return;
  throw new MongoError(
    'ChangeStreamFatalError',
    'Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. ' +
      'Modifying the _id field of an event makes it impossible to resume the stream from that point. Only transformations ' +
      'that retain the unmodified _id field are allowed.',
    { labels: ['NonResumableChangeStreamError'] },
  );
}

/** What a fragment has beside its fields: the token and its number. */
const HEADER_BYTES = 4096;

type Field = readonly [string, Bson];

/** The fields, small ones first, as many in a fragment as fit. */
function fragmentsOf(event: BsonDocument): readonly (readonly Field[])[] {
  const sized = [...event]
    .filter(([name]) => name !== '_id')
    .map((field) => ({ field, bytes: writeBson(new Map([field])).length }))
    .sort((a, b) => a.bytes - b.bytes);
  const fragments: Field[][] = [];
  let left = 0;
  for (const { field, bytes } of sized) {
    if (bytes + HEADER_BYTES > EVENT_BYTES_MAX)
      throw new MongoError(
        'BSONObjectTooLarge',
        `Splitting change event failed: fragment with minimal fields ${field[0]} exceeds maximum size limit.`,
        { labels: ['NonResumableChangeStreamError'] },
      );
    if (bytes > left) {
      fragments.push([]);
      left = EVENT_BYTES_MAX - HEADER_BYTES;
    }
    (fragments.at(-1) as Field[]).push(field);
    left -= bytes;
  }
  return fragments;
}
