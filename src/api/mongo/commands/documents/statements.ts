/** The documents, updates or deletes of a write command: beside the command, or in an array of it. */
import type { Bytes } from '../../../../base/index.ts';
import { inSlices, yieldToEventLoop } from '../../../../query/index.ts';
import {
  type BsonDocument,
  pluckBodies,
  readBson,
  readBsonSteps,
} from '../../../../value/index.ts';
import type { Call } from '../../call.ts';
import { MongoError, mongoErrorOf, RETRYABLE_WRITE } from '../../errors.ts';
import { LARGE_DOCUMENT_BYTES, WRITE_BATCH_MAX } from '../../limits.ts';

export function statementsOf(
  call: Call,
  name: 'documents' | 'updates' | 'deletes',
): readonly Bytes[] {
  const bodies = call.sequences.get(name) ?? pluckBodies(call.raw, name);
  if (bodies === undefined)
    throw call.args.has(name)
      ? new MongoError(
          'TypeMismatch',
          `BSON field '${call.name}.${name}' must be an array of objects`,
        )
      : new MongoError(
          'IDLFailedToParse',
          `BSON field '${call.name}.${name}' is missing but a required field`,
        );
  if (bodies.length === 0 || bodies.length > WRITE_BATCH_MAX)
    throw new MongoError(
      'InvalidLength',
      `Write batch sizes must be between 1 and ${WRITE_BATCH_MAX}. Got ${bodies.length} operations.`,
    );
  return bodies;
}

/** Reads and parses statements; others are served between them. */
export async function readStatements<T>(
  bodies: readonly Bytes[],
  parse: (document: BsonDocument) => T,
): Promise<T[]> {
  const parsed: T[] = [];
  for (const body of bodies) {
    const isLarge = body.length > LARGE_DOCUMENT_BYTES;
    parsed.push(parse(isLarge ? await inSlices(readBsonSteps(body)) : readBson(body)));
    const wait = bodies.length > 1 ? yieldToEventLoop() : undefined;
    if (wait !== undefined) await wait;
  }
  return parsed;
}

/**
 * The refusal of one statement. What ends the transaction, or what drivers repeat as a whole by its label, refuses the
 * command: it is thrown.
 */
export function statementError({ store }: Call, error: unknown): MongoError {
  const refusal = mongoErrorOf(error);
  const { labels } = refusal;
  if (store.isTransaction ? labels.length > 0 : labels.includes(RETRYABLE_WRITE)) throw refusal;
  return refusal;
}
