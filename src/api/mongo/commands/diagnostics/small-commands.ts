/** Commands with an answer of a few fields. */

import { isNumber } from '../../bson/arithmetic.ts';
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { wrongType } from '../../fields/field-table.ts';
import { documentOf, ok } from '../../reply.ts';
import { isTrue } from '../documents/statement-fields.ts';

export const getCmdLineOpts: Command = {
  needs: 'read',
  isAdminOnly: true,
  fields: {},
  run: () => ok({ argv: ['mesocosm'], parsed: documentOf({}) }),
};

export const connPoolStats: Command = {
  needs: 'read',
  run: () =>
    ok({
      numClientConnections: 0,
      numAScopedConnections: 0,
      totalInUse: 0,
      totalAvailable: 0,
      totalLeased: 0,
      totalCreated: 0,
      totalRefreshing: 0,
      totalRefreshed: 0,
      pools: documentOf({}),
      hosts: documentOf({}),
      replicaSets: documentOf({}),
    }),
};

export const lockInfo: Command = {
  needs: 'read',
  isAdminOnly: true,
  fields: {},
  run: () => ok({ lockInfo: [] }),
};

export const fsync: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: {
    lock: 'flag',
    async: 'flag',
    fsyncLockAcquisitionTimeoutMillis: 'int32',
    forBackup: 'flag',
  },
  /** Every acknowledged write is on disk already. */
  run({ args, context }) {
    if (!isTrue(args.get('lock'))) return ok({ numFiles: 1 });
    return ok({
      info: 'now locked against writes, use db.fsyncUnlock() to unlock',
      lockCount: BigInt(context.writeLock.lock()),
      seeAlso: 'http://dochub.mongodb.org/core/fsynccommand',
    });
  },
};

export const fsyncUnlock: Command = {
  needs: 'write',
  isAdminOnly: true,
  run({ context }) {
    const lockCount = BigInt(context.writeLock.unlock());
    context.activity.notify();
    return ok({ info: 'fsyncUnlock completed', lockCount });
  },
};

/** The log goes to the output of the process: there is no file to close. */
export const logRotate: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: {},
  run({ body, name }) {
    const sent = body.get(name) ?? null;
    if (typeof sent !== 'string' && typeof sent !== 'boolean' && !isNumber(sent))
      throw wrongType(`${name}.${name}`, sent, '[bool, string, int, long, double, decimal]');
    if (typeof sent === 'string' && sent !== 'server')
      throw new MongoError('NoSuchKey', `Unknown log type: ${sent}`);
    return ok();
  },
};
