/** Lines of the busiest partitions and of the rest together, with a mark for each split. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { LINE_COLORS } from '../lib/colors.ts';
import { bytes, percent, units } from '../lib/format.ts';
import type { Series } from '../lib/types.ts';
import type { Measure } from './series-section.tsx';

const SHOWN_MAX = 5;
const HEIGHT = 240;

export interface ChartProps {
  readonly series: Series;
  readonly measure: Measure;
}

interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

export function SeriesChart({ series, measure }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const shape = useRef('');
  const marks = useRef(series.marks);
  marks.current = series.marks;
  const lines = linesOf(series, measure);
  const times = (lines[0]?.values ?? []).map((_, at) => series.from + at * series.stepSec);
  useEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const data = [times, ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
    const now = `${measure} ${lines.map(({ label }) => label).join()}`;
    if (chart.current !== undefined && shape.current === now) {
      chart.current.setData(data);
      return;
    }
    shape.current = now;
    chart.current?.destroy();
    chart.current = new uPlot(
      optionsOf(current, lines, measure, () => marks.current),
      data,
      current,
    );
  });
  useEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const observer = new ResizeObserver(() =>
      chart.current?.setSize({ width: current.clientWidth, height: HEIGHT }),
    );
    observer.observe(current);
    return () => {
      observer.disconnect();
      chart.current?.destroy();
    };
  }, []);
  const last = lines.map(
    ({ label, values }) => `${label}: ${print(measure)(Number(values.at(-1) ?? 0))}`,
  );
  return (
    <>
      <div class="chart" ref={frame} role="img" aria-label={`Now ${last.join(', ')}`} />
      <p class="legend muted">
        {lines.map(({ label }, at) => (
          <span key={label}>
            <svg width="14" height="4" aria-hidden="true">
              <rect width="14" height="4" fill={LINE_COLORS[at] ?? '#888'} />
            </svg>{' '}
            {label}
          </span>
        ))}
        <span>dashed: a split or merge · drag to zoom, double click for all</span>
      </p>
    </>
  );
}

function linesOf({ partitions }: Series, measure: Measure): readonly Line[] {
  const valuesOf = (partition: Series['partitions'][number]): readonly (number | null)[] =>
    measure === 'throttled'
      ? partition.throttled.map((refused, at) => {
          const all = (refused ?? 0) + (partition.served[at] ?? 0);
          return refused === null ? null : all === 0 ? 0 : (100 * refused) / all;
        })
      : partition[measure];
  const all = partitions.map((partition) => ({
    label: `partition ${partition.id}`,
    values: valuesOf(partition),
  }));
  const weight = ({ values }: Line): number =>
    values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const sorted = all.sort((a, b) => weight(b) - weight(a));
  const rest = sorted.slice(SHOWN_MAX);
  const top = sorted.slice(0, SHOWN_MAX);
  if (rest.length === 0 || measure === 'throttled') return top;
  const sum = (rest[0]?.values ?? []).map((_, at) =>
    rest.every(({ values }) => values[at] === null)
      ? null
      : rest.reduce((total, { values }) => total + (values[at] ?? 0), 0),
  );
  return [...top, { label: `${rest.length} others together`, values: sum }];
}

function print(measure: Measure): (value: number) => string {
  if (measure === 'bytes') return bytes;
  return measure === 'ru' ? units : percent;
}

function optionsOf(
  frame: HTMLElement,
  lines: readonly Line[],
  measure: Measure,
  marks: () => Series['marks'],
): uPlot.Options {
  const style = getComputedStyle(frame);
  const ink = style.getPropertyValue('color');
  const grid = { stroke: 'rgb(128 128 128 / 0.18)', width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: '12px system-ui' };
  return {
    width: frame.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { points: { size: 6 } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      axis,
      { ...axis, size: 70, values: (_, ticks) => ticks.map((tick) => print(measure)(tick)) },
    ],
    series: [
      {},
      ...lines.map(({ label }, at) => ({
        label,
        stroke: LINE_COLORS[at] ?? '#888',
        width: 1.75,
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: { draw: [(chart) => drawMarks(chart, marks(), ink)] },
  };
}

function drawMarks(chart: uPlot, marks: Series['marks'], ink: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.fillStyle = ink;
  ctx.globalAlpha = 0.55;
  ctx.font = `${11 * devicePixelRatio}px system-ui`;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  for (const { at, kind, parents } of marks) {
    const x = chart.valToPos(at, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (marks.length <= 8)
      ctx.fillText(`${kind} ${parents.join('+')}`, x + 4, bbox.top + 12 * devicePixelRatio);
  }
  ctx.restore();
}
