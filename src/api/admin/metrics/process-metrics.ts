/** Memory and time of the process, read at every scrape. */
import type { Metrics } from '../../../base/index.ts';

export function collectProcess(metrics: Metrics, process: NodeJS.Process): void {
  const memory = metrics.gauge({
    name: 'mesocosm_process_memory_bytes',
    help: 'Memory of the process: resident set, JavaScript heap in use, buffers outside it.',
    labels: ['kind'],
  });
  const cpu = metrics.counter({
    name: 'mesocosm_process_cpu_seconds_total',
    help: 'CPU time of all threads, user and system.',
  });
  const uptime = metrics.gauge({
    name: 'mesocosm_process_uptime_seconds',
    help: 'Time since the process started.',
  });
  metrics.onCollect(() => {
    const { rss, heapUsed, external } = process.memoryUsage();
    memory.with('resident').set(rss);
    memory.with('heap').set(heapUsed);
    memory.with('external').set(external);
    const { user, system } = process.cpuUsage();
    cpu.with().value = (user + system) / 1e6;
    uptime.with().set(process.uptime());
  });
}
