/** What a page of a query did, in the form of the header that clients parse. */
import type { ExecutionStats } from '../../../query/index.ts';

export interface QueryTimes {
  readonly totalMs: number;
  /** Parsing and compiling. */
  readonly compileMs: number;
}

export function printQueryMetrics(
  work: ExecutionStats,
  { totalMs, compileMs }: QueryTimes,
): string {
  const runMs = Math.max(0, totalMs - compileMs - work.indexMs - work.loadMs);
  const fields: readonly (readonly [string, string])[] = [
    ['totalExecutionTimeInMs', time(totalMs)],
    ['queryCompileTimeInMs', time(compileMs)],
    ['queryLogicalPlanBuildTimeInMs', time(0)],
    ['queryPhysicalPlanBuildTimeInMs', time(0)],
    ['queryOptimizationTimeInMs', time(0)],
    ['VMExecutionTimeInMs', time(runMs)],
    ['indexLookupTimeInMs', time(work.indexMs)],
    ['instructionCount', String(work.indexEntries + work.itemsLoaded)],
    ['documentLoadTimeInMs', time(work.loadMs)],
    ['systemFunctionExecuteTimeInMs', time(0)],
    ['userFunctionExecuteTimeInMs', time(0)],
    ['retrievedDocumentCount', String(work.itemsLoaded)],
    ['retrievedDocumentSize', String(work.bytesLoaded)],
    ['outputDocumentCount', String(work.rowsOut)],
    ['outputDocumentSize', String(work.bytesOut)],
    ['writeOutputTimeInMs', time(0)],
    ['indexUtilizationRatio', ratio(work)],
  ];
  return fields.map(([name, value]) => `${name}=${value}`).join(';');
}

function time(ms: number): string {
  return ms.toFixed(2);
}

/** Of the items loaded, those that the query was about. */
function ratio({ itemsLoaded, itemsMatched }: ExecutionStats): string {
  return (itemsLoaded === 0 ? 1 : itemsMatched / itemsLoaded).toFixed(2);
}
