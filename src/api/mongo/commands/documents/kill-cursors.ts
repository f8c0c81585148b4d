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
    const killed: bigint[] = [];
    const notFound: bigint[] = [];
    for (const [at, sent] of (call.args.optionalList('cursors') ?? []).entries()) {
      if (sent === null) continue;
      if (typeof sent !== 'bigint') throw wrongType(`killCursors.cursors.${at}`, sent, 'long');
      ((await cursors.kill(sent)) ? killed : notFound).push(sent);
    }
    return ok({
      cursorsKilled: killed,
      cursorsNotFound: notFound,
      cursorsAlive: [],
      cursorsUnknown: [],
    });
  },
};
