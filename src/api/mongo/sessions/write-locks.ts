/**
 * The documents that open transactions have written: a second transaction that writes one of them is refused at once,
 * and a write outside of transactions waits for the end of the first, as in MongoDB. The commit checks again, so that
 * this table is a courtesy.
 */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { ItemAddress } from '../../../service/index.ts';
import { encodeWhole, type Value } from '../../../value/index.ts';
import { MongoError, TRANSIENT_TRANSACTION } from '../errors.ts';

/** Documents in the table; beyond them only commits tell of conflicts. */
const LOCKS_MAX = 100_000;

export interface LockOwner {
  /** When its transaction is over, even if nobody ends it. */
  readonly endsMs: number;
}

interface Holding {
  readonly keys: string[];
  readonly ended: PromiseWithResolvers<void>;
}

export class WriteLocks {
  readonly #owners = new Map<string, LockOwner>();
  readonly #holdings = new Map<LockOwner, Holding>();

  /** Throws WriteConflict where another transaction has written the document. */
  take(owner: LockOwner, container: ContainerRecord, address: ItemAddress, nowMs: number): void {
    const key = keyOf(container, address);
    const holder = this.#holderOf(key, nowMs);
    if (holder === owner) return;
    if (holder !== undefined)
      throw new MongoError(
        'WriteConflict',
        'Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry your operation or multi-document transaction.',
        { labels: [TRANSIENT_TRANSACTION] },
      );
    if (this.#owners.size >= LOCKS_MAX) return;
    this.#owners.set(key, owner);
    const holding = this.#holdings.get(owner) ?? { keys: [], ended: Promise.withResolvers() };
    holding.keys.push(key);
    this.#holdings.set(owner, holding);
  }

  /** The end of a transaction that has written one of the documents; undefined where none has, mostly. */
  endOfHolder(
    container: ContainerRecord,
    addresses: readonly ItemAddress[],
    nowMs: number,
  ): Promise<void> | undefined {
    if (this.#owners.size === 0) return undefined;
    for (const address of addresses) {
      const holder = this.#holderOf(keyOf(container, address), nowMs);
      if (holder !== undefined) return this.#holdings.get(holder)?.ended.promise;
    }
    return undefined;
  }

  release(owner: LockOwner): void {
    const holding = this.#holdings.get(owner);
    if (holding === undefined) return;
    for (const key of holding.keys) this.#owners.delete(key);
    this.#holdings.delete(owner);
    holding.ended.resolve();
  }

  #holderOf(key: string, nowMs: number): LockOwner | undefined {
    const holder = this.#owners.get(key);
    if (holder === undefined || nowMs < holder.endsMs) return holder;
    // Nobody has ended it, and it can no longer be committed.
    this.release(holder);
    return undefined;
  }
}

function keyOf(
  { databaseRid, rid }: ContainerRecord,
  { partitionKey, rowKey }: ItemAddress,
): string {
  return `${databaseRid} ${rid} ${textOf(partitionKey)} ${textOf(rowKey)}`;
}

function textOf(values: readonly Value[]): string {
  return Buffer.from(encodeWhole(values, { collation: 'bson' })).toString('latin1');
}
