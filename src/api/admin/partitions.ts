/** The report of one container's partitions. */
import { DomainError } from '../../base/index.ts';
import { type ContainerRecord, type DatabaseRecord, provisionedMax } from '../../catalog/index.ts';
import type { Resize, Route } from '../../cluster/index.ts';
import { containerNotFound, databaseNotFound, type Service } from '../../service/index.ts';
import { epkFromHex, ringPosition } from '../../value/index.ts';

export interface PartitionsReport {
  readonly db: string;
  readonly container: string;
  readonly kind: string;
  readonly partitionKey: readonly string[];
  /** RU/s of the container; null where it shares its database's. */
  readonly throughput: number | null;
  readonly partitions: readonly PartitionReport[];
  /** The latest splits and merges since the server started, newest first. */
  readonly splits: readonly SplitReport[];
}

export interface SplitReport {
  readonly kind: Resize['kind'];
  readonly parents: readonly string[];
  readonly children: readonly string[];
  readonly startedAt: string;
  readonly state: Resize['state'];
  readonly step: Resize['step'];
  readonly durationMs: number | null;
  /** How long writers waited. */
  readonly pauseMs: number | null;
  readonly error: string | null;
}

const SMALL_ITEM_BYTES = 500;

/** The most splits in a report: as many as fit a screen. */
const SPLITS_MAX = 20;

interface PartitionReport {
  readonly id: string;
  /** [min, max) of the hash space, hexadecimal. */
  readonly min: string;
  readonly max: string;
  /** The same as shares of all keys, 0 to 1. */
  readonly ringFrom: number;
  readonly ringTo: number;
  readonly items: number;
  /** Logical partitions. */
  readonly keys: number;
  /** False where `keys` is an estimate. */
  readonly keysExact: boolean;
  readonly bytes: number;
  readonly lsn: number;
  /** All ancestors, oldest first. */
  readonly parents: readonly string[];
  /** full: one of its keys, or the fixed container, has reached its limit. */
  readonly state: 'online' | 'splitting' | 'merging' | 'full';
  readonly throughputFraction: number;
  /** RU/s the partition may use. */
  readonly provisioned: number;
  readonly requestUnitsLastMinute: number;
  readonly throttledLastMinute: number;
  /** Busiest second of the last minute, in percent of what is provisioned. */
  readonly normalizedPercent: number;
  /** RU kept for bursts. */
  readonly reserve: number;
}

/** Throws DomainError where the container is missing or not named. */
export async function reportPartitions(
  service: Service,
  query: URLSearchParams,
): Promise<PartitionsReport> {
  const { database, container } = namedContainer(service, query);
  const { throughput } = container;
  const resizes = service.resizer.log.list(container);
  return {
    db: database.id,
    container: container.id,
    kind: container.kind,
    partitionKey: container.partitionKey.paths,
    throughput: throughput === undefined ? null : provisionedMax(throughput.setting),
    partitions: await service.containers.inspect(container, (routes) =>
      partitionReports(service, container, routes, resizes),
    ),
    splits: resizes.slice(0, SPLITS_MAX).map(splitReport),
  };
}

async function partitionReports(
  service: Service,
  { partitionKey }: ContainerRecord,
  routes: readonly Route[],
  resizes: readonly Resize[],
): Promise<readonly PartitionReport[]> {
  const partitions: PartitionReport[] = [];
  for (const route of routes) {
    const { itemCount, itemBytes, lsn } = await service.containers.statistics(route);
    const { keys, isExact: keysExact } = await service.containers.keyCount(route);
    const { id, min, max, parents, throughputFraction } = route.partition;
    const { provisioned, requestUnitsLastMinute, throttledLastMinute, normalizedPercent, reserve } =
      service.containers.budget(route);
    partitions.push({
      id,
      min,
      max,
      ringFrom: ringPosition(epkFromHex(min), partitionKey),
      ringTo: ringPosition(epkFromHex(max), partitionKey),
      items: itemCount,
      keys,
      keysExact,
      bytes: itemBytes,
      lsn,
      parents,
      state: stateOf(route, itemBytes, resizes),
      throughputFraction,
      provisioned,
      requestUnitsLastMinute,
      throttledLastMinute,
      normalizedPercent,
      reserve,
    });
  }
  return partitions;
}

function stateOf(
  { partition, handle }: Route,
  itemBytes: number,
  resizes: readonly Resize[],
): PartitionReport['state'] {
  const running = resizes.find(
    ({ state, parents }) => state === 'running' && parents.includes(partition.id),
  );
  if (running !== undefined) return running.kind === 'split' ? 'splitting' : 'merging';
  const { limits } = handle;
  if (limits === undefined) return 'online';
  // A full partition has no room for another small item.
  const largest = limits.sizes?.heavy()[0]?.bytes ?? 0;
  const isKeyFull = largest + SMALL_ITEM_BYTES > limits.keyMax;
  const isWholeFull = itemBytes + SMALL_ITEM_BYTES > (limits.wholeMax ?? Number.POSITIVE_INFINITY);
  return isKeyFull || isWholeFull ? 'full' : 'online';
}

function splitReport(resize: Resize): SplitReport {
  const { kind, parents, children, startedMs, state, step } = resize;
  return {
    kind,
    parents,
    children,
    startedAt: new Date(startedMs).toISOString(),
    state,
    step,
    durationMs: resize.durationMs ?? null,
    pauseMs: resize.pauseMs ?? null,
    error: resize.error ?? null,
  };
}

/** The container that a request names. Throws DomainError where there is none. */
export function namedContainer(
  service: Service,
  query: URLSearchParams,
): { readonly database: DatabaseRecord; readonly container: ContainerRecord } {
  const db = query.get('db');
  const id = query.get('container');
  if (db === null || id === null)
    throw new DomainError('invalidInput', 'Name the container: ?db=NAME&container=NAME.');
  const database = service.databases.find(db);
  if (database === undefined) throw databaseNotFound();
  const container = service.containers.find(database, id);
  if (container === undefined) throw containerNotFound();
  return { database, container };
}
