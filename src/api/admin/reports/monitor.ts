/** What the server did since it started, as one report: requests by API and status, latencies, time of the processor. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Histogram } from '../../../base/index.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';
import { roundTo } from './partitions.ts';

interface MonitorReport {
  readonly uptimeSec: number;
  readonly process: {
    /** Time of processors used since the start, and memory. */
    readonly cpuSec: number;
    readonly rssBytes: number;
    readonly heapBytes: number;
    /** How late timers are, since the last report. */
    readonly lagP50Ms: number;
    readonly lagMaxMs: number;
  };
  readonly operations: readonly OperationRow[];
}

interface OperationRow {
  readonly api: string;
  readonly resource: string;
  readonly method: string;
  readonly requests: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly requestUnits: number;
  /** Upper bounds of the buckets in which these shares of the requests are; null above the last. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

const LAG_RESOLUTION_MS = 100;

let lag: ReturnType<typeof monitorEventLoopDelay> | undefined;

/** Lag is measured from the first report on: who does not look does not pay. */
export function reportMonitor(requests: RequestMetrics, uptimeSec: number): MonitorReport {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  if (lag === undefined) {
    lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
    lag.enable();
  }
  const late = (ns: number): number =>
    Number.isFinite(ns) ? roundTo(Math.max(0, ns / 1e6 - LAG_RESOLUTION_MS), 1) : 0;
  const report: MonitorReport = {
    uptimeSec: Math.floor(uptimeSec),
    process: {
      cpuSec: roundTo((user + system) / 1e6, 2),
      rssBytes: rss,
      heapBytes: heapUsed,
      lagP50Ms: lag.count === 0 ? 0 : late(lag.percentile(50)),
      lagMaxMs: lag.count === 0 ? 0 : late(lag.max),
    },
    operations: requests.report().map(({ latency, requestUnits, ...row }) => ({
      ...row,
      requestUnits: roundTo(requestUnits, 1),
      p50Ms: quantileMs(latency, 0.5),
      p99Ms: quantileMs(latency, 0.99),
    })),
  };
  lag.reset();
  return report;
}

function quantileMs({ counts, bounds }: Histogram, share: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (let at = 0; at < bounds.length; at++) {
    below += counts[at] as number;
    if (below >= share * all) return roundTo((bounds[at] as number) * 1000, 2);
  }
  return null;
}
