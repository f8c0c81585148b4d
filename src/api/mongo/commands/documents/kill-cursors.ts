/** Closes cursors. */
import type { Command } from '../../call.ts';
import { namespaceText, parseNamespace } from '../../collections/namespace.ts';
import { wrongType } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';

export const killCursors: Command = {
  needs: 'read',
  fields: { cursors: 'array!' },
  async run({ context: { cursors }, args, database, name }) {
    const collection = args.text(name);
    const namespace = collection.startsWith('$cmd.')
      ? `${database}.${collection}`
      : namespaceText(parseNamespace(database, collection));
    const ids = (args.optionalList('cursors') ?? []).map((sent, at) => {
      if (typeof sent !== 'bigint') throw wrongType(`killCursors.cursors.${at}`, sent, 'long');
      return sent;
    });
    const killed: bigint[] = [];
    const notFound: bigint[] = [];
    for (const id of ids) {
      const isHere = cursors.namespaceOf(id) === namespace;
      (isHere && (await cursors.kill(id)) ? killed : notFound).push(id);
    }
    return ok({
      cursorsKilled: killed,
      cursorsNotFound: notFound,
      cursorsAlive: [],
      cursorsUnknown: [],
    });
  },
};
