/** The indexes of a collection. */
import type { Bson, BsonDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { openList } from '../../cursors/open-list.ts';
import { MongoError } from '../../errors.ts';
import { listedIndexes } from '../../indexes/listed-indexes.ts';
import { isHiddenFrom } from '../../sessions/hidden-collections.ts';

export const listIndexes: Command = {
  needs: 'read',
  fields: { cursor: 'object', includeBuildUUIDs: 'flag', includeIndexBuildInfo: 'flag' },
  run(call) {
    const { context, args } = call;
    const namespace = namespaceOf(call);
    if (args.flag('includeBuildUUIDs') && args.flag('includeIndexBuildInfo'))
      throw new MongoError(
        'InvalidOptions',
        'includeBuildUUIDs and includeIndexBuildInfo cannot both be set to true.',
      );
    const collection = findCollection(context.service, namespace);
    if (collection === undefined || isHiddenFrom(call, collection))
      throw new MongoError('NamespaceNotFound', `ns does not exist: ${namespaceText(namespace)}`);
    const specs = listedIndexes(collection);
    const isWrapped = args.flag('includeIndexBuildInfo');
    const shown = isWrapped
      ? specs.map((spec) => new Map<string, Bson>([['spec', spec]]) as BsonDocument)
      : specs;
    return openList(call, namespaceText(namespace), shown);
  },
};
