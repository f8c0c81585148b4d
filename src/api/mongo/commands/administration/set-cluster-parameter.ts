/** Sets one setting that all servers of a cluster share. Unknown fields are ignored, as in MongoDB. */
import { Extended, isDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { missingField, wrongType } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';

export const setClusterParameter: Command = {
  needs: 'write',
  isAdminOnly: true,
  run({ body, name, context: { clusterClock, clusterParameters } }) {
    const sent = body.get(name) ?? null;
    if (sent === null) throw missingField(name, name);
    if (!isDocument(sent)) throw wrongType(`${name}.${name}`, sent, 'object');
    if (sent.size > 1)
      throw new MongoError('InvalidOptions', `${name} only supports setting exactly one parameter`);
    const [[parameter, value] = ['', null]] = sent;
    const { high, low } = clusterClock.time;
    clusterParameters.set(parameter, value, new Extended({ kind: 'timestamp', high, low }));
    return ok();
  },
};
