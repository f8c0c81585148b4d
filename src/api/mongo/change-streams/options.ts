/** The argument of `$changeStream`, and what the stream watches. */
import { type Bson, type BsonDocument, Extended, isDocument } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { LogicalTime } from '../cluster-clock.ts';
import { parseNamespace } from '../collections/namespace.ts';
import { MongoError } from '../errors.ts';
import { checkFields, wrongType } from '../fields/field-table.ts';
import { parseToken, type StreamState } from './token.ts';

type ImageMode = 'default' | 'updateLookup' | 'whenAvailable' | 'required';
type BeforeMode = 'off' | 'whenAvailable' | 'required';

export interface StreamOptions {
  /** Undefined: all databases. */
  readonly database: string | undefined;
  /** Undefined: all collections. */
  readonly collection: string | undefined;
  readonly fullDocument: ImageMode;
  readonly beforeChange: BeforeMode;
  readonly isExpanded: boolean;
  readonly resume: StreamState | undefined;
  readonly startAt: LogicalTime | undefined;
  /** True where events that are too large are split. */
  readonly splits: boolean;
}

const FULL = ['default', 'updateLookup', 'whenAvailable', 'required'];
const BEFORE = ['off', 'whenAvailable', 'required'];

/** Undefined where the pipeline does not begin with `$changeStream`. */
export function changeStreamArgument({ name, body }: Call): Bson | undefined {
  const pipeline = name === 'aggregate' ? body.get('pipeline') : undefined;
  const first = Array.isArray(pipeline) ? (pipeline[0] as Bson) : undefined;
  return isDocument(first) ? first.get('$changeStream') : undefined;
}

/** Events are of what a majority has, so that no other level means anything. */
function checkLevel(body: BsonDocument): void {
  const concern = body.get('readConcern');
  const level = isDocument(concern) ? (concern.get('level') ?? 'majority') : 'majority';
  if (level !== 'majority')
    throw new MongoError(
      'InvalidOptions',
      "Aggregation stage $changeStream cannot run with a readConcern other than 'majority', or in a multi-document " +
        `transaction. Current readConcern: ${String(level)}`,
    );
}

export function parseStreamOptions(call: Call, sent: Bson): StreamOptions {
  if (!isDocument(sent))
    throw new MongoError(
      'Location6188500',
      '$changeStream must take a nested object but found: another type',
    );
  if (call.context.topology === 'standalone')
    throw new MongoError(
      'Location40573',
      'The $changeStream stage is only supported on replica sets',
    );
  checkFields('$changeStream', sent, FIELDS, false);
  checkLevel(call.body);
  for (const name of ['allChangesForCluster', 'showExpandedEvents'])
    if (sent.get(name) === null) throw wrongType(`$changeStream.${name}`, null, 'bool');
  if (call.body.get('apiStrict') === true && sent.has('showExpandedEvents'))
    throw new MongoError(
      'APIStrictError',
      "BSON field '$changeStream.showExpandedEvents' is not allowed with apiStrict:true.",
    );
  const [after, startAfter] = [sent.get('resumeAfter') ?? null, sent.get('startAfter') ?? null];
  const startAt = sent.get('startAtOperationTime') ?? null;
  if (after !== null && startAfter !== null)
    throw new MongoError(
      'Location50865',
      "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage.",
    );
  if (startAt !== null && (after !== null || startAfter !== null))
    throw new MongoError(
      'Location40674',
      'Only one type of resume option is allowed, but multiple were found.',
    );
  const token = after ?? startAfter;
  const resume = token === null ? undefined : parseToken(token);
  if (resume?.isInvalidate === true && after !== null)
    throw new MongoError(
      'InvalidResumeToken',
      "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification.",
    );
  return {
    ...watched(call, sent),
    fullDocument: (oneOf(sent, 'fullDocument', FULL) ?? 'default') as ImageMode,
    beforeChange: (oneOf(sent, 'fullDocumentBeforeChange', BEFORE) ?? 'off') as BeforeMode,
    isExpanded: sent.get('showExpandedEvents') === true,
    resume,
    startAt: timeOf(startAt),
    splits: splitsEvents(call, resume),
  };
}

/** `$changeStreamSplitLargeEvent` ends the pipeline. */
function splitsEvents({ body }: Call, resume: StreamState | undefined): boolean {
  const stages = body.get('pipeline') as readonly Bson[];
  const at = stages.findIndex((stage) => isDocument(stage) && stage.has(SPLIT));
  if (at >= 0 && at < stages.length - 1)
    throw new MongoError(
      'Location7182802',
      '$changeStreamSplitLargeEvent must be the last stage in the pipeline',
    );
  if (at < 0 && resume?.fragment !== undefined)
    throw new MongoError(
      'ChangeStreamFatalError',
      'To resume from a split event, the $changeStream pipeline must include a $changeStreamSplitLargeEvent stage.',
      { labels: ['NonResumableChangeStreamError'] },
    );
  return at >= 0;
}

export const SPLIT = '$changeStreamSplitLargeEvent';

const FIELDS = {
  fullDocument: 'string',
  fullDocumentBeforeChange: 'string',
  resumeAfter: 'object',
  startAfter: 'object',
  startAtOperationTime: 'timestamp',
  allChangesForCluster: 'bool',
  showExpandedEvents: 'bool',
  showSystemEvents: 'bool',
  showMigrationEvents: 'bool',
  showRawUpdateDescription: 'bool',
  showCommitTimestamp: 'bool',
  allowToRunOnConfigDB: 'bool',
  allowToRunOnSystemNS: 'bool',
  matchCollectionUUIDForUpdateLookup: 'bool',
  ignoreRemovedShards: 'bool',
  version: 'string',
} as const;

function oneOf(sent: BsonDocument, name: string, allowed: readonly string[]): string | undefined {
  const value = sent.get(name) ?? undefined;
  if (value === undefined || allowed.includes(value as string)) return value as string | undefined;
  throw new MongoError(
    'BadValue',
    `Enumeration value '${String(value)}' for field '$changeStream.${name}' is not a valid value.`,
  );
}

function timeOf(sent: Bson): LogicalTime | undefined {
  if (!(sent instanceof Extended) || sent.payload.kind !== 'timestamp') return undefined;
  const { high, low } = sent.payload;
  return { high, low };
}

const INTERNAL: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

function watched(
  { body, name, database }: Call,
  sent: BsonDocument,
): Pick<StreamOptions, 'database' | 'collection'> {
  const target = body.get(name);
  const isCluster = sent.get('allChangesForCluster') === true;
  if (isCluster) {
    if (database !== 'admin' || typeof target === 'string')
      throw new MongoError(
        'InvalidOptions',
        "A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no collection name",
      );
    return { database: undefined, collection: undefined };
  }
  if (INTERNAL.has(database))
    throw new MongoError(
      'InvalidNamespace',
      `$changeStream may not be opened on the internal ${database} database`,
    );
  if (typeof target !== 'string') return { database, collection: undefined };
  const { collection } = parseNamespace(database, target);
  if (collection.startsWith('system.'))
    throw new MongoError(
      'InvalidNamespace',
      `$changeStream may not be opened on the internal ${database}.${collection} collection`,
    );
  return { database, collection };
}
