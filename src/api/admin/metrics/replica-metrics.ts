/** Replicas and quorum of the storage engine. */
import type { Metrics } from '../../../base/index.ts';
import type { EngineReport } from '../../../engine/index.ts';

export function collectReplicas(metrics: Metrics, storage: { report(): EngineReport }): void {
  const replicas = metrics.gauge({
    name: 'mesocosm_replica_lag_seconds',
    help: 'How far a replica of the storage engine is behind in applying commits.',
    labels: ['engine', 'instance', 'replica', 'role', 'state'],
  });
  const quorum = metrics.gauge({
    name: 'mesocosm_quorum_replicas',
    help: 'Replicas that a commit needs, and those that are healthy.',
    labels: ['engine', 'instance', 'kind'],
  });
  metrics.onCollect(() => {
    const report = storage.report();
    const { engine, instance } = report;
    replicas.clear();
    for (const { name, role, state, lagMs } of report.replicas)
      replicas.with(engine, instance, name, role, state).set(lagMs / 1000);
    quorum.with(engine, instance, 'needed').set(report.quorum.needed);
    quorum.with(engine, instance, 'healthy').set(report.quorum.healthy);
  });
}
