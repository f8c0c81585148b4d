/** The collections that a stream is about: one, those of a database, or all. */
import type { Service } from '../../../service/index.ts';
import {
  type Collection,
  collectionsOf,
  findCollection,
  isView,
} from '../collections/collection.ts';
import { MongoError } from '../errors.ts';
import type { StreamOptions } from './options.ts';
import { INTERNAL_DATABASES } from './schema-events.ts';

export function watchedCollections(
  service: Service,
  { database, collection }: StreamOptions,
): readonly Collection[] {
  if (database !== undefined && collection !== undefined) {
    const found = findCollection(service, { database, collection });
    if (found !== undefined && isView(found))
      throw new MongoError(
        'CommandNotSupportedOnView',
        `Namespace ${database}.${collection} is a view, not a collection`,
      );
    return found === undefined ? [] : [found];
  }
  const databases =
    database === undefined
      ? service.databases
          .list()
          .map(({ id }) => id)
          .filter((id) => !INTERNAL_DATABASES.has(id))
      : [database];
  return databases
    .flatMap((id) => collectionsOf(service, id))
    .filter((each) => !isView(each) && !each.namespace.collection.startsWith('system.'));
}
