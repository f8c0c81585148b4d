/** What the server does: requests by API and status, latencies, processor and memory. */
import { useEffect, useState } from 'preact/hooks';
import { ask } from '../lib/api.ts';
import { apiName, bytes, count, duration, units } from '../lib/format.ts';
import { useInterval, useLoaded } from '../lib/loaded.ts';
import type { Monitor } from '../lib/types.ts';
import { Sparkline } from '../parts/sparkline.tsx';
import { Await, Empty } from '../parts/states.tsx';
import { Fact } from './overview.tsx';
import { QueryShapes } from './query-shapes.tsx';

const RELOAD_MS = 2000;
const POINTS = 60;

interface Sample {
  readonly atSec: number;
  readonly cpuSec: number;
  readonly requests: Readonly<Record<string, number>>;
}

export function MonitorPage() {
  const monitor = useLoaded(() => ask<Monitor>('monitor'), []);
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useInterval(monitor.refresh, RELOAD_MS);
  useEffect(() => {
    const { value } = monitor;
    if (value === undefined) return;
    const requests: Record<string, number> = {};
    for (const { api, requests: own } of value.operations)
      requests[api] = (requests[api] ?? 0) + own;
    const sample = { atSec: performance.now() / 1000, cpuSec: value.process.cpuSec, requests };
    setSamples((before) => [...before, sample].slice(-POINTS - 1));
  }, [monitor.value]);
  return (
    <>
      <header class="title">
        <h1>Monitor</h1>
      </header>
      <Await loaded={monitor} what="the figures">
        {(value) => (
          <>
            <Process monitor={value} samples={samples} />
            <Rates monitor={value} samples={samples} />
            <Operations monitor={value} />
            <QueryShapes />
          </>
        )}
      </Await>
    </>
  );
}

/** Differences per second between samples. */
function rates(samples: readonly Sample[], value: (sample: Sample) => number): readonly number[] {
  return samples.slice(1).map((sample, at) => {
    const before = samples[at] as Sample;
    return Math.max(
      0,
      (value(sample) - value(before)) / Math.max(0.1, sample.atSec - before.atSec),
    );
  });
}

function Process({
  monitor,
  samples,
}: {
  readonly monitor: Monitor;
  readonly samples: readonly Sample[];
}) {
  const { process, uptimeSec } = monitor;
  const cpu = rates(samples, ({ cpuSec }) => cpuSec);
  return (
    <dl class="facts">
      <Fact
        name="processor, last 2 s"
        value={`${Math.round(100 * (cpu.at(-1) ?? 0))} %`}
        note="of one core"
      />
      <Fact
        name="event loop late, last 2 s"
        value={`${units(process.lagMaxMs)} ms`}
        note={`half of the time ${units(process.lagP50Ms)} ms`}
      />
      <Fact
        name="memory"
        value={bytes(process.rssBytes)}
        note={`${bytes(process.heapBytes)} of it heap`}
      />
      <Fact name="up since" value={duration(uptimeSec)} note="all counts below are since then" />
    </dl>
  );
}

function Rates({
  monitor,
  samples,
}: {
  readonly monitor: Monitor;
  readonly samples: readonly Sample[];
}) {
  const apis = [...new Set(monitor.operations.map(({ api }) => api))];
  return (
    <div class="cards">
      {apis.map((api) => {
        const values = rates(samples, ({ requests }) => requests[api] ?? 0);
        return (
          <section class="card" key={api}>
            <h2>
              {apiName(api)} <small>{units(values.at(-1) ?? 0)} requests/s</small>
            </h2>
            {values.length > 1 && (
              <Sparkline
                values={values}
                label={`requests per second of ${apiName(api)}, at most ${units(Math.max(...values))}`}
              />
            )}
          </section>
        );
      })}
    </div>
  );
}

function Operations({ monitor }: { readonly monitor: Monitor }) {
  const sorted = [...monitor.operations].sort((a, b) => b.requestUnits - a.requestUnits);
  if (sorted.length === 0)
    return (
      <Empty title="No requests yet">
        <p>Requests of all APIs are counted here, by operation and status.</p>
      </Empty>
    );
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Operations">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">API</th>
            <th scope="col">Operation</th>
            <th scope="col" class="number">
              Requests
            </th>
            <th scope="col">By status</th>
            <th scope="col" class="number">
              RU
            </th>
            <th scope="col" class="number">
              RU each
            </th>
            <th scope="col" class="number">
              p50
            </th>
            <th scope="col" class="number">
              p99
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={`${row.api} ${row.resource} ${row.method}`}>
              <td>{apiName(row.api)}</td>
              <th scope="row">
                {row.method} {row.resource}
              </th>
              <td class="number">{count(row.requests)}</td>
              <td>
                {Object.entries(row.byStatus).map(([status, number]) => (
                  <span
                    key={status}
                    class={/^(4|5|failed|throttled)/.test(status) ? 'tag refused' : 'tag'}
                  >
                    {status}: {count(number)}
                  </span>
                ))}
              </td>
              <td class="number">{units(row.requestUnits)}</td>
              <td class="number">
                {units(row.requests === 0 ? 0 : row.requestUnits / row.requests)}
              </td>
              <td class="number">{row.p50Ms === null ? '–' : `≤ ${units(row.p50Ms)} ms`}</td>
              <td class="number">{row.p99Ms === null ? '> 10 s' : `≤ ${units(row.p99Ms)} ms`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
