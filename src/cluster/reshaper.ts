/** Splits a physical partition in two and merges neighbours into one, online. One change of a container at a time. */
import { type Clock, DomainError } from '../base/index.ts';
import type { Catalog, ContainerRecord, PartitionRecord } from '../catalog/index.ts';
import { type Epk, epkFromHex, epkToHex } from '../value/index.ts';
import type { Cluster } from './cluster.ts';
import type { Host, Slot } from './host.ts';
import { type MoveStep, move } from './mover/move.ts';
import { findSplitPoint } from './mover/split-point.ts';

export interface ReshaperOptions {
  readonly catalog: Catalog;
  readonly cluster: Cluster;
  readonly host: Host;
  readonly clock: Clock;
  readonly onStep?: (step: MoveStep) => void | Promise<void>;
}

/** Names a container for as long as it lives. */
export type ContainerName = Pick<ContainerRecord, 'databaseRid' | 'rid'>;

export class Reshaper {
  readonly #options: ReshaperOptions;
  /** The last change of each container: the next waits for it. */
  readonly #changes = new Map<string, Promise<unknown>>();

  constructor(options: ReshaperOptions) {
    this.#options = options;
  }

  /** The ids of the two halves. Throws `invalidInput` where all items belong to one key. */
  split(container: ContainerName, partitionId: string): Promise<readonly string[]> {
    return this.#inTurn(container, async (record) => {
      const { cluster, host } = this.#options;
      const route = cluster.routing(record).forId(partitionId);
      const point = await findSplitPoint(await host.partition(route.slot));
      if (point === undefined)
        throw new DomainError(
          'invalidInput',
          `Partition ${partitionId} holds the items of one partition key or none: it cannot be split.`,
        );
      return this.#replace(record, [route.partition], [route.min, point, route.max]);
    });
  }

  /** The id of the new partition. The partitions must be neighbours. */
  merge(container: ContainerName, partitionIds: readonly string[]): Promise<readonly string[]> {
    return this.#inTurn(container, async (record) => {
      const routing = this.#options.cluster.routing(record);
      const routes = partitionIds
        .map((id) => routing.forId(id))
        .sort((a, b) => (a.partition.min < b.partition.min ? -1 : 1));
      const areNeighbours =
        routes.length > 1 &&
        routes.every(
          ({ partition }, at) => at === 0 || routes[at - 1]?.partition.max === partition.min,
        );
      if (!areNeighbours)
        throw new DomainError('invalidInput', 'Only neighbouring partitions can be merged.');
      const [first, last] = [routes[0], routes.at(-1)];
      if (first === undefined || last === undefined) return [];
      return this.#replace(
        record,
        routes.map(({ partition }) => partition),
        [first.min, last.max],
      );
    });
  }

  async #replace(
    container: ContainerRecord,
    parents: readonly PartitionRecord[],
    boundaries: readonly Epk[],
  ): Promise<readonly string[]> {
    const { cluster, host } = this.#options;
    const children = await this.#reserve(container, parents, boundaries);
    const parentSlots = cluster
      .routing(container)
      .routes.filter(({ partition }) => parents.some(({ id }) => id === partition.id))
      .map(({ slot }) => slot);
    const childSlots = children.map((child) => cluster.slotOf(container, child));
    try {
      await this.#move(container, children, parentSlots, childSlots);
    } catch (error) {
      await host.drop(childSlots.map(({ storeName }) => storeName));
      throw error;
    }
    for (const slot of parentSlots) host.retire(slot).catch(() => undefined);
    return children.map(({ id }) => id);
  }

  async #move(
    container: ContainerRecord,
    children: readonly PartitionRecord[],
    parentSlots: readonly Slot[],
    childSlots: readonly Slot[],
  ): Promise<void> {
    const { host, onStep } = this.#options;
    const sources = await Promise.all(parentSlots.map((slot) => host.partition(slot)));
    const targets = await Promise.all(childSlots.map((slot) => host.partition(slot)));
    const cutover = Promise.withResolvers<void>();
    try {
      await move({
        sources,
        targets: children.map(({ min, max }, at) => ({
          partition: targets[at] as (typeof targets)[number],
          min: epkFromHex(min),
          max: epkFromHex(max),
        })),
        commit: () => this.#commit(container, children),
        onStep: async (step) => {
          if (step === 'fence') for (const slot of parentSlots) slot.cutover = cutover.promise;
          await onStep?.(step);
        },
      });
    } finally {
      for (const slot of parentSlots) slot.cutover = undefined;
      cutover.resolve();
    }
  }

  /** Ids are taken before anything is built, so that a crash cannot make them be used twice. */
  #reserve(
    container: ContainerRecord,
    parents: readonly PartitionRecord[],
    boundaries: readonly Epk[],
  ): Promise<readonly PartitionRecord[]> {
    const { catalog, clock } = this.#options;
    return catalog.change(() => {
      const record = this.#current(container);
      const ancestors = [...new Set(parents.flatMap(({ parents: older, id }) => [...older, id]))];
      const children = boundaries.slice(1).map(
        (max, at): PartitionRecord => ({
          id: String(record.nextPartitionId + at),
          min: epkToHex(boundaries[at] as Epk),
          max: epkToHex(max),
          parents: ancestors,
          ridPrefix: record.nextPartitionId + at,
          throughputFraction: 0,
          timestampSec: Math.floor(clock.nowMs() / 1000),
        }),
      );
      const nextPartitionId = record.nextPartitionId + children.length;
      return { containers: [{ ...record, nextPartitionId }], result: children };
    });
  }

  #commit(container: ContainerRecord, children: readonly PartitionRecord[]): Promise<void> {
    return this.#options.catalog.change(() => {
      const record = this.#current(container);
      const gone = new Set(children.flatMap(({ parents }) => parents));
      const partitions = [...record.partitions.filter(({ id }) => !gone.has(id)), ...children].sort(
        (a, b) => (a.min < b.min ? -1 : 1),
      );
      const throughputFraction = 1 / partitions.length;
      return {
        containers: [
          {
            ...record,
            partitions: partitions.map((partition) => ({ ...partition, throughputFraction })),
            routingVersion: record.routingVersion + 1,
          },
        ],
        result: undefined,
      };
    });
  }

  #inTurn<T>(
    container: ContainerName,
    change: (record: ContainerRecord) => Promise<T>,
  ): Promise<T> {
    const name = `${container.databaseRid}/${container.rid}`;
    const run = (): Promise<T> => change(this.#current(container));
    const result = (this.#changes.get(name) ?? Promise.resolve()).then(run, run);
    const settled = result.catch(() => undefined);
    this.#changes.set(name, settled);
    settled.then(() => {
      if (this.#changes.get(name) === settled) this.#changes.delete(name);
    });
    return result;
  }

  #current({ databaseRid, rid }: ContainerName): ContainerRecord {
    const record = this.#options.catalog.containerByRid(databaseRid, rid);
    if (record === undefined) throw new DomainError('containerNotFound', 'Resource Not Found.');
    return record;
  }
}
