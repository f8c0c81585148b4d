/** Ends the sessions that a pattern matches; an empty list means all. */
import { toHex } from '../../../../base/index.ts';
import { type Bson, isDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { checkFields, wrongType } from '../../fields/field-table.ts';
import { checkLsid } from '../../fields/generic-checks.ts';
import { ok } from '../../reply.ts';
import { sessionOf } from '../../sessions/retryable-write.ts';
import { closeSession } from './session-list.ts';

export const killAllSessionsByPattern: Command = {
  needs: 'write',
  fields: {},
  async run(call) {
    const { name, body, context } = call;
    const sent = body.get(name);
    if (!Array.isArray(sent)) throw wrongType(`${name}.${name}`, sent as Bson, 'array');
    const ids = new Set<string>();
    let isAll = sent.length === 0;
    for (const [at, pattern] of sent.entries()) {
      const id = idIn(name, pattern, at);
      if (id === undefined) isAll = true;
      else ids.add(id);
    }
    for (const { id } of context.sessions.list())
      if (isAll || ids.has(id)) await closeSession(call, id);
    return ok();
  },
};

function idIn(name: string, pattern: Bson, at: number): string | undefined {
  if (!isDocument(pattern)) throw wrongType(`${name}.${name}.${at}`, pattern, 'object');
  checkFields(
    `${name}.${name}`,
    pattern,
    { lsid: 'object', uid: 'uuid', users: 'array', roles: 'array' },
    false,
  );
  const lsid = pattern.get('lsid');
  if (!isDocument(lsid)) return undefined;
  checkLsid(lsid, `${name}.${name}.lsid`);
  return toHex(sessionOf(pattern) as Uint8Array);
}
