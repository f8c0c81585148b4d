/** Good beside bad: two containers on one scale. */
import { useEffect } from 'preact/hooks';
import { overview } from '../lib/account.ts';
import { ask } from '../lib/api.ts';
import { heatColor } from '../lib/colors.ts';
import { bytes, count, percent, short, units } from '../lib/format.ts';
import { useInterval, useLoaded } from '../lib/loaded.ts';
import { navigate, search } from '../lib/router.ts';
import type { PartitionsReport } from '../lib/types.ts';
import { Await, Empty } from '../parts/states.tsx';

const RELOAD_MS = 3000;

export function ComparePage() {
  const containers = overview.value?.containers ?? [];
  const names = containers.map(({ db, container }) => `${db}/${container}`);
  const left = search.value.get('a') ?? names[0];
  const right = search.value.get('b') ?? names[1];
  if (left === undefined || right === undefined || names.length < 2)
    return (
      <Empty isPage title="Two containers are needed">
        <p>
          This page puts the partitions of two containers side by side, on one scale: a good key
          beside a bad one.
        </p>
      </Empty>
    );
  const choose = (a: string, b: string): void =>
    navigate(`/compare?${new URLSearchParams({ a, b })}`);
  return (
    <>
      <header class="title">
        <h1>Compare</h1>
      </header>
      <p class="muted">
        Bytes and request units of every partition, both containers on the same scale.
      </p>
      <div class="columns">
        <Chooser label="Left" names={names} value={left} onValue={(name) => choose(name, right)} />
        <Chooser label="Right" names={names} value={right} onValue={(name) => choose(left, name)} />
      </div>
      <Both key={`${left} ${right}`} left={left} right={right} />
    </>
  );
}

function Chooser({
  label,
  names,
  value,
  onValue,
}: {
  readonly label: string;
  readonly names: readonly string[];
  readonly value: string;
  readonly onValue: (name: string) => void;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {short(name, 80)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Both({ left, right }: { readonly left: string; readonly right: string }) {
  const both = useLoaded(() => Promise.all([left, right].map(reportOf)), [left, right]);
  useInterval(both.refresh, RELOAD_MS);
  useEffect(() => undefined, []);
  return (
    <Await loaded={both} what="both containers">
      {(reports) => {
        const all = reports.flatMap(({ partitions }) => partitions);
        const mostBytes = Math.max(1, ...all.map((partition) => partition.bytes));
        const mostUnits = Math.max(
          1,
          ...all.map(({ requestUnitsLastMinute }) => requestUnitsLastMinute),
        );
        return (
          <div class="columns even">
            {reports.map((report) => (
              <Side
                key={`${report.db}/${report.container}`}
                report={report}
                mostBytes={mostBytes}
                mostUnits={mostUnits}
              />
            ))}
          </div>
        );
      }}
    </Await>
  );
}

function reportOf(name: string): Promise<PartitionsReport> {
  const slash = name.indexOf('/');
  return ask('partitions', { db: name.slice(0, slash), container: name.slice(slash + 1) });
}

/** How uneven: the largest part by the mean. */
function skew(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return mean === 0 ? 1 : Math.max(...values) / mean;
}

function Side({
  report,
  mostBytes,
  mostUnits,
}: {
  readonly report: PartitionsReport;
  readonly mostBytes: number;
  readonly mostUnits: number;
}) {
  const { partitions } = report;
  const byBytes = skew(partitions.map((partition) => partition.bytes));
  const byUnits = skew(partitions.map(({ requestUnitsLastMinute }) => requestUnitsLastMinute));
  const refused = partitions.reduce((sum, { throttledLastMinute }) => sum + throttledLastMinute, 0);
  return (
    <section class="card">
      <h2>{short(`${report.db}/${report.container}`, 60)}</h2>
      <p class="muted">
        key <code>{short(report.partitionKey.join(', '), 40)}</code> · {count(partitions.length)}{' '}
        partitions
      </p>
      <Bars
        title="Bytes"
        values={partitions.map((partition) => [
          partition.id,
          partition.bytes,
          partition.normalizedPercent,
        ])}
        most={mostBytes}
        print={bytes}
      />
      <Bars
        title="RU, last minute"
        values={partitions.map((partition) => [
          partition.id,
          partition.requestUnitsLastMinute,
          partition.normalizedPercent,
        ])}
        most={mostUnits}
        print={units}
      />
      <p>
        Largest partition: {units(byBytes)} × the mean in bytes, {units(byUnits)} × in request
        units.{' '}
        {refused > 0 && (
          <span class="refused">{count(refused)} requests refused in the last minute.</span>
        )}
      </p>
    </section>
  );
}

const BARS_HEIGHT = 130;

function Bars({
  title,
  values,
  most,
  print,
}: {
  readonly title: string;
  readonly values: readonly (readonly [string, number, number])[];
  readonly most: number;
  readonly print: (value: number) => string;
}) {
  const width = 100 / values.length;
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <svg
        class="bars"
        viewBox={`0 0 100 ${BARS_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={values
          .slice(0, 30)
          .map(([id, value]) => `partition ${id}: ${print(value)}`)
          .join(', ')}
      >
        {values.map(([id, value, heat], at) => {
          const height = Math.max(1, (value / most) * (BARS_HEIGHT - 4));
          return (
            <rect
              key={id}
              x={at * width + width * 0.08}
              y={BARS_HEIGHT - height}
              width={width * 0.84}
              height={height}
              fill={heatColor(heat / 100)}
            >
              <title>{`partition ${id}: ${print(value)}, busiest second ${percent(heat)}`}</title>
            </rect>
          );
        })}
      </svg>
    </figure>
  );
}
