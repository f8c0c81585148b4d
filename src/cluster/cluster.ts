/**
 * The way from a container's key to the partition that owns it: routing, admission, the work itself, its charge.
 * The layers above speak to partitions only through this, so that a partition may later live in another thread or on
 * another machine.
 */
import {
  type Bytes,
  type Clock,
  DomainError,
  isPromise,
  type MaybePromise,
  type Receipt,
} from '../base/index.ts';
import type { ContainerRecord, PartitionRecord } from '../catalog/index.ts';
import {
  type Effect,
  type EpkRange,
  type Indexing,
  type Item,
  type ItemKey,
  type ItemOp,
  type ItemPage,
  intentOf,
  type Lsn,
  type Partition,
  type PartitionStatistics,
  type Rid,
  type Seal,
} from '../partition/index.ts';
import {
  createCharge,
  deleteCharge,
  MINIMAL_CHARGE,
  pageCharge,
  readCharge,
  replaceCharge,
} from '../throughput/index.ts';
import type { Encoding } from '../value/index.ts';
import { containerIndexing } from './container-indexing.ts';
import type { Host, Slot } from './host.ts';
import { QueryReader } from './query-reader.ts';
import { type Route, RoutingMap } from './routing-map.ts';
import { printSessionToken, sessionLsn } from './session-token.ts';

export interface ReadReply extends Receipt {
  readonly item: Item | undefined;
}

export interface WriteReply extends Receipt {
  readonly effect: Effect;
}

export interface PageReply extends Receipt {
  readonly page: ItemPage;
}

export interface PageRequest {
  readonly scope: PageScope;
  readonly after: string | undefined;
  readonly limit: number;
  readonly bytesMax: number;
}

export type PageScope =
  /** In rid order; the whole partition where `within` is undefined. */
  | { readonly kind: 'range'; readonly within: EpkRange | undefined }
  /** In primary key order: a logical partition, or all that share a prefix of its key. */
  | { readonly kind: 'key'; readonly within: EpkRange | Bytes };

export interface ClusterOptions {
  /** A container as it now is; undefined where it is gone. */
  readonly current: (container: ContainerRecord) => ContainerRecord | undefined;
  readonly host: Host;
  readonly clock: Clock;
  /** Makes the seal of a container's records; one per encoding, from the APIs. */
  readonly seals: Readonly<Partial<Record<Encoding, (container: ContainerRecord) => Seal>>>;
}

/** A partition that is split while a request waits may be split again; not for ever. */
const REROUTES_MAX = 10;

/** Records need no seal where the home API adds nothing to what the client sent. */
const keepBody: Seal = (body) => body;

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #maps = new WeakMap<ContainerRecord, RoutingMap>();

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  routing(container: ContainerRecord): RoutingMap {
    let map = this.#maps.get(container);
    if (map === undefined) {
      const indexing = containerIndexing(container);
      map = new RoutingMap(container, (partition) => this.#slotOf(container, partition, indexing));
      this.#maps.set(container, map);
    }
    return map;
  }

  /**
   * Does something that finds its partitions by key or range, again where they were replaced in the meantime. The
   * application notices nothing but the wait.
   */
  rerouted<T>(
    container: ContainerRecord,
    attempt: (container: ContainerRecord) => MaybePromise<T>,
  ): MaybePromise<T> {
    try {
      const result = attempt(container);
      if (!isPromise(result)) return result;
      return result.catch((error: unknown) => this.#again(error, container, attempt));
    } catch (error) {
      return this.#again(error, container, attempt);
    }
  }

  async #again<T>(
    error: unknown,
    container: ContainerRecord,
    attempt: (container: ContainerRecord) => MaybePromise<T>,
  ): Promise<T> {
    let failure = error;
    for (let tries = 0; tries < REROUTES_MAX; tries++) {
      if (!(failure instanceof DomainError && failure.code === 'partitionGone')) throw failure;
      const latest = this.#options.current(container);
      if (latest === undefined) throw failure;
      for (const { slot } of this.routing(latest).routes) await slot.cutover;
      try {
        return await attempt(this.#options.current(container) ?? latest);
      } catch (later) {
        failure = later;
      }
    }
    throw failure;
  }

  read(route: Route, key: ItemKey, session: string | undefined): MaybePromise<ReadReply> {
    this.#admit(route);
    const partition = this.#options.host.partition(route.slot);
    if (isPromise(partition))
      return partition.then((open) => this.#read(open, route, key, session));
    return this.#read(partition, route, key, session);
  }

  async write(route: Route, op: ItemOp): Promise<WriteReply> {
    this.#admit(route);
    const partition = await this.#options.host.partition(route.slot);
    try {
      const { effects, lsn } = await partition.write(intentOf(op));
      const effect = effects[0] as Effect;
      return { effect, ...this.#receipt(route, lsn, effectCharge(effect)) };
    } catch (error) {
      if (error instanceof DomainError)
        error.receipt = this.#receipt(route, partition.lsn, MINIMAL_CHARGE);
      throw error;
    }
  }

  async page(route: Route, request: PageRequest, session: string | undefined): Promise<PageReply> {
    this.#admit(route);
    const partition = await this.#options.host.partition(route.slot);
    checkSession(partition, route, session);
    const { scope } = request;
    const page = await (scope.kind === 'range'
      ? partition.scanByRid(request, scope.within)
      : partition.scanByKey(request, scope.within));
    let bytes = 0;
    for (const { body } of page.items) bytes += body.length;
    return { page, ...this.#receipt(route, partition.lsn, pageCharge(page.items.length, bytes)) };
  }

  /** The item of this number, whichever partition holds it: a split leaves numbers as they were. */
  async findByRid(container: ContainerRecord, rid: Rid): Promise<Item | undefined> {
    for (const route of this.routing(container).routes) {
      const partition = await this.#options.host.partition(route.slot);
      const item = await partition.readByRid(rid);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  /** One moment of a partition, or of a part of its range, for a query. */
  async reader(
    route: Route,
    within: EpkRange | undefined,
    session: string | undefined,
  ): Promise<QueryReader> {
    this.#admit(route);
    const partition = await this.#options.host.partition(route.slot);
    checkSession(partition, route, session);
    return new QueryReader(await partition.reader(), within);
  }

  /** Charges a partition for work that others did with its reader. */
  async settle(route: Route, charge: number): Promise<Receipt> {
    const partition = await this.#options.host.partition(route.slot);
    return this.#receipt(route, partition.lsn, charge);
  }

  /** The least progress of any partition under the container's present indexing policy, in percent. */
  async indexProgress(container: ContainerRecord): Promise<number> {
    const partitions = await Promise.all(
      this.routing(container).routes.map(({ slot }) => this.#options.host.partition(slot)),
    );
    return Math.min(...partitions.map((partition) => partition.indexProgressPercent()));
  }

  async statistics(route: Route): Promise<PartitionStatistics> {
    return (await this.#options.host.partition(route.slot)).statistics();
  }

  /** Closes and removes the partitions of a container that is no more. */
  drop(container: ContainerRecord): Promise<void> {
    return this.#options.host.drop(container.partitions.map(({ id }) => storeName(container, id)));
  }

  #read(
    partition: Partition,
    route: Route,
    key: ItemKey,
    session: string | undefined,
  ): MaybePromise<ReadReply> {
    checkSession(partition, route, session);
    const reply = (item: Item | undefined): ReadReply => {
      const charge = item === undefined ? MINIMAL_CHARGE : readCharge(item.body.length);
      return { item, ...this.#receipt(route, partition.lsn, charge) };
    };
    const item = partition.read(key);
    return isPromise(item) ? item.then(reply) : reply(item);
  }

  #admit(route: Route): void {
    const admission = route.slot.budget.admit(this.#options.clock.nowMs());
    if (!admission.isAdmitted)
      throw new DomainError(
        'throttled',
        'Request rate is large. More Request Units may be needed, so no changes were made.',
        admission.retryAfterMs,
      );
  }

  #receipt(route: Route, lsn: Lsn, charge: number): Receipt {
    route.slot.budget.charge(charge, this.#options.clock.nowMs());
    const partitionId = route.partition.id;
    return { partitionId, lsn, charge, sessionToken: printSessionToken(partitionId, lsn) };
  }

  /** The place of a partition that is being built. */
  slotOf(container: ContainerRecord, partition: PartitionRecord): Slot {
    return this.#slotOf(container, partition, containerIndexing(container));
  }

  #slotOf(container: ContainerRecord, partition: PartitionRecord, indexing: Indexing): Slot {
    return this.#options.host.slot(storeName(container, partition.id), {
      seal: this.#options.seals[container.encoding]?.(container) ?? keepBody,
      etagSalt: (container.rid ^ (container.rid >>> 16)) & 0xffff,
      ridPrefix: partition.ridPrefix,
      indexing,
    });
  }
}

/** One folder per container, one store per partition. */
export function storeName(container: ContainerRecord, partitionId: string): string {
  const hex = (rid: number): string => rid.toString(16).padStart(8, '0');
  return `${hex(container.databaseRid)}-${hex(container.rid)}/${partitionId}`;
}

function checkSession(partition: Partition, route: Route, session: string | undefined): void {
  if (session === undefined || session === '') return;
  if (sessionLsn(session, route.partition) > partition.lsn)
    throw new DomainError(
      'sessionNotAvailable',
      'The read session is not available for the input session token.',
    );
}

function effectCharge({ item, previous }: Effect): number {
  if (item === undefined) return deleteCharge(previous?.body.length ?? 0);
  if (previous === undefined) return createCharge(item.body.length);
  return replaceCharge(previous.body.length, item.body.length);
}
