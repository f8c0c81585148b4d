/** The reply of a write command: counts, and the refusals of single statements. */
import type { Bson, BsonDocument } from '../../../../value/index.ts';
import type { WriteFailure } from '../../documents/insert.ts';
import { ok } from '../../reply.ts';
import type { RetryableWrite } from '../../sessions/retryable-write.ts';

export function writeReply(
  counts: Readonly<Record<string, Bson>>,
  failures: readonly WriteFailure[],
  retryable: RetryableWrite | undefined,
): BsonDocument {
  const reply = { ...counts, ...retryable?.reply };
  if (failures.length === 0) return ok(reply);
  return ok({ ...reply, writeErrors: failures.map(printFailure) });
}

function printFailure({ index, error }: WriteFailure): BsonDocument {
  const printed = new Map<string, Bson>([
    ['index', index],
    ['code', error.number],
  ]);
  for (const [name, value] of error.more ?? []) printed.set(name, value);
  return printed.set('errmsg', error.message);
}
