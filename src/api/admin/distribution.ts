/** Dividing a container's throughput among its partitions. Body: `{"partitions": {"3": 6000}}`, or `{}` for evenly. */
import { DomainError } from '../../base/index.ts';
import { EVEN, type Service } from '../../service/index.ts';
import { namedContainer, type PartitionsReport, reportPartitions } from './partitions.ts';

export async function distributeThroughput(
  service: Service,
  query: URLSearchParams,
  body: unknown,
): Promise<PartitionsReport> {
  const { container } = namedContainer(service, query);
  const wanted = Object(body).partitions ?? {};
  const entries = Object.entries(wanted);
  if (typeof wanted !== 'object' || !entries.every(([, value]) => typeof value === 'number'))
    throw new DomainError('invalidInput', 'partitions is an object of RU/s by partition id.');
  const distribution = entries.length === 0 ? EVEN : new Map(entries as [string, number][]);
  await service.containers.distribute(container, distribution);
  return reportPartitions(service, query);
}
