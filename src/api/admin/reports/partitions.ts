/** The report of one container's partitions. */
import { DomainError } from '../../../base/index.ts';
import {
  type ContainerRecord,
  type DatabaseRecord,
  provisionedMax,
} from '../../../catalog/index.ts';
import type { Resize, Route } from '../../../cluster/index.ts';
import type { EngineReport } from '../../../engine/index.ts';
import { containerNotFound, databaseNotFound, type Service } from '../../../service/index.ts';
import { epkFromHex, ringPosition } from '../../../value/index.ts';

export interface PartitionsReport {
  readonly db: string;
  readonly container: string;
  readonly kind: string;
  readonly partitionKey: readonly string[];
  /** RU/s of the container; null where it shares its database's. */
  readonly throughput: number | null;
  /** memory, sqlite or postgres. */
  readonly engine: string;
  readonly instance: string;
  readonly replicas: EngineReport['replicas'];
  /** Copies that a commit needs, and those that are there. */
  readonly quorum: EngineReport['quorum'];
  readonly partitions: readonly PartitionReport[];
  /** The API that made the container. */
  readonly api: string;
  /** RU/s are refused beyond what is provisioned, or only counted. */
  readonly throughputMode: 'enforce' | 'report';
  readonly isAutoscale: boolean;
  /** A partition splits at this many bytes; one key may hold this many. */
  readonly storageLimit: number;
  readonly keyLimit: number;
  /** The latest splits and merges, newest first. */
  readonly splits: readonly SplitReport[];
}

export interface SplitReport {
  readonly kind: Resize['kind'];
  readonly parents: readonly string[];
  readonly children: readonly string[];
  readonly startedAt: string;
  readonly cause: Resize['cause'];
  readonly bytesCopied: number | null;
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
  /** The same, under the names that all reports of the portal have. */
  readonly from: number;
  readonly to: number;
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
  /** Share of the container's RU/s that it may use: less where one partition cannot serve its fraction. */
  readonly provisionedShare: number | null;
  /** Bytes of its largest key, where keys are counted: near the limit only. */
  readonly largestKey: { readonly bytes: number; readonly percent: number } | null;
  readonly bornAt: string;
  /** RU/s the partition may use. */
  readonly provisioned: number;
  readonly requestUnitsLastMinute: number;
  readonly throttledLastMinute: number;
  /** The time that the figures of the last minute cover, in seconds. */
  readonly windowSec: number;
  /** Busiest second of the last minute, in percent of what is provisioned. */
  readonly normalizedPercent: number;
  /** RU kept for bursts. */
  readonly reserve: number;
}

/** Throws DomainError where the container is missing or not named. */
export async function reportPartitions(
  service: Service,
  storage: EngineReport,
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
    api: container.home,
    throughputMode: service.settings.throughputMode,
    isAutoscale: throughput?.setting.kind === 'autoscale',
    storageLimit: service.settings.partitionStorageLimit,
    keyLimit: service.settings.logicalPartitionLimit,
    engine: storage.engine,
    instance: storage.instance,
    replicas: storage.replicas,
    quorum: storage.quorum,
    partitions: await service.containers.inspect(container, (routes) =>
      partitionReports(service, container, routes, resizes),
    ),
    splits: resizes.slice(0, SPLITS_MAX).map(splitReport),
  };
}

async function partitionReports(
  service: Service,
  { partitionKey, throughput }: ContainerRecord,
  routes: readonly Route[],
  resizes: readonly Resize[],
): Promise<readonly PartitionReport[]> {
  const partitions: PartitionReport[] = [];
  const all = throughput === undefined ? undefined : provisionedMax(throughput.setting);
  for (const route of routes) {
    const { itemCount, itemBytes, lsn } = await service.containers.statistics(route);
    const { keys, isExact: keysExact } = await service.containers.keyCount(route);
    const { id, min, max, parents, throughputFraction, timestampSec } = route.partition;
    const from = ringPosition(epkFromHex(min), partitionKey);
    const to = ringPosition(epkFromHex(max), partitionKey);
    const { provisioned, requestUnitsLastMinute, throttledLastMinute, normalizedPercent, reserve } =
      service.containers.budget(route);
    partitions.push({
      id,
      min,
      max,
      ringFrom: from,
      ringTo: to,
      from,
      to,
      items: itemCount,
      keys,
      keysExact,
      bytes: itemBytes,
      lsn,
      parents,
      state: stateOf(route, itemBytes, resizes),
      throughputFraction,
      provisionedShare: all === undefined ? null : roundTo(provisioned / all, 4),
      largestKey: largestKeyOf(route),
      bornAt: new Date(timestampSec * 1000).toISOString(),
      provisioned,
      requestUnitsLastMinute: roundTo(requestUnitsLastMinute, 2),
      throttledLastMinute,
      windowSec: 60,
      normalizedPercent: roundTo(normalizedPercent, 1),
      reserve,
    });
  }
  return partitions;
}

/** Known only where keys are counted, which is near the limit. */
function largestKeyOf({ handle: { limits } }: Route): PartitionReport['largestKey'] {
  const bytes = limits?.sizes?.heavy()[0]?.bytes;
  if (limits === undefined || bytes === undefined) return null;
  return { bytes, percent: roundTo((100 * bytes) / limits.keyMax, 1) };
}

export function roundTo(value: number, digits: number): number {
  const factor = 10 ** digits;
  return Math.round(value * factor) / factor;
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
  const { kind, parents, children, startedMs, cause, state, step } = resize;
  return {
    kind,
    parents,
    children,
    startedAt: new Date(startedMs).toISOString(),
    cause,
    bytesCopied: resize.bytesCopied ?? null,
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
