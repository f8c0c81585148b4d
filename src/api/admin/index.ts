export { collectGlobalIndexes } from './global-index-metrics.ts';
export { createAdminHandler, isAdminPath } from './handler.ts';
export { collectPartitions } from './partition-metrics.ts';
export { collectProcess } from './process-metrics.ts';
export { RequestMetrics } from './request-metrics.ts';
export { collectResizes } from './resize-metrics.ts';
