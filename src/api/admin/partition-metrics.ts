/**
 * What every partition holds and uses. Items, bytes and LSN are those of open ones; the closed are left out until
 * somebody uses them again: opening them for a scrape would keep every partition of the account open for ever. What
 * was used of the throughput is known of all.
 */
import type { Metrics } from '../../base/index.ts';
import type { Service } from '../../service/index.ts';
import { budgetMetrics } from './budget-metrics.ts';

const LABELS = ['db', 'container', 'partition'];

export function collectPartitions(metrics: Metrics, service: Service): void {
  const items = metrics.gauge({
    name: 'mesocosm_partition_items',
    help: 'Items in an open partition.',
    labels: LABELS,
  });
  const bytes = metrics.gauge({
    name: 'mesocosm_partition_bytes',
    help: 'Bytes of the records in an open partition.',
    labels: LABELS,
  });
  const lsn = metrics.gauge({
    name: 'mesocosm_partition_lsn',
    help: 'Log sequence number of an open partition: writes committed so far.',
    labels: LABELS,
  });
  const count = metrics.gauge({
    name: 'mesocosm_partitions',
    help: 'Partitions of the account, and how many of them are open.',
    labels: ['state'],
  });
  const observeBudget = budgetMetrics(metrics);
  metrics.onCollect(() => {
    for (const series of [items, bytes, lsn]) series.clear();
    observeBudget.clear();
    for (const database of service.databases.list())
      for (const container of service.containers.list(database))
        for (const route of service.containers.routes(container)) {
          const labels = [database.id, container.id, route.partition.id];
          observeBudget.set(labels, service.containers.budget(route));
          const statistics = route.slot.partition?.statistics();
          if (statistics === undefined) continue;
          items.with(...labels).set(statistics.itemCount);
          bytes.with(...labels).set(statistics.itemBytes);
          lsn.with(...labels).set(statistics.lsn);
        }
    count.with('all').set(partitionCount(service));
    count.with('open').set(service.openPartitionCount());
  });
}

/** Live partitions of all containers, open or not. */
export function partitionCount(service: Service): number {
  let count = 0;
  for (const database of service.databases.list())
    for (const { partitions } of service.containers.list(database)) count += partitions.length;
  return count;
}
