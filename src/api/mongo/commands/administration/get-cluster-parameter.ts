/** Shows settings that all servers of a cluster share: one, several or all. */
import { type Bson, isArray } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { wrongType } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';

export const getClusterParameter: Command = {
  needs: 'read',
  isAdminOnly: true,
  run({ body, name, context: { clusterParameters } }) {
    const sent = body.get(name) ?? null;
    const names = sent === '*' ? clusterParameters.names : namesIn(sent);
    return ok({ clusterParameters: names.map((each) => clusterParameters.get(each)) });
  },
};

function namesIn(sent: Bson): readonly string[] {
  const path = 'getClusterParameter.getClusterParameter';
  if (typeof sent === 'string') return [sent];
  if (!isArray(sent)) throw wrongType(path, sent, '[string, array]');
  if (sent.length === 0)
    throw new MongoError('BadValue', 'Must supply at least one cluster server parameter name');
  return sent.map((each, at) => {
    if (typeof each === 'string') return each;
    throw wrongType(`${path}.${at}`, each, 'string');
  });
}
