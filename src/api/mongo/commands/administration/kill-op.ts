/** Ends an operation at its next step. */
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { ok } from '../../reply.ts';

export const killOp: Command = {
  needs: 'write',
  isAdminOnly: true,
  run({ context: { operations }, body }) {
    const sent = body.get('op');
    if (sent === undefined) throw new MongoError('NoSuchKey', 'Missing expected field "op"');
    if (!isNumber(sent))
      throw new MongoError('TypeMismatch', 'Expected field "op" to have numeric type');
    const id = doubleOf(sent);
    if (!Number.isInteger(id))
      throw new MongoError(
        'BadValue',
        'Expected field "op" to have a value exactly representable as a 64-bit integer',
      );
    if (Math.abs(id) >= 2 ** 31)
      throw new MongoError(
        'Location26823',
        `invalid op : ${id}. Op ID cannot be represented with 32 bits`,
      );
    operations.kill(id);
    return ok({ info: 'attempting to kill op' });
  },
};
