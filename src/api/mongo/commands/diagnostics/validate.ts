/** Checks a collection: documents are readable, and counts agree. Unknown fields are ignored, as in MongoDB. */
import { ANYTHING } from '../../../../query/index.ts';
import type { Bson } from '../../../../value/index.ts';
import type { Arguments } from '../../bson/arguments.ts';
import type { Command } from '../../call.ts';
import { collectionUuid } from '../../collections/collection-uuid.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { existingCollection } from '../../collections/target.ts';
import { MongoError } from '../../errors.ts';
import { indexName, listedIndexes } from '../../indexes/listed-indexes.ts';
import { documentOf, ok } from '../../reply.ts';
import { isTrue } from '../documents/statement-fields.ts';

export const validate: Command = {
  needs: 'write',
  async run(call) {
    const { args, store } = call;
    const collection = existingCollection(call);
    checkCombinations(call.args);
    const isMetadata = isTrue(args.get('metadata'));
    let count = 0;
    if (!isMetadata)
      for await (const batch of store.find(collection, {
        partitionKey: undefined,
        condition: ANYTHING,
        test: undefined,
      }))
        for (const row of batch) if (row.document.has('_id')) count += 1;
    const specs = listedIndexes(collection);
    const names = specs.map(indexName);
    const counts: Record<string, Bson> = isMetadata
      ? {}
      : { nInvalidDocuments: 0, nNonCompliantDocuments: 0, nrecords: count };
    return ok({
      ns: namespaceText(collection.namespace),
      uuid: collectionUuid(collection.container),
      ...counts,
      nIndexes: names.length,
      keysPerIndex: new Map(names.map((name) => [name, count])),
      indexDetails: new Map(
        specs.map((spec) => [indexName(spec), documentOf({ valid: true, spec })]),
      ),
      valid: true,
      repaired: false,
      repairMode: 'None',
      warnings: [],
      errors: [],
      extraIndexEntries: [],
      missingIndexEntries: [],
      corruptRecords: [],
    });
  },
};

function checkCombinations(args: Arguments): void {
  const both = (one: string, other: string): void => {
    if (isTrue(args.get(one)) && isTrue(args.get(other)))
      throw new MongoError(
        'InvalidOptions',
        `Running the validate command with both { ${one}: true } and { ${other}: true } is not supported.`,
      );
  };
  both('background', 'full');
  both('background', 'enforceFastCount');
  both('background', 'repair');
  both('enforceFastCount', 'repair');
  both('checkBSONConformance', 'repair');
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
