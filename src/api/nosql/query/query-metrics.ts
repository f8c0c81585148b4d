/** The execution stats of a page, in the format of the header that clients parse. */
import type { ExecutionStats } from '../../../query/index.ts';

export interface QueryTimes {
  readonly totalMs: number;
  /** Parsing and compiling. */
  readonly compileMs: number;
}

export function printQueryMetrics(
  stats: ExecutionStats,
  { totalMs, compileMs }: QueryTimes,
): string {
  const runMs = Math.max(0, totalMs - compileMs - stats.indexMs - stats.loadMs);
  const fields: readonly (readonly [string, string])[] = [
    ['totalExecutionTimeInMs', time(totalMs)],
    ['queryCompileTimeInMs', time(compileMs)],
    ['queryLogicalPlanBuildTimeInMs', time(0)],
    ['queryPhysicalPlanBuildTimeInMs', time(0)],
    ['queryOptimizationTimeInMs', time(0)],
    ['VMExecutionTimeInMs', time(runMs)],
    ['indexLookupTimeInMs', time(stats.indexMs)],
    ['instructionCount', String(stats.indexEntries + stats.itemsLoaded)],
    ['documentLoadTimeInMs', time(stats.loadMs)],
    ['systemFunctionExecuteTimeInMs', time(0)],
    ['userFunctionExecuteTimeInMs', time(0)],
    ['retrievedDocumentCount', String(stats.itemsLoaded)],
    ['retrievedDocumentSize', String(stats.bytesLoaded)],
    ['outputDocumentCount', String(stats.rowsOut)],
    ['outputDocumentSize', String(stats.bytesOut)],
    ['writeOutputTimeInMs', time(0)],
    ['indexUtilizationRatio', ratio(stats)],
  ];
  return fields.map(([name, value]) => `${name}=${value}`).join(';');
}

function time(ms: number): string {
  return ms.toFixed(2);
}

/** The share of loaded items that matched. */
function ratio({ itemsLoaded, itemsMatched }: ExecutionStats): string {
  return (itemsLoaded === 0 ? 1 : itemsMatched / itemsLoaded).toFixed(2);
}
