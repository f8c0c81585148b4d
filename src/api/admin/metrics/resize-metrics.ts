/** How often partitions were split and merged, how long it took and how long writers waited. */
import type { Metrics } from '../../../base/index.ts';
import type { Service } from '../../../service/index.ts';

export function collectResizes(metrics: Metrics, { resizer }: Service): void {
  const counts = {
    split: metrics.counter({
      name: 'mesocosm_partition_splits_total',
      help: 'Partitions that were split in two.',
    }),
    merge: metrics.counter({
      name: 'mesocosm_partition_merges_total',
      help: 'Merges of neighbouring partitions into one.',
    }),
  };
  const failures = metrics.counter({
    name: 'mesocosm_partition_resize_failures_total',
    help: 'Splits and merges that were given up; nothing changed.',
    labels: ['kind'],
  });
  const seconds = metrics.counter({
    name: 'mesocosm_partition_resize_seconds_total',
    help: 'Time that splits and merges took, beside requestClass.',
    labels: ['kind'],
  });
  const pauses = metrics.counter({
    name: 'mesocosm_partition_resize_pause_seconds_total',
    help: 'Time that writers of a partition waited for its split or merge.',
    labels: ['kind'],
  });
  metrics.onCollect(() => {
    for (const kind of ['split', 'merge'] as const) {
      const totals = resizer.log.totals[kind];
      counts[kind].with().value = totals.done;
      failures.with(kind).value = totals.failed;
      seconds.with(kind).value = totals.durationMs / 1000;
      pauses.with(kind).value = totals.pauseMs / 1000;
    }
  });
}
