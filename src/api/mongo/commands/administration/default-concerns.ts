/** The concerns of commands that name none: kept for this process, and shown. */
import { type Bson, type BsonDocument, Extended, isDocument } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import { timestampOf } from '../../cluster-clock.ts';
import { MongoError } from '../../errors.ts';
import { checkReadConcern, checkWriteConcern } from '../../fields/concerns.ts';
import { documentOf, ok } from '../../reply.ts';

const KEY = 'defaultConcerns';

export const getDefaultRWConcern: Command = {
  needs: 'read',
  isAdminOnly: true,
  fields: { inMemory: 'bool' },
  run(call) {
    checkReplicated(call);
    return ok({
      ...current(call),
      localUpdateWallClockTime: nowOf(call),
      ...(call.args.flag('inMemory') ? { inMemory: true } : {}),
    });
  },
};

export const setDefaultRWConcern: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: { defaultReadConcern: 'object', defaultWriteConcern: 'object' },
  run(call) {
    const { body, context } = call;
    checkReplicated(call);
    const [read, write] = [
      body.get('defaultReadConcern') ?? undefined,
      body.get('defaultWriteConcern') ?? undefined,
    ];
    if (read === undefined && write === undefined)
      throw new MongoError(
        'BadValue',
        'At least one of the "defaultReadConcern" or "defaultWriteConcern" fields must be present',
      );
    const old = current(call);
    const changed: Record<string, Bson> = { ...old };
    if (isDocument(read)) {
      checkRead(read, call);
      if (read.size === 0) delete changed.defaultReadConcern;
      else changed.defaultReadConcern = read;
      changed.defaultReadConcernSource = read.size === 0 ? 'implicit' : 'global';
      if (read.size === 0) changed.defaultReadConcern = documentOf({ level: 'local' });
    }
    if (isDocument(write)) {
      checkWrite(write, call);
      changed.defaultWriteConcern = documentOf({
        w: 'majority',
        wtimeout: 0,
        ...Object.fromEntries(write),
      });
      changed.defaultWriteConcernSource = 'global';
    }
    changed.updateOpTime = timestampOf(context.clusterClock.tick());
    changed.updateWallClockTime = nowOf(call);
    context.parameters[KEY] = documentOf(changed);
    return ok({ ...changed, localUpdateWallClockTime: nowOf(call) });
  },
};

function current({ context }: Call): Readonly<Record<string, Bson>> {
  const stored = context.parameters[KEY];
  if (isDocument(stored)) return Object.fromEntries(stored);
  return {
    defaultReadConcern: documentOf({ level: 'local' }),
    defaultWriteConcern: documentOf({ w: 'majority', wtimeout: 0 }),
    defaultWriteConcernSource: 'implicit',
    defaultReadConcernSource: 'implicit',
  };
}

function checkReplicated({ context, name }: Call): void {
  if (context.topology === 'standalone')
    throw new MongoError('Location51300', `'${name}' is not supported on standalone nodes.`);
}

function checkRead(read: BsonDocument, { context }: Call): void {
  checkReadConcern('find', new Map([['readConcern', read]]), context.topology);
  const level = read.get('level');
  if (read.size > 0 && level === undefined)
    throw new MongoError('BadValue', 'Default read concern must have a level');
  if (level === 'linearizable' || level === 'snapshot')
    throw new MongoError(
      'BadValue',
      `level: '${level}' is not suitable for the default read concern`,
    );
  for (const field of read.keys())
    if (field !== 'level' && field !== 'provenance')
      throw new MongoError('BadValue', `${field} is not suitable for the default read concern`);
}

function checkWrite(write: BsonDocument, { context }: Call): void {
  if (write.size === 0) {
    if (
      isDocument(context.parameters[KEY]) &&
      current({ context } as Call).defaultWriteConcernSource === 'global'
    )
      throw new MongoError(
        'IllegalOperation',
        'The global default write concern cannot be unset once it is set.',
      );
    return;
  }
  checkWriteConcern('insert', new Map([['writeConcern', write]]), 'replica-set');
  const w = write.get('w');
  if (w === 0 || w === 0n)
    throw new MongoError(
      'BadValue',
      'Unacknowledged write concern is not suitable for the default write concern',
    );
}

function nowOf({ context }: Call): Extended {
  return new Extended({ kind: 'date', ms: context.service.clock.nowMs() });
}
