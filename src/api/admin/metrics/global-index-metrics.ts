/** How far global secondary indexes are behind their sources. */
import type { Metrics } from '../../../base/index.ts';
import type { Service } from '../../../service/index.ts';

const LABELS = ['db', 'container'];

export function collectGlobalIndexes(metrics: Metrics, service: Service): void {
  const lag = metrics.gauge({
    name: 'mesocosm_global_index_lag_writes',
    help: 'Writes of the source that are not in the global secondary index yet.',
    labels: LABELS,
  });
  const lagSeconds = metrics.gauge({
    name: 'mesocosm_global_index_lag_seconds',
    help: 'Time since the global secondary index last held everything; 0 while it does.',
    labels: LABELS,
  });
  const applied = metrics.gauge({
    name: 'mesocosm_global_index_applied_changes',
    help: 'Changes applied to the global secondary index since the start of the process.',
    labels: LABELS,
  });
  const failures = metrics.gauge({
    name: 'mesocosm_global_index_failures',
    help: 'Steps that failed and were tried again since the start of the process.',
    labels: LABELS,
  });
  metrics.onCollect(() => {
    for (const series of [lag, lagSeconds, applied, failures]) series.clear();
    for (const report of service.globalIndexes.reports()) {
      const database = service.databases.findByRid(report.index.databaseRid);
      if (database === undefined) continue;
      const labels = [database.id, report.index.id];
      lag.with(...labels).set(report.lag);
      lagSeconds.with(...labels).set(report.lagMs / 1000);
      applied.with(...labels).set(report.appliedCount);
      failures.with(...labels).set(report.failureCount);
    }
  });
}
