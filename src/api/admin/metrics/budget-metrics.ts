/** Request units of every partition: used, provisioned, refused. */
import type { Metrics } from '../../../base/index.ts';
import type { BudgetReport } from '../../../throughput/index.ts';

const LABELS = ['db', 'container', 'partition'];

interface BudgetObserver {
  /** Removes all series: partitions that are gone are not set again. */
  clear(): void;
  set(labels: readonly string[], report: BudgetReport): void;
}

export function budgetMetrics(metrics: Metrics): BudgetObserver {
  const used = metrics.counter({
    name: 'mesocosm_partition_request_units_total',
    help: 'Request units a partition was charged.',
    labels: LABELS,
  });
  const throttled = metrics.counter({
    name: 'mesocosm_partition_throttled_requests_total',
    help: 'Requests a partition refused for want of request units.',
    labels: LABELS,
  });
  const provisioned = metrics.gauge({
    name: 'mesocosm_partition_provisioned_request_units',
    help: 'Request units per second a partition may use.',
    labels: LABELS,
  });
  const normalized = metrics.gauge({
    name: 'mesocosm_partition_normalized_request_units_percent',
    help: 'Busiest second of the last minute, in percent of what is provisioned.',
    labels: LABELS,
  });
  return {
    clear() {
      for (const series of [used, throttled, provisioned, normalized]) series.clear();
    },
    set(labels, report) {
      used.with(...labels).value = report.requestUnits;
      throttled.with(...labels).value = report.throttled;
      provisioned.with(...labels).set(report.provisioned);
      normalized.with(...labels).set(report.normalizedPercent);
    },
  };
}
