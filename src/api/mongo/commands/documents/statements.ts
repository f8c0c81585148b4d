/** The documents, updates or deletes of a write command: beside the command, or in an array of it. */
import type { Bytes } from '../../../../base/index.ts';
import { pluckBodies } from '../../../../value/index.ts';
import type { Call } from '../../call.ts';
import { MongoError, mongoErrorOf, RETRYABLE_WRITE } from '../../errors.ts';
import { WRITE_BATCH_MAX } from '../../limits.ts';

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
