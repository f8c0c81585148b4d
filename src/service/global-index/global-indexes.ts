/** The global secondary indexes of the account: one follower each, woken by commits in their sources. */
import { assert, type Clock } from '../../base/index.ts';
import type { Catalog, ContainerRecord } from '../../catalog/index.ts';
import {
  type Cluster,
  containerFolder,
  type HomeApis,
  type Projection,
} from '../../cluster/index.ts';
import type { Store } from '../../engine/index.ts';
import type { ChangeFeed } from '../change-feed/change-feed.ts';
import { Follower, type GlobalIndexReport } from './follower.ts';

interface GlobalIndexesOptions {
  readonly catalog: Catalog;
  readonly cluster: Cluster;
  readonly changeFeed: ChangeFeed;
  readonly store: Store;
  readonly clock: Clock;
  readonly homes: HomeApis;
}

export class GlobalIndexes {
  readonly #options: GlobalIndexesOptions;
  /** By the folder of the source's stores. */
  readonly #bySource = new Map<string, Set<Follower>>();
  /** By the folder of the index's stores. */
  readonly #followed = new Set<string>();
  readonly #projections = new WeakMap<ContainerRecord, Projection>();

  constructor(options: GlobalIndexesOptions) {
    this.#options = options;
  }

  /** Begins to follow the sources of all indexes, of later ones too. */
  start(): void {
    const { catalog } = this.#options;
    for (const database of catalog.databases())
      for (const container of catalog.containers(database)) this.#follow(container);
    catalog.onChange = ({ containers = [], droppedContainers = [] }) => {
      for (const container of containers) {
        this.#follow(container);
        // The source may have new partitions, with positions of their own.
        this.#wake(containerFolder(container));
      }
      // Followers whose source or index was dropped notice it when they wake, and end.
      if (droppedContainers.length > 0)
        for (const followers of this.#bySource.values())
          for (const follower of followers) follower.wake();
    };
  }

  #follow(index: ContainerRecord): void {
    if (index.globalIndex === undefined || this.#followed.has(containerFolder(index))) return;
    this.#followed.add(containerFolder(index));
    const { catalog, cluster, changeFeed, store, clock } = this.#options;
    const { databaseRid, rid, globalIndex } = index;
    const folder = containerFolder({ databaseRid, rid: globalIndex.sourceRid });
    const follower = new Follower({
      index,
      current: () => {
        const now = catalog.containerByRid(databaseRid, rid);
        const source = catalog.containerByRid(databaseRid, globalIndex.sourceRid);
        if (now !== undefined && source !== undefined) return { index: now, source };
        this.#bySource.get(folder)?.delete(follower);
        this.#followed.delete(containerFolder(index));
        return undefined;
      },
      projectionOf: (now, source) => this.#projectionOf(now, source),
      cluster,
      changeFeed,
      store,
      clock,
    });
    // Commits are reported from the first index on: without any, writes need not ask.
    if (this.#bySource.size === 0) cluster.followCommits((storeName) => this.#committed(storeName));
    const followers = this.#bySource.get(folder) ?? new Set();
    this.#bySource.set(folder, followers.add(follower));
  }

  /** Wakes the followers of a store. Called for every commit group: it must cost no more than a look-up. */
  #committed(storeName: string): void {
    this.#wake(storeName.slice(0, storeName.indexOf('/')));
  }

  #wake(folder: string): void {
    const followers = this.#bySource.get(folder);
    if (followers !== undefined) for (const follower of followers) follower.wake();
  }

  /** One report per index. */
  reports(): readonly GlobalIndexReport[] {
    return [...this.#bySource.values()].flatMap((followers) =>
      [...followers].map((follower) => follower.report()),
    );
  }

  async close(): Promise<void> {
    const all = [...this.#bySource.values()].flatMap((followers) => [...followers]);
    await Promise.all(all.map((follower) => follower.stop()));
  }

  #projectionOf(index: ContainerRecord, source: ContainerRecord): Projection {
    let projection = this.#projections.get(index);
    if (projection === undefined) {
      const home = this.#options.homes.of(index);
      assert(home.project !== undefined, 'no projection by the home API of the index');
      projection = home.project(index, source);
      this.#projections.set(index, projection);
    }
    return projection;
  }
}
