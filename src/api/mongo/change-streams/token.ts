/**
 * Resume tokens: how far each collection of a stream was read. The text is hexadecimal, as drivers expect it:
 *
 *   82         a timestamp follows, as in tokens of MongoDB, so that tools read its time
 *   u32 u32    seconds and number of the event, or of the place between events
 *   2E         the place within that time follows, so that tokens are in the order of their events as texts
 *   u64 u32    LSN, and the place among the changes of the commit
 *   u16        the number of a fragment; FFFF: the end of the event
 *   bytes      the state as JSON, deflated
 *   04         the end, which may be missing
 *
 * Tokens of earlier versions have no place, or are the deflated JSON alone. Deflated bytes begin neither with 82 nor
 * with 2E: there is no block of that type.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Bson, type BsonDocument, Extended } from '../../../value/index.ts';
import type { LogicalTime } from '../cluster-clock.ts';
import { MongoError } from '../errors.ts';
import { documentOf } from '../reply.ts';

const VERSION = 1;
const TIMED = 0x82;
const END = 0x04;
const TIME_BYTES = 9;
const PLACED = 0x2e;
const PLACE_BYTES = 15;
const U32_MAX = 0xffff_ffff;
const U16_MAX = 0xffff;
/** Bytes of the state in a token: thousands of collections. */
const STATE_BYTES_MAX = 1024 * 1024;

/** An event that was split: [database rid, container rid, LSN, operation, fragments so far]. */
export type SplitEvent = readonly [number, number, number, number, number];

export interface StreamState {
  /** [database rid, container rid, position] of each collection. */
  readonly parts: readonly (readonly [number, number, string])[];
  /** The last event, where others of the same write follow: [database rid, container rid, LSN, operation]. */
  readonly last?: readonly [number, number, number, number] | undefined;
  /** The number of the last change of a schema, and the process that counts them. */
  readonly schema?: readonly [string, number] | undefined;
  /** Set between the fragments of an event, whose stream is that before the event. */
  readonly fragment?: SplitEvent | undefined;
  /** True behind the event that ends a stream. */
  readonly isInvalidate?: boolean | undefined;
  /** True behind the event that only the end follows: the drop or the new name of a collection. */
  readonly isLast?: boolean | undefined;
  /** True behind an event that streams without expanded events never see. */
  readonly isExpanded?: boolean | undefined;
}

/** Where an event is among those of its time. */
export interface PlaceInTime {
  readonly lsn: number;
  readonly operation: number;
  /** Undefined behind the event. */
  readonly fragment?: number;
}

/** Behind all events of the time. */
const END_OF_TIME: PlaceInTime = { lsn: Number.MAX_SAFE_INTEGER, operation: U32_MAX };

/** Changes of schemas are behind the writes of their time, and the end of a stream is behind them. */
export function placeOfSchemaEvent(
  number: number,
  { isInvalidate = false }: Pick<StreamState, 'isInvalidate'>,
): PlaceInTime {
  return { lsn: END_OF_TIME.lsn, operation: number, fragment: isInvalidate ? 1 : 0 };
}

export function printToken(
  state: StreamState,
  time: LogicalTime,
  { lsn, operation, fragment = U16_MAX }: PlaceInTime = END_OF_TIME,
): BsonDocument {
  const head = Buffer.alloc(TIME_BYTES + PLACE_BYTES);
  head.writeUInt8(TIMED);
  head.writeUInt32BE(time.high, 1);
  head.writeUInt32BE(time.low, 5);
  head.writeUInt8(PLACED, TIME_BYTES);
  head.writeBigUInt64BE(BigInt(lsn), TIME_BYTES + 1);
  head.writeUInt32BE(Math.min(operation, U32_MAX), TIME_BYTES + 9);
  head.writeUInt16BE(Math.min(fragment, U16_MAX), TIME_BYTES + 13);
  const body = deflateRawSync(JSON.stringify({ v: VERSION, ...state }), { level: 1 });
  const bytes = Buffer.concat([head, body, Buffer.of(END)]);
  return documentOf({ _data: bytes.toString('hex').toUpperCase() });
}

/** Throws InvalidResumeToken and its kind. */
export function parseToken(sent: Bson): StreamState {
  const data = sent instanceof Map ? sent.get('_data') : undefined;
  if (typeof data !== 'string')
    throw new MongoError('Location40647', `Bad resume token: _data is missing or of wrong type`);
  const typeBits = (sent as BsonDocument).get('_typeBits');
  const isBinary = typeBits instanceof Extended && typeBits.payload.kind === 'binary';
  if (typeBits !== undefined && !isBinary)
    throw new MongoError('Location40648', 'Bad resume token: _typeBits of wrong type');
  if (data === '') throw new MongoError('Location40649', 'Bad resume token: it is empty');
  if (data.length % 2 === 1 || !/^[0-9a-fA-F]*$/.test(data))
    throw new MongoError('FailedToParse', 'resume token string was not a valid hex string');
  const bytes = Buffer.from(data, 'hex');
  const isTimed = bytes[0] === TIMED;
  const state = readState(bytes.subarray(isTimed ? headBytes(bytes) : 0));
  if (typeof state === 'object') return state;
  if (!isTimed) throw new MongoError('Location50811', 'Unknown type in a resume token');
  if (state === 'cut') throw new MongoError('Overflow', 'The resume token ends too early');
  throw new MongoError('InvalidResumeToken', 'The resume token cannot be read');
}

function headBytes(bytes: Uint8Array): number {
  return bytes[TIME_BYTES] === PLACED ? TIME_BYTES + PLACE_BYTES : TIME_BYTES;
}

function readState(bytes: Uint8Array): StreamState | 'cut' | 'unknown' {
  try {
    const text = inflateRawSync(bytes, { maxOutputLength: STATE_BYTES_MAX }).toString();
    const state = JSON.parse(text) as StreamState & { readonly v?: number };
    return state.v === VERSION && Array.isArray(state.parts) ? state : 'unknown';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR' ? 'cut' : 'unknown';
  }
}

/** What a stream answers that cannot go on from its token. */
export function foreignToken(): MongoError {
  return new MongoError(
    'ChangeStreamFatalError',
    'cannot resume stream; the resume token was not found.',
    { labels: ['NonResumableChangeStreamError'] },
  );
}

/** What a stream answers whose place is before all that is kept. */
export function historyLost(): MongoError {
  return new MongoError(
    'ChangeStreamHistoryLost',
    'Resume of change stream was not possible, as the resume point may no longer be in the log.',
    { labels: ['NonResumableChangeStreamError'] },
  );
}
