/**
 * What a transaction has queried: ranges of keys whose writes are watched. At the commit the writes since, and those
 * that other transactions have prepared, are tested against the queries.
 */
import { type Bytes, compareBytes } from '../../base/index.ts';
import {
  type Item,
  type Partition,
  type RangeWatch,
  readIsStale,
  type TransactionId,
} from '../../partition/index.ts';
import type { PartitionHandle } from '../routing/partition-handle.ts';

/** Primary keys, [start, end). */
interface PrimaryRange {
  readonly start: Bytes;
  readonly end: Bytes;
}

interface Watched {
  readonly handle: PartitionHandle;
  readonly partition: Partition;
  readonly range: PrimaryRange;
  readonly watch: RangeWatch;
  /** An item concerns one of the queries. */
  readonly filters: ((item: Pick<Item, 'body'>) => boolean)[];
}

export class QueryWatches {
  readonly #watched = new Map<string, Promise<Watched>>();
  readonly #ready: Watched[] = [];

  get isEmpty(): boolean {
    return this.#watched.size === 0;
  }

  /** Resolves when the range can be read: later writes are noticed. */
  async add(
    handle: PartitionHandle,
    partition: Partition,
    range: PrimaryRange,
    filter: (item: Pick<Item, 'body'>) => boolean,
  ): Promise<void> {
    const hex = [range.start, range.end].map((bytes) => Buffer.from(bytes).toString('hex'));
    const name = `${handle.storeName} ${hex.join(' ')}`;
    let opened = this.#watched.get(name);
    if (opened === undefined) {
      opened = this.#open(handle, partition, range);
      this.#watched.set(name, opened);
    }
    (await opened).filters.push(filter);
  }

  async #open(
    handle: PartitionHandle,
    partition: Partition,
    range: PrimaryRange,
  ): Promise<Watched> {
    const watch = await partition.transactions.watch(range);
    const watched = { handle, partition, range, watch, filters: [] };
    this.#ready.push(watched);
    return watched;
  }

  /**
   * Throws where a query would now give other rows, as far as its filter can tell. Synchronous.
   * @param own - the transaction itself, which may have prepared writes.
   */
  check(own: TransactionId | undefined): void {
    for (const { handle, partition, range, watch, filters } of this.#ready) {
      const isSame = handle.partition === partition && !partition.hasFailed;
      const concerns = (item: Pick<Item, 'body'>) => filters.some((filter) => filter(item));
      if (!isSame || watch.hasChanged(concerns) || isPrepared(partition, range, { own, concerns }))
        throw readIsStale();
    }
  }

  /** Idempotent. */
  close(): void {
    for (const { watch } of this.#ready.splice(0)) watch.close();
  }
}

interface Looked {
  readonly own: TransactionId | undefined;
  concerns(item: Pick<Item, 'body'>): boolean;
}

/** Whether a prepared transaction will write what a query concerns: it may be committed elsewhere already. */
function isPrepared(
  partition: Partition,
  { start, end }: PrimaryRange,
  { own, concerns }: Looked,
): boolean {
  const { state } = partition.transactions;
  if (state.held.isEmpty) return false;
  for (const { id, ops } of state.prepared) {
    if (id === own) continue;
    for (const op of ops.values()) {
      const { primary } = op.key;
      if (compareBytes(primary, start) < 0 || compareBytes(primary, end) >= 0) continue;
      // The stored item of a deletion or replacement would have to be read: it counts as one that matches.
      const isCreated = op.kind === 'create' && concerns(op.put);
      if (isCreated || op.kind === 'delete' || op.kind === 'replace') return true;
    }
  }
  return false;
}
