/** Items: point reads and writes, the same for every API. */
import { DomainError, type MaybePromise, type ResponseInfo } from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import type { Cluster, ReadReply, TransactionReply, WriteReply } from '../cluster/index.ts';
import {
  type Item,
  type ItemKey,
  itemKey,
  logicalPartitionRange,
  primaryRange,
  type Rid,
} from '../partition/index.ts';
import { NORMAL_CLASS, type RequestClass } from '../throughput/index.ts';
import { type Epk, effectivePartitionKey, epkRangeOfPrefix, type Value } from '../value/index.ts';
import { type FeedPage, type FeedRequest, readFeed } from './item-feed.ts';
import {
  BATCH_BOUNDS,
  checkBounds,
  type ItemAddress,
  type ItemWrite,
  type Operation,
  type TransactionBounds,
  toOp,
  toTransactionOp,
} from './operations.ts';

export class Items {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Returns at once where the partition is open and its engine is local. */
  read(
    container: ContainerRecord,
    address: ItemAddress,
    sessionToken: string | undefined,
    requestClass: RequestClass = NORMAL_CLASS,
  ): MaybePromise<ReadReply> {
    return this.#cluster.read(container, keyOf(container, address), sessionToken, requestClass);
  }

  /** The item with this rid in the container. */
  findByRid(container: ContainerRecord, rid: Rid): Promise<Item | undefined> {
    const attempt = (current: ContainerRecord) => this.#cluster.findByRid(current, rid);
    return Promise.resolve(this.#cluster.withRerouting(container, attempt));
  }

  write(
    container: ContainerRecord,
    write: ItemWrite,
    requestClass: RequestClass = NORMAL_CLASS,
  ): Promise<WriteReply> {
    if (container.globalIndex !== undefined) throw readOnly();
    const op = toOp(container, keyOf(container, write), write);
    return this.#cluster.write(container, op, requestClass);
  }

  /**
   * Operations on items of one logical partition, all or none; each sees the effects of those before it. A refusal is a
   * TransactionError that names the operation.
   */
  async transact(
    container: ContainerRecord,
    partitionKey: readonly Value[],
    operations: readonly Operation[],
    requestClass: RequestClass = NORMAL_CLASS,
    bounds: TransactionBounds = BATCH_BOUNDS,
  ): Promise<TransactionReply> {
    if (container.globalIndex !== undefined) throw readOnly();
    checkBounds(operations, bounds);
    const epk = effectivePartitionKey(partitionKey, container.partitionKey);
    const ops = operations.map((operation) =>
      toTransactionOp(container, itemKey(epk, partitionKey, operation.id), operation),
    );
    const { response } = bounds;
    return this.#cluster.transact(container, epk, ops, requestClass, { response });
  }

  /** Deletes all items of a partition key, or of all keys that begin with these values, at once. */
  deleteRange(
    container: ContainerRecord,
    values: readonly Value[],
    requestClass: RequestClass = NORMAL_CLASS,
  ): Promise<ResponseInfo> {
    if (container.globalIndex !== undefined) throw readOnly();
    const { partitionKey } = container;
    const attempt = async (current: ContainerRecord): Promise<ResponseInfo> => {
      const routing = this.#cluster.routing(current);
      if (values.length === partitionKey.paths.length) {
        const epk = effectivePartitionKey(values, partitionKey);
        const range = logicalPartitionRange(epk, values);
        return this.#cluster.deleteRange(routing.forKey(epk), range, requestClass);
      }
      const { min, max } = epkRangeOfPrefix(values, partitionKey);
      const range = primaryRange(min, max);
      const infos: ResponseInfo[] = [];
      for (const route of routing.forRange(min, max))
        infos.push(await this.#cluster.deleteRange(route, range, requestClass));
      return infos[0] as ResponseInfo;
    };
    return Promise.resolve(this.#cluster.withRerouting(container, attempt));
  }

  /** One page of a container, of a partition, of a part of the hash space or of a logical partition. */
  feed(container: ContainerRecord, request: FeedRequest): Promise<FeedPage> {
    const attempt = (current: ContainerRecord) => readFeed(this.#cluster, current, request);
    return Promise.resolve(this.#cluster.withRerouting(container, attempt));
  }

  /** The partition that owns a key. */
  partitionIdOf(container: ContainerRecord, epk: Epk): string {
    return this.#cluster.routing(container).forKey(epk).partition.id;
  }
}

export function readOnly(): DomainError {
  return new DomainError(
    'forbidden',
    'The container is a global secondary index: it is kept up from its source and cannot be written to.',
  );
}

function keyOf(container: ContainerRecord, { partitionKey, id }: ItemAddress): ItemKey {
  return itemKey(effectivePartitionKey(partitionKey, container.partitionKey), partitionKey, id);
}
