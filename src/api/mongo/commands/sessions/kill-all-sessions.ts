/** Ends the sessions of users; an empty list means all. */
import { type Bson, isDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { checkFields, missingField, wrongType } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';
import { closeSession } from './session-list.ts';

export const killAllSessions: Command = {
  needs: 'write',
  async run(call) {
    const { name, body, context } = call;
    const sent = body.get(name);
    if ((sent ?? null) === null) throw missingField(name, name);
    if (!Array.isArray(sent)) throw wrongType(`${name}.${name}`, sent as Bson, 'array');
    const users = sent.flatMap((user: Bson, at) => {
      if (user === null) return [];
      if (!isDocument(user)) throw wrongType(`${name}.${name}.${at}`, user, 'object');
      checkFields(`${name}.${name}`, user, { user: 'string!', db: 'string!' }, false);
      return [user.get('user')];
    });
    for (const { id, user } of context.sessions.list())
      if (users.length === 0 || users.includes(user)) await closeSession(call, id);
    return ok();
  },
};
