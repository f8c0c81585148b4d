/** Items: point reads and writes, the same for every API. */
import {
  type Bytes,
  DomainError,
  type MaybePromise,
  OperationTrace,
  type ResponseInfo,
  type SessionToken,
} from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type {
  Cluster,
  ReadReply,
  SequenceReply,
  TransactionReply,
  WriteReply,
} from '../../cluster/index.ts';
import {
  type Item,
  type ItemKey,
  primaryRange,
  type Rid,
  type SequenceMode,
  type WriteNote,
} from '../../partition/index.ts';
import { NORMAL_CLASS, type RequestClass } from '../../throughput/index.ts';
import { type Epk, epkRangeOfPrefix, type Value } from '../../value/index.ts';
import { type FeedPage, type FeedRequest, readFeed } from './item-feed.ts';
import { type ScanPage, type ScanRequest, scanItems } from './item-scan.ts';
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
import { type ManyItems, readMany } from './read-many.ts';

interface SequenceOptions {
  readonly requestClass?: RequestClass;
  /** Stored in the same commit as the first writes of the partition that owns the key. */
  readonly notes?: readonly SequenceNote[];
}

interface SequenceNote extends WriteNote {
  readonly partitionKey: readonly Value[];
  readonly bytes: Bytes;
}

export class Items {
  readonly #cluster: Cluster;
  readonly #trace: OperationTrace;

  constructor(cluster: Cluster, trace: OperationTrace = new OperationTrace()) {
    this.#cluster = cluster;
    this.#trace = trace;
  }

  /** Returns at once where the partition is open and its engine is local. */
  read(
    container: ContainerRecord,
    address: ItemAddress,
    sessionToken: SessionToken | undefined,
    requestClass: RequestClass = NORMAL_CLASS,
  ): MaybePromise<ReadReply> {
    const key = this.#keyOf(container, address);
    const reply = this.#cluster.read(container, key, sessionToken, requestClass);
    return this.#trace.isOn ? this.#traced('read', reply, itemsOf) : reply;
  }

  /** Many items in one call for each partition that has some of them; charged as so many reads. */
  readMany(
    container: ContainerRecord,
    addresses: readonly ItemAddress[],
    sessionToken?: SessionToken | undefined,
    requestClass?: RequestClass | undefined,
  ): Promise<ManyItems> {
    const attempt = (current: ContainerRecord) =>
      readMany(this.#cluster, current, addresses, sessionToken, requestClass);
    return this.#traced('read', this.#cluster.withRerouting(container, attempt), itemsOf);
  }

  /** A page of items in the order of their keys. */
  scan(container: ContainerRecord, request: ScanRequest): Promise<ScanPage> {
    const attempt = (current: ContainerRecord) => scanItems(this.#cluster, current, request);
    const page = this.#cluster.withRerouting(container, attempt);
    return this.#traced('scan', page, itemsOf, request.partitionKey !== undefined);
  }

  async #traced<T extends ResponseInfo>(
    kind: 'scan' | 'read' | 'write',
    replied: MaybePromise<T>,
    rowsOf: (reply: T) => readonly unknown[],
    isOneKey = kind !== 'scan',
  ): Promise<T> {
    const reply = await replied;
    this.#trace.note(() => ({
      kind,
      charge: reply.charge,
      partitions: [reply, ...(reply.others ?? [])].map(({ partitionId }) => partitionId),
      accessPaths: [],
      rows: rowsOf(reply).length,
      isOneKey,
    }));
    return reply;
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
    const { partitionKey, rowKey } = write;
    const { keys } = this.#cluster.routing(container);
    const op = toOp(container, keys, keys.keyOf(partitionKey, rowKey), partitionKey, write);
    const reply = this.#cluster.write(container, op, requestClass);
    return this.#trace.isOn ? this.#traced('write', reply, () => [op]) : reply;
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
    const { keys } = this.#cluster.routing(container);
    const epk = keys.epk(partitionKey);
    const ops = operations.map((operation) => {
      const key = keys.keyAt(epk, partitionKey, operation.rowKey);
      return toTransactionOp(container, keys, key, partitionKey, operation);
    });
    const { response } = bounds;
    const reply = this.#cluster.transact(container, epk, ops, requestClass, { response });
    return this.#trace.isOn ? this.#traced('write', reply, () => ops) : reply;
  }

  /**
   * Writes in order, of any partition keys. `all`: all or none, where one partition has all keys. `untilRefused`: those
   * before the first refused one. `each`: every one for itself. One result per write.
   */
  sequence(
    container: ContainerRecord,
    writes: readonly ItemWrite[],
    mode: SequenceMode,
    { requestClass = NORMAL_CLASS, notes = [] }: SequenceOptions = {},
  ): Promise<SequenceReply> {
    if (container.globalIndex !== undefined) throw readOnly();
    const { keys } = this.#cluster.routing(container);
    const ops = writes.map((write) => {
      const { partitionKey, rowKey } = write;
      return toOp(container, keys, keys.keyOf(partitionKey, rowKey), partitionKey, write);
    });
    const keyNotes = notes.map(({ partitionKey, ...note }) => ({
      ...note,
      epk: keys.epk(partitionKey),
    }));
    const reply = this.#cluster.sequence(container, ops, mode, requestClass, keyNotes);
    return this.#trace.isOn ? this.#traced('write', reply, () => ops) : reply;
  }

  /** The note that a write left for this owner; undefined where there is none, or where it has expired. */
  note(
    container: ContainerRecord,
    partitionKey: readonly Value[],
    owner: Bytes,
  ): Promise<Bytes | undefined> {
    const epk = this.#cluster.routing(container).keys.epk(partitionKey);
    return this.#cluster.note(container, epk, owner);
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
        const epk = routing.keys.epk(values);
        const range = routing.keys.rangeOf(epk, values);
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
    const page = Promise.resolve(this.#cluster.withRerouting(container, attempt));
    const isOneKey = request.scope.kind === 'partitionKey';
    return this.#trace.isOn ? this.#traced('scan', page, itemsOf, isOneKey) : page;
  }

  /** The place of a partition key in the hash space. */
  epkOf(container: ContainerRecord, partitionKey: readonly Value[]): Epk {
    return this.#cluster.routing(container).keys.epk(partitionKey);
  }

  #keyOf(container: ContainerRecord, { partitionKey, rowKey }: ItemAddress): ItemKey {
    return this.#cluster.routing(container).keys.keyOf(partitionKey, rowKey);
  }

  /** The partition that owns a key. */
  partitionIdOf(container: ContainerRecord, epk: Epk): string {
    return this.#cluster.routing(container).forKey(epk).partition.id;
  }
}

function itemsOf(reply: {
  readonly item?: unknown;
  readonly items?: readonly unknown[];
}): readonly unknown[] {
  return reply.items ?? (reply.item === undefined ? [] : [reply.item]);
}

export function readOnly(): DomainError {
  return new DomainError(
    'forbidden',
    'The container is a global secondary index: it is kept up from its source and cannot be written to.',
  );
}
