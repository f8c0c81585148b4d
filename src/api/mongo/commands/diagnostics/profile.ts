/** The profiler's level for each database. Nothing is recorded: request metrics do that. */
import { type Bson, Double, isDocument } from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { missingField, wrongType } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';

const SLOW_MS = 100;

export const profile: Command = {
  needs: 'read',
  fields: { slowms: 'long', sampleRate: 'long', filter: 'any' },
  run({ body, name, context, database }) {
    const sent = body.get(name) ?? null;
    if (sent === null) throw missingField(name, name);
    if (!isNumber(sent)) throw wrongType(`${name}.${name}`, sent, 'int');
    const level = Math.trunc(doubleOf(sent));
    checkFilter(body.get('filter'));
    const rate = body.get('sampleRate');
    if (rate !== undefined && isNumber(rate) && !(doubleOf(rate) >= 0 && doubleOf(rate) <= 1))
      throw new MongoError('BadValue', "'sampleRate' must be between 0.0 and 1.0 inclusive");
    const was = context.profileLevels.get(database) ?? 0;
    if (level >= 0 && level <= 2) context.profileLevels.set(database, level);
    return ok({ was, slowms: SLOW_MS, sampleRate: new Double(1) });
  },
};

function checkFilter(filter: Bson | undefined): void {
  if (filter === undefined || isDocument(filter) || filter === 'unset') return;
  throw new MongoError('BadValue', "Expected an object, or the string 'unset'.");
}
