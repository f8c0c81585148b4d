/** Splits a physical partition in two and merges neighbours into one, online. One change of a container at a time. */
import { type Clock, DomainError } from '../../base/index.ts';
import {
  type Catalog,
  type ContainerRecord,
  LOCAL_INSTANCE,
  type PartitionRecord,
} from '../../catalog/index.ts';
import { KeySizes, type Partition } from '../../partition/index.ts';
import { type Epk, epkFromHex, epkToHex } from '../../value/index.ts';
import type { ContainerName } from '../container/container-name.ts';
import type { PartitionHandle } from '../routing/partition-handle.ts';
import type { PartitionRegistry } from '../routing/partition-registry.ts';
import type { Router } from '../routing/router.ts';
import type { Route } from '../routing/routing-map.ts';
import { type MoveStep, move } from './move.ts';
import type { ResizeCause, ResizeLog, ResizeRecorder } from './resize-log.ts';
import { findSplitPoint, middleOf, splitPointByHeat, widestOf } from './split-point.ts';

interface ResizerOptions {
  readonly catalog: Catalog;
  readonly router: Router;
  readonly registry: PartitionRegistry;
  readonly clock: Clock;
  readonly log: ResizeLog;
  readonly onStep: (step: MoveStep) => void | Promise<void>;
}

/** Rids begin with thirteen bits of the partition they were made in, so a container has this many in its life. */
const PARTITION_IDS_MAX = 2 ** 13;

/**
 * Where a partition is split.
 *   betweenKeys  half of the bytes on each side
 *   heat         half of the charges of the last minutes on each side, or of the bytes where too few charges are known
 *   anywhere     between keys, or in the middle of the range where there are not two keys yet
 */
type SplitStrategy = 'betweenKeys' | 'heat' | 'anywhere';

export class PartitionResizer {
  readonly #options: ResizerOptions;
  /** The last change of each container: the next waits for it. */
  readonly #changes = new Map<string, Promise<unknown>>();

  readonly #stopping = new AbortController();
  readonly log: ResizeLog;

  constructor(options: ResizerOptions) {
    this.#options = options;
    this.log = options.log;
  }

  /** Returns the ids of the two halves. Throws `invalidInput` where all items belong to one key. */
  split(
    container: ContainerName,
    partitionId: string,
    strategy: SplitStrategy = 'betweenKeys',
    cause: ResizeCause = 'hand',
  ): Promise<readonly string[]> {
    return this.#serialized(container, async (record) => {
      checkSplittable(record);
      const route = this.#options.router.routing(record).forId(partitionId);
      const byHeat = strategy === 'heat' ? this.#heatPoint(route) : undefined;
      const betweenKeys = byHeat ?? (await this.#findSplitPoint(route));
      const point =
        betweenKeys ?? (strategy === 'anywhere' ? middleOf(route, record.partitionKey) : undefined);
      if (point === undefined)
        throw new DomainError(
          'invalidInput',
          `Partition ${partitionId} holds the items of one partition key or none: it cannot be split.`,
        );
      return this.#replace(record, {
        routes: [route],
        boundaries: [route.min, point, route.max],
        cause,
      });
    });
  }

  /** Returns the id of the new partition. The partitions must be neighbours. */
  merge(
    container: ContainerName,
    partitionIds: readonly string[],
    cause: ResizeCause = 'hand',
  ): Promise<readonly string[]> {
    return this.#serialized(container, async (record) => {
      const routing = this.#options.router.routing(record);
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
      return this.#replace(record, { routes, boundaries: [first.min, last.max], cause });
    });
  }

  /** Counts the bytes of a partition's keys, from now on with every write. */
  async measureKeys({ handle }: Route, bytesMax: number): Promise<KeySizes> {
    const partition = await this.#options.registry.partition(handle);
    const sizes = new KeySizes(bytesMax);
    await partition.scanKeySizes(() => undefined, this.#stopping.signal, sizes);
    return sizes;
  }

  /** The two neighbours with the fewest bytes between them. */
  async smallestPair({ databaseRid, rid }: ContainerName): Promise<NeighbourPair | undefined> {
    const { router, registry } = this.#options;
    const { routes } = router.routing(this.#current({ databaseRid, rid }));
    const sizes: number[] = [];
    for (const { handle } of routes) sizes.push((await registry.partition(handle)).itemBytes);
    let smallest: NeighbourPair | undefined;
    for (let at = 1; at < routes.length; at++) {
      const bytes = (sizes[at - 1] as number) + (sizes[at] as number);
      const ids = routes.slice(at - 1, at + 1).map(({ partition }) => partition.id);
      if (smallest === undefined || bytes < smallest.bytes) smallest = { ids, bytes };
    }
    return smallest;
  }

  /** The partition with the largest part of the hash space. */
  widest({ partitions, partitionKey }: ContainerRecord): string {
    return (partitions[widestOf(partitions, partitionKey)] as PartitionRecord).id;
  }

  /** Gives up what is not committed yet. Idempotent. */
  async close(): Promise<void> {
    this.#stopping.abort(new DomainError('unavailable', 'The server is stopping.'));
    await Promise.all(this.#changes.values());
    await this.log.whenStored();
  }

  #heatPoint({ handle }: Route): Epk | undefined {
    return splitPointByHeat(handle.heat.report(this.#options.clock.nowMs()));
  }

  async #findSplitPoint({ handle }: Route): Promise<Epk | undefined> {
    const partition = await this.#options.registry.partition(handle);
    const { point, onlyKey } = await findSplitPoint(partition, this.#stopping.signal);
    handle.setOnlyKey(onlyKey);
    return point;
  }

  async #replace(
    container: ContainerRecord,
    { routes, boundaries, cause }: Resizing,
  ): Promise<readonly string[]> {
    const { router, registry } = this.#options;
    const parents = routes.map(({ partition }) => partition);
    const children = await this.#reserve(container, parents, boundaries);
    const childHandles = children.map((child) => router.newHandle(container, child));
    const recorder = this.log.begin({
      kind: children.length > 1 ? 'split' : 'merge',
      container,
      parents: parents.map(({ id }) => id),
      children: children.map(({ id }) => id),
      cause,
    });
    let isCommitted = false;
    const onCommitted = () => {
      isCommitted = true;
    };
    const replacement = { routes, parents, children, childHandles, recorder, onCommitted };
    try {
      await this.#move(container, replacement);
      recorder.done(bytesOf(childHandles));
    } catch (error) {
      recorder.failed(error);
      // From the commit on the children are live, whatever fails later.
      if (!isCommitted) await registry.drop(childHandles.map(({ storeName }) => storeName));
      throw error;
    } finally {
      // A store that cannot be dropped now is an orphan, which the next start drops.
      if (isCommitted)
        for (const { handle } of routes) registry.retire(handle).catch(() => undefined);
    }
    return children.map(({ id }) => id);
  }

  async #move(
    container: ContainerRecord,
    { routes, parents, children, childHandles, recorder, onCommitted }: Replacement,
  ): Promise<void> {
    const { registry, onStep } = this.#options;
    const sources = await Promise.all(routes.map(({ handle }) => registry.partition(handle)));
    const targets = await Promise.all(childHandles.map((handle) => registry.partition(handle)));
    const holds = [...sources, ...targets].map((partition) => partition.hold());
    try {
      await move({
        sources,
        sourceRanges: routes,
        targets: children.map(({ min, max }, at) => ({
          partition: targets[at] as (typeof targets)[number],
          min: epkFromHex(min),
          max: epkFromHex(max),
        })),
        holdCallers: () => holdCallers(routes),
        commit: async () => {
          await this.#commit(container, parents, orderedChildren(parents, children, targets));
          onCommitted();
          handOverHeat(routes, children, childHandles);
        },
        onStep: async (step) => {
          recorder.step(step);
          await onStep(step);
        },
        signal: this.#stopping.signal,
      });
    } finally {
      for (const release of holds) release();
    }
  }

  /** Ids are reserved durably before anything is built: after a crash none is used twice. */
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
          instance: parents[0]?.instance ?? LOCAL_INSTANCE,
          throughputFraction: 0,
          timestampSec: Math.floor(clock.nowMs() / 1000),
        }),
      );
      const nextPartitionId = record.nextPartitionId + children.length;
      if (nextPartitionId > PARTITION_IDS_MAX)
        throw new DomainError(
          'invalidInput',
          `The container has had ${record.nextPartitionId} partitions, the most one may have.`,
        );
      return { containers: [{ ...record, nextPartitionId }], result: children };
    });
  }

  #commit(
    container: ContainerRecord,
    parents: readonly PartitionRecord[],
    children: readonly PartitionRecord[],
  ): Promise<void> {
    return this.#options.catalog.change(() => {
      const record = this.#current(container);
      const replaced = new Set(parents.map(({ id }) => id));
      const partitions = [
        ...record.partitions.filter(({ id }) => !replaced.has(id)),
        ...children,
      ].sort((a, b) => (a.min < b.min ? -1 : 1));
      return {
        containers: [
          {
            ...record,
            partitions: withShares(partitions, record.partitions),
            formerPartitions: [
              ...(record.formerPartitions ?? []),
              ...parents.map(({ id, min, max }) => ({ id, min, max })),
            ],
            routingVersion: record.routingVersion + 1,
          },
        ],
        result: undefined,
      };
    });
  }

  #serialized<T>(
    container: ContainerName,
    change: (record: ContainerRecord) => Promise<T>,
  ): Promise<T> {
    const name = `${container.databaseRid}/${container.rid}`;
    const run = (): Promise<T> => change(this.#current(container));
    const result = (this.#changes.get(name) ?? Promise.resolve()).then(run, run);
    const done = result.catch(() => undefined);
    this.#changes.set(name, done);
    done.then(() => {
      if (this.#changes.get(name) === done) this.#changes.delete(name);
    });
    return result;
  }

  #current({ databaseRid, rid }: ContainerName): ContainerRecord {
    const record = this.#options.catalog.containerByRid(databaseRid, rid);
    if (record === undefined) throw new DomainError('containerNotFound', 'Resource Not Found.');
    return record;
  }
}

interface Resizing {
  readonly routes: readonly Route[];
  readonly boundaries: readonly Epk[];
  readonly cause: ResizeCause;
}

interface NeighbourPair {
  readonly ids: readonly string[];
  readonly bytes: number;
}

interface Replacement {
  readonly routes: readonly Route[];
  /** The partitions of the routes. */
  readonly parents: readonly PartitionRecord[];
  readonly children: readonly PartitionRecord[];
  readonly childHandles: readonly PartitionHandle[];
  readonly recorder: ResizeRecorder;
  /** Called when the change is durable in the catalog. */
  readonly onCommitted: () => void;
}

function bytesOf(handles: readonly PartitionHandle[]): number {
  return handles.reduce((sum, { partition }) => sum + (partition?.itemBytes ?? 0), 0);
}

/** The keys that were hot stay known as such, so that operators and the next split by heat need not wait for minutes. */
function handOverHeat(
  parents: readonly Route[],
  children: readonly PartitionRecord[],
  childHandles: readonly PartitionHandle[],
): void {
  children.forEach(({ min, max }, at) => {
    const owns = (epk: Uint8Array): boolean => {
      const hash = epkToHex(epk as Epk);
      return min <= hash && hash < max;
    };
    for (const { handle } of parents)
      childHandles[at]?.heat.inherit(handle.heat, owns, 1 / children.length);
  });
}

/** Requests that find one of these partitions fenced wait until the result is called. */
function holdCallers(routes: readonly Route[]): () => void {
  const releases = routes.map(({ handle }) => handle.beginCutover());
  return () => {
    for (const release of releases) release();
  };
}

/** Merged logs had LSNs of their own: only behind the merge are LSNs in the order of time. */
function orderedChildren(
  parents: readonly PartitionRecord[],
  children: readonly PartitionRecord[],
  targets: readonly Partition[],
): readonly PartitionRecord[] {
  return children.map((child, at) => {
    const orderedFromLsn =
      parents.length > 1 ? (targets[at]?.lsn ?? 0) : (parents[0]?.orderedFromLsn ?? 0);
    return orderedFromLsn === 0 ? child : { ...child, orderedFromLsn };
  });
}

function checkSplittable({ kind }: ContainerRecord): void {
  if (kind === 'fixed')
    throw new DomainError('invalidInput', 'A fixed container has one partition for ever.');
}

/**
 * An even division of the throughput stays even. Where it was divided by hand, the new partitions share what
 * their parents had.
 */
function withShares(
  partitions: readonly PartitionRecord[],
  before: readonly PartitionRecord[],
): readonly PartitionRecord[] {
  const isEven = before.every(
    ({ throughputFraction }) => Math.abs(throughputFraction * before.length - 1) < 1e-6,
  );
  const kept = new Set(before.map(({ id }) => id));
  const left = new Set(partitions.map(({ id }) => id));
  let freed = 0;
  for (const { id, throughputFraction } of before) if (!left.has(id)) freed += throughputFraction;
  const newCount = partitions.filter(({ id }) => !kept.has(id)).length;
  return partitions.map((partition) => {
    if (isEven) return { ...partition, throughputFraction: 1 / partitions.length };
    return kept.has(partition.id)
      ? partition
      : { ...partition, throughputFraction: freed / newCount };
  });
}
