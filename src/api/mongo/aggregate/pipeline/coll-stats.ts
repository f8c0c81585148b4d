/** The document of `$collStats`: what is known of one collection, or of the name of one. */
import { type Bson, type BsonDocument, Extended, isDocument } from '../../../../value/index.ts';
import type { Call } from '../../call.ts';
import {
  type Collection,
  findCollection,
  isTimeSeries,
  isView,
} from '../../collections/collection.ts';
import { type Namespace, namespaceText } from '../../collections/namespace.ts';
import { collectionSizes } from '../../diagnostics/sizes.ts';
import { collectionStatistics } from '../../diagnostics/statistics.ts';
import { sumOf, type Usage } from '../../diagnostics/usage.ts';
import { MongoError } from '../../errors.ts';
import { numberBson, wholeOf } from '../../fields/numbers.ts';

/** The name that the server has in documents about itself. */
export const HOST = 'localhost';

export async function collStats(
  call: Call,
  options: BsonDocument,
  namespace: Namespace,
): Promise<BsonDocument> {
  const found = findCollection(call.context.service, namespace);
  const asked = (name: string): BsonDocument | undefined => {
    const value = options.get(name);
    return isDocument(value) ? value : undefined;
  };
  const stored = (name: string): Collection => requireStored(found, namespace, name);
  const made = new Map<string, Bson>([
    ['ns', namespaceText(namespace)],
    ['host', HOST],
    ['localTime', new Extended({ kind: 'date', ms: Math.trunc(call.store.nowMs()) })],
  ]);
  const latency = asked('latencyStats');
  if (latency !== undefined)
    made.set('latencyStats', latencies(call, namespace, latency.get('histograms') === true));
  const storage = asked('storageStats');
  if (storage !== undefined)
    made.set('storageStats', await storageStats(call, stored('storageStats'), storage));
  if (asked('count') !== undefined)
    made.set(
      'count',
      numberBson((await collectionSizes(call.context.service, stored('count'))).count),
    );
  if (asked('queryExecStats') !== undefined) {
    stored('queryExecStats');
    const scans = new Map<string, Bson>([
      ['total', 0n],
      ['nonTailable', 0n],
    ]);
    made.set('queryExecStats', new Map([['collectionScans', scans]]));
  }
  return made;
}

function requireStored(
  collection: Collection | undefined,
  namespace: Namespace,
  option: string,
): Collection {
  const text = namespaceText(namespace);
  if (collection === undefined)
    throw new MongoError(
      'NamespaceNotFound',
      `Unable to retrieve ${option} in $collStats stage :: caused by :: Collection [${text}] not found.`,
    );
  if (isView(collection))
    throw new MongoError(
      'CommandNotSupportedOnView',
      `Unable to retrieve ${option} in $collStats stage :: caused by :: ${text} is a view, not a collection`,
    );
  return collection;
}

function latencies(call: Call, namespace: Namespace, hasHistograms: boolean): BsonDocument {
  const { database, collection } = namespace;
  const usage = call.context.operations.usage.of(database, collection);
  const figures = (...parts: readonly (Usage | undefined)[]): BsonDocument => {
    const { count, timeUs } = sumOf(...parts.filter((part) => part !== undefined));
    const made = new Map<string, Bson>();
    if (hasHistograms) made.set('histogram', []);
    return made
      .set('latency', BigInt(timeUs))
      .set('ops', BigInt(count))
      .set('queryableEncryptionLatencyMicros', 0n);
  };
  return new Map([
    ['reads', figures(usage?.queries, usage?.getmore)],
    ['writes', figures(usage?.insert, usage?.update, usage?.remove)],
    ['commands', figures(usage?.commands)],
    ['transactions', figures()],
  ]);
}

async function storageStats(
  call: Call,
  collection: Collection,
  options: BsonDocument,
): Promise<BsonDocument> {
  const sent = options.get('scale') ?? null;
  const scale = sent === null ? 1 : Math.min(wholeOf(sent), 2 ** 31 - 1);
  const made = new Map(
    Object.entries(await collectionStatistics(call.context.service, collection, scale)),
  );
  if (isTimeSeries(collection)) {
    // Documents are stored one by one: there are no buckets to count.
    made.delete('count');
    made.delete('avgObjSize');
    made.set('timeseries', new Map([['bucketsNs', namespaceText(collection.namespace)]]));
  }
  return made;
}
