/** The sessions that a command names, in hexadecimal. */
import { toHex } from '../../../../base/index.ts';
import { type Bson, type BsonDocument, isDocument } from '../../../../value/index.ts';
import type { Call } from '../../call.ts';
import { missingField, wrongType } from '../../fields/field-table.ts';
import { checkLsid } from '../../fields/generic-checks.ts';
import { sessionOf } from '../../sessions/retryable-write.ts';

export function sessionIdsOf(call: Call): readonly string[] {
  const { name, body } = call;
  const sent = body.get(name);
  if ((sent ?? null) === null) throw missingField(name, name);
  if (!Array.isArray(sent)) throw wrongType(`${name}.${name}`, sent as Bson, 'array');
  return sent.flatMap((lsid: Bson, at) => {
    if (lsid === null) return [];
    if (!isDocument(lsid)) throw wrongType(`${name}.${name}.${at}`, lsid, 'object');
    checkLsid(lsid, `${name}.${name}`);
    return [idOf(lsid)];
  });
}

function idOf(lsid: BsonDocument): string {
  return toHex(sessionOf(new Map([['lsid', lsid]])) as Uint8Array);
}

/** Ends transactions and cursors of a session. */
export async function closeSession({ context }: Call, id: string): Promise<void> {
  context.sessions.end(id);
  await context.transactions.endSession(id);
  await context.cursors.killOfSession(id);
}
