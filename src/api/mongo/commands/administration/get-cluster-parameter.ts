/** Settings that all servers of a cluster share. They are what this server does, and cannot be set. */
import { type Bson, type BsonDocument, isArray } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { wrongType } from '../../fields/field-table.ts';
import { documentOf, ok } from '../../reply.ts';

const PARAMETERS: Readonly<Record<string, BsonDocument>> = {
  // Images before and after a change go with the versions that they are made of.
  changeStreamOptions: documentOf({
    preAndPostImages: documentOf({ expireAfterSeconds: 'off' }),
  }),
  defaultMaxTimeMS: documentOf({ readOperations: 0n }),
  fleDisableSubstringPreviewParameterLimits: documentOf({ shouldDisableLimits: false }),
};

export const getClusterParameter: Command = {
  needs: 'read',
  isAdminOnly: true,
  run({ body, name }) {
    const names = namesIn(body.get(name) ?? null);
    return ok({ clusterParameters: names.map(parameter) });
  },
};

function namesIn(sent: Bson): readonly string[] {
  const path = 'getClusterParameter.getClusterParameter';
  if (sent === '*') return Object.keys(PARAMETERS);
  if (typeof sent === 'string') return [sent];
  if (!isArray(sent)) throw wrongType(path, sent, '[string, array]');
  if (sent.length === 0)
    throw new MongoError('BadValue', 'Must supply at least one cluster server parameter name');
  return sent.map((each, at) => {
    if (typeof each === 'string') return each;
    throw wrongType(`${path}.${at}`, each, 'string');
  });
}

function parameter(name: string): BsonDocument {
  const known = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
  if (known === undefined) throw new MongoError('NoSuchKey', `Unknown server parameter: ${name}`);
  return new Map<string, Bson>([['_id', name], ...known]);
}
