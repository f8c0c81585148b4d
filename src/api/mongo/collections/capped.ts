/** Capped collections: the oldest documents make room for the newest. */

import type { MaybePromise } from '../../../base/index.ts';
import { ANYTHING } from '../../../query/index.ts';
import type { Service } from '../../../service/index.ts';
import type { Call, Reply } from '../call.ts';
import { collectionSizes } from '../diagnostics/sizes.ts';
import { addressOf } from '../documents/address.ts';
import type { DocumentStore } from '../documents/store.ts';
import { type Collection, findCollection } from './collection.ts';

export function isCapped({ options }: Pick<Collection, 'options'>): boolean {
  return options.get('capped') === true;
}

/** Deletes the oldest documents until the collection is within its bounds. */
export async function trimCapped(
  service: Service,
  store: DocumentStore,
  collection: Collection,
): Promise<void> {
  const { options } = collection;
  const [sizeMax, countMax] = [
    Number(options.get('size')),
    Number(options.get('max') ?? Number.POSITIVE_INFINITY),
  ];
  let { count, dataSize } = await collectionSizes(service, collection);
  if (count <= countMax && dataSize <= sizeMax) return;
  const rows = store.find(collection, {
    partitionKey: undefined,
    condition: ANYTHING,
    test: undefined,
  });
  for await (const batch of rows)
    for (const row of batch) {
      if ((count <= countMax && dataSize <= sizeMax) || count <= 1) return;
      const { document, body } = row;
      await store.write(collection, { kind: 'delete', ...addressOf(collection, document) });
      count -= 1;
      dataSize -= body.length;
    }
}

/** The reply, after the oldest documents have made room where the collection is capped. */
export function trimAfter(
  { context, store, body, name, database }: Call,
  reply: MaybePromise<Reply>,
): MaybePromise<Reply> {
  const target = body.get(name);
  if (typeof target !== 'string' || body.get('autocommit') === false) return reply;
  const collection = findCollection(context.service, { database, collection: target });
  if (collection === undefined || !isCapped(collection)) return reply;
  return Promise.resolve(reply).then(async (done) => {
    await trimCapped(context.service, store, collection);
    return done;
  });
}
