/**
 * Finds the partitions of containers, and repeats what found one that was replaced meanwhile. The application notices
 * nothing but the wait.
 */
import { DomainError, isPromise, type MaybePromise } from '../../base/index.ts';
import type { ContainerRecord, PartitionRecord } from '../../catalog/index.ts';
import type { BodyFinisher, Indexing } from '../../partition/index.ts';
import type { Epk } from '../../value/index.ts';
import type { Budgets } from '../budgets.ts';
import { containerIndexing } from '../container/container-indexing.ts';
import { type ContainerName, storeName } from '../container/container-name.ts';
import type { HomeApis } from '../container/home-api.ts';
import { searchSpec } from '../container/search-spec.ts';
import type { PartitionHandle } from './partition-handle.ts';
import type { PartitionRegistry } from './partition-registry.ts';
import { type Route, RoutingMap } from './routing-map.ts';

/** A partition that is split while a request waits may be split again; not for ever. */
const REROUTES_MAX = 10;

/** Records need no finisher where the home API adds nothing to what the client sent. */
const keepBody: BodyFinisher = (body) => body;

interface RouterOptions {
  readonly registry: PartitionRegistry;
  readonly budgets: Budgets;
  readonly homes: HomeApis;
  /** A container as it now is; undefined where it is gone. */
  readonly current: (container: ContainerName) => ContainerRecord | undefined;
}

export class Router {
  readonly #options: RouterOptions;
  readonly #maps = new WeakMap<ContainerRecord, RoutingMap>();
  /** The map asked for last: a request asks several times. */
  #lastContainer: ContainerRecord | undefined;
  #lastMap: RoutingMap | undefined;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  routing(container: ContainerRecord): RoutingMap {
    if (this.#lastContainer === container) return this.#lastMap as RoutingMap;
    let map = this.#maps.get(container);
    if (map === undefined) {
      const indexing = this.#indexingOf(container);
      map = new RoutingMap(
        container,
        (partition) => this.#handleOf(container, partition, indexing),
        this.#options.homes.of(container).keys?.(container),
      );
      this.#maps.set(container, map);
    }
    this.#lastContainer = container;
    this.#lastMap = map;
    return map;
  }

  /** The handle of a partition that is being built and that no routing map has yet. */
  newHandle(container: ContainerRecord, partition: PartitionRecord): PartitionHandle {
    const indexing = this.#indexingOf(container);
    return this.#handleOf(container, partition, indexing);
  }

  /** Sets the budgets of a container's partitions to what the offers say now. */
  provision(container: ContainerRecord): void {
    for (const { handle, partition } of this.routing(container).routes)
      this.#options.budgets.provision(handle.budget, container, partition);
  }

  /** Does something that finds its partitions itself, again where they were replaced meanwhile. */
  withRerouting<T>(
    container: ContainerRecord,
    attempt: (container: ContainerRecord) => MaybePromise<T>,
  ): MaybePromise<T> {
    try {
      const result = attempt(container);
      if (!isPromise(result)) return result;
      return result.catch((error: unknown) => this.#retry(error, container, attempt, undefined));
    } catch (error) {
      return this.#retry(error, container, attempt, undefined);
    }
  }

  /** Repeats an operation on the partition of a key that failed, where the partition was replaced; throws otherwise. */
  retryForKey<T>(
    error: unknown,
    container: ContainerRecord,
    epk: Epk,
    attempt: (route: Route) => MaybePromise<T>,
  ): Promise<T> {
    const onRoute = (current: ContainerRecord) => attempt(this.routing(current).forKey(epk));
    return this.#retry(error, container, onRoute, epk);
  }

  async #retry<T>(
    error: unknown,
    container: ContainerRecord,
    attempt: (container: ContainerRecord) => MaybePromise<T>,
    epk: Epk | undefined,
  ): Promise<T> {
    let failure = error;
    for (let tries = 0; tries < REROUTES_MAX; tries++) {
      if (!(failure instanceof DomainError && failure.code === 'partitionGone')) throw failure;
      const latest = this.#options.current(container);
      if (latest === undefined) throw failure;
      const routing = this.routing(latest);
      const routes = epk === undefined ? routing.routes : [routing.forKey(epk)];
      for (const { handle } of routes) if (handle.cutover !== undefined) await handle.cutover;
      try {
        return await attempt(this.#options.current(container) ?? latest);
      } catch (later) {
        failure = later;
      }
    }
    throw failure;
  }

  #indexingOf(container: ContainerRecord): Indexing {
    return containerIndexing(container, this.#options.homes.of(container));
  }

  #handleOf(
    container: ContainerRecord,
    partition: PartitionRecord,
    indexing: Indexing,
  ): PartitionHandle {
    const { registry, budgets, homes } = this.#options;
    const handle = registry.handle(storeName(container, partition.id), {
      finisher: homes.of(container).finisher?.(container) ?? keepBody,
      updaters: homes.updaters,
      format: {
        keyFormat: container.keyFormat ?? 1,
        ring: container.partitionKey.kind === 'Token' ? 'token' : 'hash',
      },
      etagSalt: (container.rid ^ (container.rid >>> 16)) & 0xffff,
      ridPrefix: partition.ridPrefix,
      indexing,
      retentionSec: container.versionRetentionSec ?? 0,
      defaultTtlSec: container.defaultTtlSec,
      search: searchSpec(container, homes.of(container)),
    });
    budgets.provision(handle.budget, container, partition);
    return handle;
  }
}
