/** Request units, refusals and bytes over time; the chart library is loaded when it is needed. */
import { useState } from 'preact/hooks';
import { ask } from '../lib/api.ts';
import { clock, units } from '../lib/format.ts';
import { useInterval, useLoaded } from '../lib/loaded.ts';
import type { Series } from '../lib/types.ts';
import { copyText } from '../parts/copy.tsx';
import { Lazy } from '../parts/lazy.tsx';
import { Await } from '../parts/states.tsx';
import type { ChartProps } from './series-chart.tsx';

const WINDOWS = ['5m', '1h', '24h'] as const;
type WindowName = (typeof WINDOWS)[number];
const MEASURES = [
  ['ru', 'RU/s'],
  ['throttled', '429 %'],
  ['bytes', 'Bytes'],
] as const;
export type Measure = (typeof MEASURES)[number][0];

const RELOAD_MS: Readonly<Record<WindowName, number>> = { '5m': 2000, '1h': 10_000, '24h': 60_000 };

interface SectionProps {
  readonly db: string;
  readonly container: string;
  readonly version: number | undefined;
  readonly isTable: boolean;
}

export function SeriesSection({ db, container, version, isTable }: SectionProps) {
  const [window, setWindow] = useState<WindowName>('5m');
  const [measure, setMeasure] = useState<Measure>('ru');
  const series = useLoaded(
    () => ask<Series>('series', { db, container, window }),
    [db, container, window],
  );
  useInterval(series.refresh, RELOAD_MS[window]);
  return (
    <section class="card" data-version={version}>
      <h2 class="row">
        Over time
        <Choice label="Measure" values={MEASURES} value={measure} onValue={setMeasure} />
        <Choice
          label="Window"
          values={WINDOWS.map((name) => [name, name] as const)}
          value={window}
          onValue={setWindow}
        />
        {series.value !== undefined && (
          <button
            type="button"
            class="quiet"
            onClick={() => void copyText(seriesCsv(series.value as Series))}
          >
            Copy as CSV
          </button>
        )}
      </h2>
      <Await loaded={series} what="the series">
        {(value) =>
          value.partitions.length === 0 ? (
            <p class="muted">
              No requests since {clock(value.since)}: series are kept in memory from the start of
              the server on.
            </p>
          ) : isTable ? (
            <SeriesTable series={value} />
          ) : (
            <Lazy<ChartProps>
              load={() => import('./series-chart.tsx').then((module) => module.SeriesChart)}
              series={value}
              measure={measure}
            />
          )
        }
      </Await>
    </section>
  );
}

function Choice<T extends string>({
  label,
  values,
  value,
  onValue,
}: {
  readonly label: string;
  readonly values: readonly (readonly [T, string])[];
  readonly value: T;
  readonly onValue: (value: T) => void;
}) {
  return (
    <span class="choice" role="group" aria-label={label}>
      {values.map(([name, text]) => (
        <button
          key={name}
          type="button"
          aria-pressed={value === name}
          onClick={() => onValue(name)}
        >
          {text}
        </button>
      ))}
    </span>
  );
}

function SeriesTable({ series }: { readonly series: Series }) {
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Partition</th>
          <th scope="col" class="number">
            RU/s, most
          </th>
          <th scope="col" class="number">
            RU/s, last
          </th>
          <th scope="col" class="number">
            Refused per second, most
          </th>
        </tr>
      </thead>
      <tbody>
        {series.partitions.map(({ id, ru, throttled }) => (
          <tr key={id}>
            <th scope="row">{id}</th>
            <td class="number">{units(Math.max(0, ...ru.map(Number)))}</td>
            <td class="number">{units(Number(ru.at(-1) ?? 0))}</td>
            <td class="number">{units(Math.max(0, ...throttled.map(Number)))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function seriesCsv({ from, stepSec, partitions }: Series): string {
  const head = [
    'time',
    ...partitions.flatMap(({ id }) => [`ru ${id}`, `throttled ${id}`, `bytes ${id}`]),
  ];
  const [first] = partitions;
  const lines = (first?.ru ?? []).map((_, at) => [
    new Date((from + at * stepSec) * 1000).toISOString(),
    ...partitions.flatMap(({ ru, throttled, bytes }) => [
      ru[at] ?? '',
      throttled[at] ?? '',
      bytes[at] ?? '',
    ]),
  ]);
  return [head, ...lines].map((line) => line.join(',')).join('\n');
}
