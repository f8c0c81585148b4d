/**
 * Contents and usage of every partition. Items, bytes and LSN are reported of open partitions only: opening closed ones
 * for a scrape would keep every partition of the account open for ever. Used throughput is reported of all.
 */
import type { Metrics } from '../../../base/index.ts';
import type { Service } from '../../../service/index.ts';
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
  const hottest = metrics.gauge({
    name: 'mesocosm_partition_hottest_key_percent',
    help: "Share of a partition's request units of the last minutes that its hottest key had.",
    labels: LABELS,
  });
  const largest = metrics.gauge({
    name: 'mesocosm_partition_largest_key_bytes',
    help: 'Bytes of the largest key, where the partition is near the limit of a key.',
    labels: LABELS,
  });
  const warnings = metrics.counter({
    name: 'mesocosm_partition_key_warnings_total',
    help: 'Partition keys that came near their storage limit.',
  });
  const observeBudget = budgetMetrics(metrics);
  metrics.onCollect(() => {
    for (const series of [items, bytes, lsn, hottest, largest]) series.clear();
    observeBudget.clear();
    for (const database of service.databases.list())
      for (const container of service.containers.list(database))
        for (const route of service.containers.routes(container)) {
          const labels = [database.id, container.id, route.partition.id];
          observeBudget.set(labels, service.containers.budget(route));
          const heat = service.containers.heat(route);
          const hot = heat.keys[0]?.requestUnits;
          if (hot !== undefined) hottest.with(...labels).set((100 * hot) / heat.requestUnits);
          const heavy = route.handle.limits?.sizes?.heavy()[0];
          if (heavy !== undefined) largest.with(...labels).set(heavy.bytes);
          const statistics = route.handle.partition?.statistics();
          if (statistics === undefined) continue;
          items.with(...labels).set(statistics.itemCount);
          bytes.with(...labels).set(statistics.itemBytes);
          lsn.with(...labels).set(statistics.lsn);
        }
    warnings.with().value = service.balancer.warningCount;
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
