/** Documents about the server and its collections, for stages such as `$collStats`. */
import { createHash } from 'node:crypto';
import {
  type Bson,
  type BsonDocument,
  Extended,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import type { Call } from '../../call.ts';
import { collectionsOf, findCollection } from '../../collections/collection.ts';
import { type Namespace, namespaceText } from '../../collections/namespace.ts';
import { runningOperations } from '../../commands/administration/current-op.ts';
import { typeOf } from '../../commands/collections/list-collections.ts';
import { describeSettings } from '../../commands/planning/query-settings.ts';
import { MongoError } from '../../errors.ts';
import { ID_INDEX_ID } from '../../indexes/chosen-index.ts';
import { declaredIndexes, ID_INDEX } from '../../indexes/index-spec.ts';
import type { DescribedKind } from '../stages/stage.ts';
import { collStats, HOST } from './coll-stats.ts';

export async function describe(
  call: Call,
  kind: DescribedKind,
  options: BsonDocument,
  namespace: Namespace,
): Promise<readonly BsonDocument[]> {
  switch (kind) {
    case 'collStats':
      return [await collStats(call, options, namespace)];
    case 'indexStats':
      return indexStats(call, namespace);
    case 'listCatalog':
      return collectionsOf(call.context.service, namespace.database).map(
        ({ namespace: own }): BsonDocument =>
          new Map<string, Bson>([
            ['db', own.database],
            ['name', own.collection],
            ['type', 'collection'],
            ['ns', namespaceText(own)],
          ]),
      );
    case 'currentOp':
      return runningOperations(call);
    case 'clusterCatalog':
      return clusterCatalog(call, namespace);
    case 'planCacheStats':
      if (findCollection(call.context.service, namespace) === undefined)
        throw new MongoError(
          'Location50933',
          `collection '${namespaceText(namespace)}' does not exist`,
        );
      return [];
    case 'querySettings':
      return call.context.querySettings.list().map(describeSettings);
    case 'listSessions':
      return listSessions(call, options);
    default:
      return [];
  }
}

/** The sessions of the caller, of the users that are named, or of all. */
function listSessions(call: Call, options: BsonDocument): readonly BsonDocument[] {
  const named = options.get('users');
  const users = isArray(named)
    ? named.filter(isDocument).map((user) => String(user.get('user')))
    : [call.connection.user];
  const isEverybody = options.get('allUsers') === true;
  return call.context.sessions
    .list()
    .filter(({ user }) => isEverybody || users.includes(user))
    .map(
      ({ id, user, usedMs }): BsonDocument =>
        new Map<string, Bson>([
          [
            '_id',
            new Map<string, Bson>([
              ['id', bytesOf(Buffer.from(id, 'hex'), 4)],
              ['uid', bytesOf(createHash('sha256').update(user).digest(), 0)],
            ]),
          ],
          ['lastUse', new Extended({ kind: 'date', ms: Math.trunc(usedMs) })],
        ]),
    );
}

function bytesOf(bytes: Uint8Array, subtype: number): Extended {
  return new Extended({ kind: 'binary', bytes: new Uint8Array(bytes), subtype });
}

/** The collections of a database, or of all. */
function clusterCatalog(call: Call, { database }: Namespace): readonly BsonDocument[] {
  const { service } = call.context;
  const names = database === 'admin' ? service.databases.list().map(({ id }) => id) : [database];
  return names
    .flatMap((name) => collectionsOf(service, name))
    .map((collection): BsonDocument => {
      const type = typeOf(collection);
      const made = new Map<string, Bson>([
        ['db', collection.namespace.database],
        ['ns', namespaceText(collection.namespace)],
        ['type', type],
        ['options', collection.options],
        ['info', new Map([['readOnly', type === 'view']])],
      ]);
      if (type !== 'view') made.set('idIndex', ID_INDEX);
      return made.set('sharded', collection.shardKey !== undefined);
    });
}

function indexStats(call: Call, namespace: Namespace): readonly BsonDocument[] {
  const collection = findCollection(call.context.service, namespace);
  if (collection === undefined) return [];
  const ofId = { id: ID_INDEX_ID, spec: ID_INDEX };
  return [ofId, ...declaredIndexes(collection)].map(({ id, spec }): BsonDocument => {
    const { ops, sinceMs } = call.context.indexUse.of(collection.container, id);
    return new Map<string, Bson>([
      ['name', spec.get('name') as Bson],
      ['key', spec.get('key') as Bson],
      ['host', HOST],
      [
        'accesses',
        new Map<string, Bson>([
          ['ops', BigInt(ops)],
          ['since', new Extended({ kind: 'date', ms: Math.trunc(sinceMs) })],
        ]),
      ],
      ['spec', spec],
    ]);
  });
}
