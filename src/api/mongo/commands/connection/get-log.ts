/** The log is not kept in memory: there are no lines to show. Shells ask for the warnings of the start. */
import { bsonTypeOf } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { missingField } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';

const NAMES = ['global', 'startupWarnings'];

export const getLog: Command = {
  needs: 'read',
  isAdminOnly: true,
  fields: {},
  run({ body }) {
    const name = body.get('getLog') ?? null;
    if (name === null) throw missingField('getLog', 'getLog');
    if (typeof name !== 'string')
      throw new MongoError(
        'TypeMismatch',
        `Argument to getLog must be of type String; found ${bsonTypeOf(name)}`,
      );
    if (name === '*') return ok({ names: NAMES });
    if (!NAMES.includes(name)) throw new MongoError('OperationFailed', `No log named '${name}'`);
    return ok({ totalLinesWritten: 0, log: [] });
  },
};
