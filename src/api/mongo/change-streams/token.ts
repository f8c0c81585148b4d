/**
 * Resume tokens: how far each collection of a stream was read. The text is hexadecimal, as drivers expect it, and
 * opaque to them.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Bson, BsonDocument } from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { documentOf } from '../reply.ts';

const VERSION = 1;
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
}

export function printToken(state: StreamState): BsonDocument {
  const text = JSON.stringify({ v: VERSION, ...state });
  return documentOf({ _data: deflateRawSync(text, { level: 1 }).toString('hex').toUpperCase() });
}

/** Throws InvalidResumeToken and its kind. */
export function parseToken(sent: Bson): StreamState {
  const data = sent instanceof Map ? sent.get('_data') : undefined;
  if (data === undefined)
    throw new MongoError('Location40647', `Bad resume token: _data is missing or of wrong type`);
  if (typeof data !== 'string')
    throw new MongoError('Location40648', 'Bad resume token: _data must be a text');
  if (data === '') throw new MongoError('Location40649', 'Bad resume token: it is empty');
  try {
    const bytes = Buffer.from(data, 'hex');
    const text = inflateRawSync(bytes, { maxOutputLength: STATE_BYTES_MAX }).toString();
    const state = JSON.parse(text) as StreamState & { readonly v?: number };
    if (state.v !== VERSION || !Array.isArray(state.parts)) throw new Error('another version');
    return state;
  } catch {
    throw new MongoError('InvalidResumeToken', 'The resume token cannot be read');
  }
}
