/** The profiler's level for each database. Nothing is recorded: request metrics do that. */
import { type Bson, type BsonDocument, Double, isDocument } from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { missingField, wrongType } from '../../fields/field-table.ts';
import { wholeOf } from '../../fields/numbers.ts';
import { ok } from '../../reply.ts';

export const profile: Command = {
  needs: 'read',
  fields: { slowms: 'long', sampleRate: 'long', filter: 'any' },
  run({ body, name, context: { profiler }, database }) {
    const sent = body.get(name) ?? null;
    if (sent === null) throw missingField(name, name);
    if (!isNumber(sent)) throw wrongType(`${name}.${name}`, sent, 'int');
    const level = Math.trunc(doubleOf(sent));
    const filter = body.get('filter');
    checkFilter(filter);
    const rate = numberIn(body.get('sampleRate'));
    if (rate !== undefined && !(rate >= 0 && rate <= 1))
      throw new MongoError('BadValue', "'sampleRate' must be between 0.0 and 1.0 inclusive");
    const before = profiler.of(database);
    const reply = ok({
      was: before.level,
      slowms: profiler.slowMs,
      sampleRate: new Double(profiler.sampleRate),
      ...(before.filter === undefined ? {} : { filter: before.filter, note: NOTE }),
    });
    profiler.slowMs = whole(body.get('slowms')) ?? profiler.slowMs;
    profiler.sampleRate = rate ?? profiler.sampleRate;
    profiler.set(database, {
      level: level >= 0 && level <= 2 ? level : before.level,
      filter: filter === 'unset' ? undefined : isDocument(filter) ? normal(filter) : before.filter,
    });
    return reply;
  },
};

const NOTE =
  'When a filter expression is set, slowms and sampleRate are not used for profiling and slow-query log lines.';

function numberIn(sent: Bson | undefined): number | undefined {
  return isNumber(sent) ? doubleOf(sent as Bson) : undefined;
}

function whole(sent: Bson | undefined): number | undefined {
  return isNumber(sent) ? wholeOf(sent as Bson) : undefined;
}

/** A value stands for a comparison with it. */
function normal(filter: BsonDocument): BsonDocument {
  return new Map(
    [...filter].map(([name, value]) => [
      name,
      name.startsWith('$') || isDocument(value) ? value : new Map([['$eq', value]]),
    ]),
  );
}

function checkFilter(filter: Bson | undefined): void {
  if (filter === undefined || isDocument(filter) || filter === 'unset') return;
  throw new MongoError('BadValue', "Expected an object, or the string 'unset'.");
}
