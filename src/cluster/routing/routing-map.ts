/** The live partitions of one container, in the order of the hash space: which one owns a key, a range, an id. */
import { assert, type Bytes, compareBytes, DomainError, ownBytes } from '../../base/index.ts';
import type { ContainerRecord, PartitionRecord } from '../../catalog/index.ts';
import { ItemKeys, type KeyCodec } from '../../partition/index.ts';
import { type Epk, epkFromHex } from '../../value/index.ts';
import type { PartitionHandle } from './partition-handle.ts';

export interface Route {
  readonly container: ContainerRecord;
  readonly partition: PartitionRecord;
  readonly min: Epk;
  readonly max: Epk;
  /** Through it the registry opens the partition. */
  readonly handle: PartitionHandle;
}

export class RoutingMap {
  readonly routes: readonly Route[];
  /** Makes the keys of the container's items. */
  readonly keys: ItemKeys;
  readonly #container: ContainerRecord;
  readonly #byId: ReadonlyMap<string, Route>;

  constructor(
    container: ContainerRecord,
    handleOf: (partition: PartitionRecord) => PartitionHandle,
    codec?: KeyCodec,
  ) {
    this.#container = container;
    this.keys = new ItemKeys({
      definition: container.partitionKey,
      format: container.keyFormat ?? 1,
      codec,
    });
    this.routes = container.partitions.map((partition) => ({
      container,
      partition,
      min: ownBytes(epkFromHex(partition.min)),
      max: ownBytes(epkFromHex(partition.max)),
      handle: handleOf(partition),
    }));
    this.#byId = new Map(this.routes.map((route) => [route.partition.id, route]));
    this.#checkTiling();
  }

  forKey(epk: Epk): Route {
    let low = 0;
    let high = this.routes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (compareBytes((this.routes[middle] as Route).min, epk) <= 0) low = middle;
      else high = middle - 1;
    }
    return this.routes[low] as Route;
  }

  /** Every partition that owns a part of [min, max), in order. */
  forRange(min: Epk, max: Epk): readonly Route[] {
    return this.routes.filter(
      (route) => compareBytes(route.min, max) < 0 && compareBytes(min, route.max) < 0,
    );
  }

  /** Throws `partitionGone` for an id that is not, or no longer, live. */
  forId(id: string): Route {
    const route = this.#byId.get(id);
    if (route !== undefined) return route;
    throw partitionGone(id);
  }

  /**
   * The hash range that a partition has, or had before others replaced it: requests that name a former partition are
   * served by those. Throws `partitionGone` for an id that was never used.
   */
  rangeOf(id: string): Pick<PartitionRecord, 'min' | 'max'> {
    const owner =
      this.#byId.get(id)?.partition ??
      this.#container.formerPartitions?.find((former) => former.id === id);
    if (owner !== undefined) return owner;
    throw partitionGone(id);
  }

  #checkTiling(): void {
    let end: Bytes = new Uint8Array(0);
    for (const { min, max } of this.routes) {
      assert(compareBytes(min, end) === 0 && compareBytes(min, max) < 0, 'routing: ranges tile');
      end = max;
    }
    assert(end.length === 1 && end[0] === 0xff, 'routing: ranges reach the end');
  }
}

function partitionGone(id: string): DomainError {
  return new DomainError('partitionGone', `The partition key range ${id} is gone.`);
}
