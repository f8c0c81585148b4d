/** Closes cursors. */
import type { Command } from '../../call.ts';
import { namespaceOf } from '../../collections/target.ts';
import { wrongType } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';

export const killCursors: Command = {
  needs: 'read',
  fields: { cursors: 'array!' },
  async run(call) {
    const { cursors } = call.context;
    // The name is checked and not compared: an id is enough to close a cursor.
    namespaceOf(call);
    const ids: bigint[] = [];
    for (const [at, sent] of (call.args.optionalList('cursors') ?? []).entries()) {
      if (sent === null) continue;
      if (typeof sent !== 'bigint') throw wrongType(`killCursors.cursors.${at}`, sent, 'long');
      ids.push(sent);
    }
    const killed: bigint[] = [];
    const notFound: bigint[] = [];
    for (const id of ids) ((await cursors.kill(id)) ? killed : notFound).push(id);
    return ok({
      cursorsKilled: killed,
      cursorsNotFound: notFound,
      cursorsAlive: [],
      cursorsUnknown: [],
    });
  },
};
