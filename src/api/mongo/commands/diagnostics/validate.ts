/** Checks a collection: documents are readable, and counts agree. */
import { ANYTHING } from '../../../../query/index.ts';
import type { Bson } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { collectionUuid } from '../../collections/collection-uuid.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { existingCollection } from '../../collections/target.ts';
import { MongoError } from '../../errors.ts';
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { documentOf, ok } from '../../reply.ts';

export const validate: Command = {
  needs: 'write',
  fields: {
    full: 'flag',
    repair: 'flag',
    metadata: 'flag',
    checkBSONConformance: 'flag',
    fixMultikey: 'flag',
    background: 'flag',
    enforceFastCount: 'flag',
    collHash: 'flag',
    hashPrefixes: 'array',
    unrevealHashedIds: 'array',
    atClusterTime: 'timestamp',
    wiredTigerVerify: 'any',
  },
  async run(call) {
    const { args, store } = call;
    const collection = existingCollection(call);
    checkCombinations(call.args);
    const isMetadata = args.flag('metadata');
    let count = 0;
    if (!isMetadata)
      for await (const batch of store.find(collection, {
        partitionKey: undefined,
        condition: ANYTHING,
        test: undefined,
      }))
        for (const row of batch) if (row.document.has('_id')) count += 1;
    const names = ['_id_', ...declaredIndexes(collection).map(({ name }) => name)];
    const counts: Record<string, Bson> = isMetadata
      ? {}
      : { nInvalidDocuments: 0n, nNonCompliantDocuments: 0n, nrecords: count };
    return ok({
      ns: namespaceText(collection.namespace),
      uuid: collectionUuid(collection.container),
      ...counts,
      nIndexes: names.length,
      keysPerIndex: new Map(names.map((name) => [name, count])),
      indexDetails: new Map(names.map((name) => [name, documentOf({ valid: true })])),
      valid: true,
      repaired: false,
      warnings: [],
      errors: [],
      extraIndexEntries: [],
      missingIndexEntries: [],
      corruptRecords: [],
    });
  },
};

function checkCombinations(args: { flag(name: string): boolean }): void {
  const both = (one: string, other: string): void => {
    if (args.flag(one) && args.flag(other))
      throw new MongoError(
        'InvalidOptions',
        `Running the validate command with both { ${one}: true } and { ${other}: true } is not supported.`,
      );
  };
  both('background', 'full');
  both('background', 'enforceFastCount');
  both('background', 'repair');
  both('enforceFastCount', 'repair');
  for (const other of [
    'full',
    'repair',
    'checkBSONConformance',
    'background',
    'enforceFastCount',
    'fixMultikey',
  ])
    both('metadata', other);
}
