/** The first batch of a cursor, which is kept where there may be more. */
import type { Bytes } from '../../../base/index.ts';
import type { Call, Reply } from '../call.ts';
import { findCollection } from '../collections/collection.ts';
import { batchReply, type CursorOrigin, type OpenCursor } from './cursor.ts';
import { LiveCursor } from './live-cursor.ts';

interface FirstBatch {
  readonly batchSize: number;
  readonly isSingleBatch: boolean;
}

/** What a cursor remembers of the command that opens it. */
export function originOf(call: Call, namespace: string): CursorOrigin {
  const { body, name, meter, session } = call;
  const number = body.get('txnNumber');
  return {
    namespace: call.cursorNamespace ?? namespace,
    origin: name,
    meter,
    session,
    transaction:
      body.get('autocommit') === false && typeof number === 'bigint' ? number : undefined,
    hasTimeout: body.get('noCursorTimeout') !== true,
    isAlive: aliveness(call),
  };
}

/** Asks whether the collection of the command is still there, by the same name. */
function aliveness({ body, name, database, context }: Call): (() => boolean) | undefined {
  const collection = body.get(name);
  if (typeof collection !== 'string') return undefined;
  const find = () => findCollection(context.service, { database, collection })?.container.rid;
  const rid = find();
  return rid === undefined ? undefined : () => find() === rid;
}

export async function firstBatch(
  { context: { cursors }, connection, meter }: Call,
  cursor: OpenCursor,
  { batchSize, isSingleBatch }: FirstBatch,
): Promise<Reply> {
  let bodies: readonly Bytes[];
  if (cursor instanceof LiveCursor) cursor.reader = connection;
  try {
    bodies = await cursor.next(batchSize, 0);
  } catch (error) {
    await cursor.close();
    throw error;
  }
  const { namespace, resumeToken } = cursor;
  if (cursor.isDone || isSingleBatch) {
    await cursor.close();
    return batchReply({ name: 'firstBatch', id: 0n, namespace, bodies, resumeToken });
  }
  const id = cursors.keep(cursor, connection.cursorIds);
  // Batches of a cursor that waits for documents have limits of their own.
  if (cursor.isLive) meter.deadlineMs = Number.POSITIVE_INFINITY;
  meter.pause();
  meter.operation = undefined;
  return batchReply({ name: 'firstBatch', id, namespace, bodies, resumeToken });
}
