/**
 * The documents that open transactions have written: a second transaction that writes one of them is refused at once,
 * as in MongoDB, and not only at its commit. The commit checks again, so that this table is a courtesy.
 */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { ItemAddress } from '../../../service/index.ts';
import { encodeWhole, type Value } from '../../../value/index.ts';
import { MongoError, TRANSIENT_TRANSACTION } from '../errors.ts';

/** Documents in the table; beyond them only commits tell of conflicts. */
const LOCKS_MAX = 100_000;

export class WriteLocks {
  readonly #owners = new Map<string, object>();
  readonly #keys = new WeakMap<object, string[]>();

  /** Throws WriteConflict where another transaction has written the document. */
  take(owner: object, container: ContainerRecord, { partitionKey, rowKey }: ItemAddress): void {
    const key = `${container.databaseRid} ${container.rid} ${textOf(partitionKey)} ${textOf(rowKey)}`;
    const holder = this.#owners.get(key);
    if (holder === owner) return;
    if (holder !== undefined)
      throw new MongoError(
        'WriteConflict',
        'Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry your operation or multi-document transaction.',
        { labels: [TRANSIENT_TRANSACTION] },
      );
    if (this.#owners.size >= LOCKS_MAX) return;
    this.#owners.set(key, owner);
    const keys = this.#keys.get(owner) ?? [];
    keys.push(key);
    this.#keys.set(owner, keys);
  }

  release(owner: object): void {
    for (const key of this.#keys.get(owner) ?? []) this.#owners.delete(key);
    this.#keys.delete(owner);
  }
}

function textOf(values: readonly Value[]): string {
  return Buffer.from(encodeWhole(values, { collation: 'bson' })).toString('latin1');
}
