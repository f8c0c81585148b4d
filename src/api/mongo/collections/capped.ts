/** Capped collections: the oldest documents make room for the newest. */

import { DomainError, type MaybePromise } from '../../../base/index.ts';
import { ANYTHING } from '../../../query/index.ts';
import type { ItemWrite, Service } from '../../../service/index.ts';
import type { Call, Reply } from '../call.ts';
import { collectionSizes } from '../diagnostics/sizes.ts';
import { addressOf } from '../documents/address.ts';
import type { Row } from '../documents/rows.ts';
import type { DocumentStore } from '../documents/store.ts';
import { type Collection, findCollection } from './collection.ts';

export function isCapped({ options }: Pick<Collection, 'options'>): boolean {
  return options.get('capped') === true;
}

/** Lets one command at a time trim a collection: two would count the same documents as too many. */
export class CappedTrims {
  /** The end of the last one, by the rids of its container. */
  readonly #ends = new Map<string, Promise<void>>();

  /** Deletes the oldest documents until the collection is within its bounds. */
  async trim(service: Service, store: DocumentStore, collection: Collection): Promise<void> {
    const { databaseRid, rid } = collection.container;
    const key = `${databaseRid}-${rid}`;
    const before = this.#ends.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ends.set(key, promise);
    await before;
    try {
      await trim(service, store, collection);
    } finally {
      if (this.#ends.get(key) === promise) this.#ends.delete(key);
      resolve();
    }
  }
}

/** What a capped collection has, and may have. */
class Fill {
  readonly #sizeMax: number;
  readonly #countMax: number;
  #count: number;
  #size: number;

  constructor({ options }: Collection, { count, dataSize }: { count: number; dataSize: number }) {
    this.#sizeMax = Number(options.get('size'));
    this.#countMax = Number(options.get('max') ?? Number.POSITIVE_INFINITY);
    this.#count = count;
    this.#size = dataSize;
  }

  /** The newest document stays, however large it is. */
  get isTooMuch(): boolean {
    return this.#count > 1 && (this.#count > this.#countMax || this.#size > this.#sizeMax);
  }

  remove({ body }: Row): void {
    this.#count -= 1;
    this.#size -= body.length;
  }
}

async function trim(service: Service, store: DocumentStore, collection: Collection): Promise<void> {
  const fill = new Fill(collection, await collectionSizes(service, collection));
  if (!fill.isTooMuch) return;
  const rows = store.find(collection, {
    partitionKey: undefined,
    condition: ANYTHING,
    test: undefined,
  });
  for await (const batch of rows) {
    const writes: ItemWrite[] = [];
    for (const row of batch) {
      if (!fill.isTooMuch) break;
      writes.push({ kind: 'delete', ...addressOf(collection, row.document) });
      fill.remove(row);
    }
    if (writes.length === 0) return;
    for (const result of await store.sequence(collection, writes, 'each'))
      if ('error' in result && !isAbsent(result.error)) throw result.error;
  }
}

/** Clients delete documents too. */
function isAbsent(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'itemNotFound';
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
    try {
      await context.trims.trim(context.service, store, collection);
    } catch (error) {
      // What the client asked for is written, and the next write trims again.
      if (!(error instanceof DomainError)) throw error;
    }
    return done;
  });
}
