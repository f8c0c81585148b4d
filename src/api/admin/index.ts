export {
  type Admin,
  type AdminRequest,
  type AdminRoute,
  createAdmin,
} from './handler.ts';
export { inFrontOf } from './in-front.ts';
export { collectGlobalIndexes } from './metrics/global-index-metrics.ts';
export { collectPartitions } from './metrics/partition-metrics.ts';
export { collectProcess } from './metrics/process-metrics.ts';
export { collectReplicas } from './metrics/replica-metrics.ts';
export { RequestMetrics } from './metrics/request-metrics.ts';
export { collectResizes } from './metrics/resize-metrics.ts';
export { json as jsonContent } from './replies.ts';
export { livePartitions } from './reports/live-partitions.ts';
export type { ApiState } from './reports/overview.ts';
export { SeriesRecorder } from './reports/series.ts';
