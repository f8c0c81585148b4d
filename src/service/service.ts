/** The facade the APIs get: verbs on databases, containers, offers and items, free of any protocol. */
import type { Clock, Random } from '../base/index.ts';
import { Catalog, type ContainerRecord } from '../catalog/index.ts';
import { Budgets, Cluster, Host, Reshaper, storeName } from '../cluster/index.ts';
import type { Engine } from '../engine/index.ts';
import { RecordCache, type Seal } from '../partition/index.ts';
import type { Encoding } from '../value/index.ts';
import { Containers } from './containers.ts';
import { Databases } from './databases.ts';
import { Items } from './items.ts';
import { Offers } from './offers.ts';
import { Queries } from './queries.ts';
import type { Settings } from './settings.ts';

const CATALOG_STORE = 'catalog';

export interface ServiceOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: Settings;
  readonly seals: Readonly<Partial<Record<Encoding, (container: ContainerRecord) => Seal>>>;
  /** Told of containers that have fewer partitions than their throughput needs. */
  readonly onThroughputRaised?: (container: ContainerRecord) => void;
}

export interface Service {
  readonly databases: Databases;
  readonly containers: Containers;
  readonly offers: Offers;
  readonly items: Items;
  readonly queries: Queries;
  /** Splits and merges of partitions. */
  readonly reshaper: Reshaper;
  readonly clock: Clock;
  readonly settings: Settings;
  /** Partitions open in this process. */
  openPartitionCount(): number;
  /** Finishes the writes under way and closes every store; the engine is its maker's to close. Idempotent. */
  close(): Promise<void>;
}

export async function openService(options: ServiceOptions): Promise<Service> {
  const { engine, clock, random, settings, seals, onThroughputRaised = () => undefined } = options;
  const store = await engine.open(CATALOG_STORE);
  const catalog = await Catalog.open(store, random);
  const host = new Host({ engine, clock, cache: new RecordCache() });
  const current = ({ databaseRid, rid }: ContainerRecord) =>
    catalog.containerByRid(databaseRid, rid);
  const budgets = new Budgets(settings, catalog, clock);
  const cluster = new Cluster({ host, budgets, clock, seals, current });
  const known = new Set(
    catalog
      .databases()
      .flatMap((database) => catalog.containers(database))
      .flatMap((container) => container.partitions.map(({ id }) => storeName(container, id))),
  );
  await host.dropOrphans((name) => known.has(name));
  return {
    databases: new Databases(catalog, cluster, clock, settings),
    containers: new Containers(catalog, cluster, clock, settings),
    offers: new Offers({ catalog, cluster, clock, settings, onThroughputRaised }),
    items: new Items(cluster),
    queries: new Queries(cluster),
    reshaper: new Reshaper({ catalog, cluster, host, clock }),
    clock,
    settings,
    openPartitionCount: () => host.openCount,
    async close() {
      await host.close();
      await store.close();
    },
  };
}
