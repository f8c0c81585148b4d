/** Dividing a container's throughput among its partitions. Body: `{"partitions": {"3": 6000}}`, or `{}` for evenly. */
import { DomainError } from '../../base/index.ts';
import type { EngineReport } from '../../engine/index.ts';
import { EVEN, type Service } from '../../service/index.ts';
import { isMap, type ValueMap } from '../../value/index.ts';
import { namedContainer, type PartitionsReport, reportPartitions } from './reports/partitions.ts';

export async function distributeThroughput(
  service: Service,
  storage: EngineReport,
  query: URLSearchParams,
  { partitions: wanted = {} }: ValueMap,
): Promise<PartitionsReport> {
  const { container } = namedContainer(service, query);
  const entries = isMap(wanted) ? Object.entries(wanted) : [];
  if (!isMap(wanted) || !entries.every(([, value]) => typeof value === 'number'))
    throw new DomainError('invalidInput', 'partitions is an object of RU/s by partition id.');
  const distribution = entries.length === 0 ? EVEN : new Map(entries as [string, number][]);
  await service.containers.distribute(container, distribution);
  return reportPartitions(service, storage, query);
}
