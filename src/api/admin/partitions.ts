/** What the partitions of one container hold. */
import { DomainError } from '../../base/index.ts';
import { type ContainerRecord, type DatabaseRecord, provisionedMax } from '../../catalog/index.ts';
import { containerNotFound, databaseNotFound, type Service } from '../../service/index.ts';

export interface PartitionsReport {
  readonly db: string;
  readonly container: string;
  readonly kind: string;
  readonly partitionKey: readonly string[];
  /** RU/s of the container; null where it shares its database's. */
  readonly throughput: number | null;
  readonly partitions: readonly PartitionReport[];
}

export interface PartitionReport {
  readonly id: string;
  /** [min, max) of the hash space, hexadecimal. */
  readonly min: string;
  readonly max: string;
  readonly items: number;
  readonly bytes: number;
  readonly lsn: number;
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

/** Throws DomainError for what does not exist or was not named. */
export async function reportPartitions(
  service: Service,
  query: URLSearchParams,
): Promise<PartitionsReport> {
  const { database, container } = namedContainer(service, query);
  const partitions: PartitionReport[] = [];
  for (const route of service.containers.routes(container)) {
    const { itemCount, itemBytes, lsn } = await service.containers.statistics(route);
    const { id, min, max, throughputFraction } = route.partition;
    const { provisioned, requestUnitsLastMinute, throttledLastMinute, normalizedPercent, reserve } =
      service.containers.budget(route);
    partitions.push({
      id,
      min,
      max,
      items: itemCount,
      bytes: itemBytes,
      lsn,
      throughputFraction,
      provisioned,
      requestUnitsLastMinute,
      throttledLastMinute,
      normalizedPercent,
      reserve,
    });
  }
  const { throughput } = container;
  return {
    db: database.id,
    container: container.id,
    kind: container.kind,
    partitionKey: container.partitionKey.paths,
    throughput: throughput === undefined ? null : provisionedMax(throughput.setting),
    partitions,
  };
}

/** The container a request names. Throws DomainError where it names none that is there. */
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
