/** Items: point reads and writes, the same for every API. */
import type { Bytes, MaybePromise } from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import type { Cluster, ReadReply, WriteReply } from '../cluster/index.ts';
import { type Item, type ItemKey, type ItemOp, itemKey, type Rid } from '../partition/index.ts';
import { NORMAL_TRAFFIC, type Traffic } from '../throughput/index.ts';
import { type Epk, effectivePartitionKey, type Value } from '../value/index.ts';
import { type FeedPage, type FeedRequest, readFeed } from './item-feed.ts';

/** Who an item is: the values of its partition key paths (undefined where missing), and its row key. */
export interface ItemAddress {
  readonly partitionKey: readonly Value[];
  readonly id: Value;
}

export interface ItemPut extends ItemAddress {
  readonly kind: 'create' | 'upsert' | 'replace';
  readonly body: Bytes;
  /** The decoded body, where the caller has it. */
  readonly value?: Value;
  /** Seconds to live; 0 = as the container says, -1 = for ever. */
  readonly ttlSec: number;
  readonly ifMatch?: string | undefined;
}

export interface ItemDelete extends ItemAddress {
  readonly kind: 'delete';
  readonly ifMatch?: string | undefined;
}

export class Items {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Answers at once where the partition is open and its engine is local. */
  read(
    container: ContainerRecord,
    address: ItemAddress,
    sessionToken: string | undefined,
    traffic: Traffic = NORMAL_TRAFFIC,
  ): MaybePromise<ReadReply> {
    const key = keyOf(container, address);
    return this.#cluster.rerouted(container, (current) =>
      this.#cluster.read(
        this.#cluster.routing(current).forKey(key.epk),
        key,
        sessionToken,
        traffic,
      ),
    );
  }

  /** The item of this number in the container. */
  findByRid(container: ContainerRecord, rid: Rid): Promise<Item | undefined> {
    const attempt = (current: ContainerRecord) => this.#cluster.findByRid(current, rid);
    return Promise.resolve(this.#cluster.rerouted(container, attempt));
  }

  write(
    container: ContainerRecord,
    write: ItemPut | ItemDelete,
    traffic: Traffic = NORMAL_TRAFFIC,
  ): Promise<WriteReply> {
    const key = keyOf(container, write);
    const op: ItemOp =
      write.kind === 'delete'
        ? { kind: 'delete', key, ifMatch: write.ifMatch }
        : {
            kind: write.kind,
            key,
            encoding: container.encoding,
            body: write.body,
            value: write.value,
            ttlSec: write.ttlSec,
            ifMatch: write.ifMatch,
          };
    const attempt = (current: ContainerRecord) =>
      this.#cluster.write(this.#cluster.routing(current).forKey(key.epk), op, traffic);
    return Promise.resolve(this.#cluster.rerouted(container, attempt));
  }

  /** One page of a container, of a partition, of a part of the hash space or of a logical partition. */
  feed(container: ContainerRecord, request: FeedRequest): Promise<FeedPage> {
    const attempt = (current: ContainerRecord) => readFeed(this.#cluster, current, request);
    // Who names a partition by its id wants to know that it is gone.
    if (request.scope.kind === 'partition') return attempt(container);
    return Promise.resolve(this.#cluster.rerouted(container, attempt));
  }

  /** The partition that owns a key. */
  partitionIdOf(container: ContainerRecord, epk: Epk): string {
    return this.#cluster.routing(container).forKey(epk).partition.id;
  }
}

function keyOf(container: ContainerRecord, { partitionKey, id }: ItemAddress): ItemKey {
  return itemKey(effectivePartitionKey(partitionKey, container.partitionKey), partitionKey, id);
}
