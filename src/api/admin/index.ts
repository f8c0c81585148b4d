export { collectGlobalIndexes } from './global-index-metrics.ts';
export {
  type Admin,
  type AdminRequest,
  type AdminRoute,
  createAdmin,
  isAdminPath,
} from './handler.ts';
export { livePartitions } from './live-partitions.ts';
export type { ApiState } from './overview.ts';
export { collectPartitions } from './partition-metrics.ts';
export { collectProcess } from './process-metrics.ts';
export { collectReplicas } from './replica-metrics.ts';
export { json as jsonContent } from './replies.ts';
export { RequestMetrics } from './request-metrics.ts';
export { collectResizes } from './resize-metrics.ts';
export { SeriesRecorder } from './series.ts';
