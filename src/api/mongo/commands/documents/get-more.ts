/** The next batch of a cursor. */
import type { Bytes } from '../../../../base/index.ts';
import type { Call, Command } from '../../call.ts';
import { namespaceText, parseNamespace } from '../../collections/namespace.ts';
import { batchReply, type OpenCursor } from '../../cursors/cursor.ts';
import { LiveCursor } from '../../cursors/live-cursor.ts';
import { MongoError, mongoCodeOf } from '../../errors.ts';
import { refuseTime } from '../../fail-points/time-limits.ts';
import { missingField, wrongType } from '../../fields/field-table.ts';
import { maxTimeMs } from '../../fields/generic-checks.ts';

/** Drivers open a change stream again behind these (documented). */
const RESUMABLE_LABEL = 'ResumableChangeStreamError';
const RESUMABLE: ReadonlySet<number> = new Set([
  6, 7, 63, 89, 91, 133, 150, 189, 234, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436,
]);

/** How long a live cursor waits where the client does not say (documented). */
const AWAIT_MS = 1000;

export const getMore: Command = {
  needs: 'read',
  fields: {
    collection: 'string!',
    batchSize: 'count',
    term: 'int64',
    lastKnownCommittedOpTime: 'object',
  },
  async run(call) {
    const { context, args, body, database } = call;
    const id = body.get(call.name);
    if (id === null) throw missingField('getMore', 'getMore');
    if (typeof id !== 'bigint') throw wrongType('getMore.getMore', id ?? null, 'long');
    const collection = args.text('collection');
    const namespace = collection.startsWith('$cmd.')
      ? `${database}.${collection}`
      : namespaceText(parseNamespace(database, collection));
    const number = body.get('txnNumber');
    const cursor = context.cursors.acquire(id, namespace, {
      session: call.session,
      transaction:
        body.get('autocommit') === false && typeof number === 'bigint' ? number : undefined,
    });
    if ((body.get('maxTimeMS') ?? null) !== null && !cursor.awaitsData) {
      await context.cursors.release(id, cursor);
      throw new MongoError(
        'BadValue',
        'cannot set maxTimeMS on getMore command for a non-awaitData cursor',
      );
    }
    if (cursor.isAlive?.() === false) {
      await context.cursors.release(id, cursor);
      await context.cursors.kill(id);
      throw new MongoError('QueryPlanKilled', 'collection dropped between getMore calls');
    }
    const bodies = await readBatch(call, cursor, id);
    const next = await context.cursors.release(id, cursor);
    call.hasMoreReplies = call.allowsExhaust && next !== 0n;
    const { resumeToken } = cursor;
    return batchReply({ name: 'nextBatch', id: next, namespace, bodies, resumeToken });
  },
};

async function readBatch(call: Call, cursor: OpenCursor, id: bigint): Promise<readonly Bytes[]> {
  const { context, args, body, connection, meter } = call;
  const before = cursor.meter.charge;
  const timeMs = maxTimeMs(body);
  cursor.meter.operation = meter.operation;
  cursor.meter.resume();
  if (cursor instanceof LiveCursor) cursor.reader = connection;
  const size = args.optionalCount('batchSize') || Number.POSITIVE_INFINITY;
  try {
    const code = context.failPoints?.getMoreFailure();
    if (code !== undefined)
      throw new MongoError(mongoCodeOf(code), 'getMore was made to fail', {
        labels: RESUMABLE.has(code) && cursor.resumeToken !== undefined ? [RESUMABLE_LABEL] : [],
      });
    if (Number.isFinite(cursor.meter.deadlineMs)) refuseTime(context);
    return await cursor.next(size, timeMs ?? AWAIT_MS);
  } catch (error) {
    cursor.isBusy = false;
    await context.cursors.kill(id);
    throw error;
  } finally {
    meter.charge += cursor.meter.charge - before;
    cursor.meter.operation = undefined;
    cursor.meter.pause();
  }
}
