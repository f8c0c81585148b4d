/** The life of every partition: time to the right, hash space downwards, colour is heat. Splits fork to the right. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask } from '../lib/api.ts';
import { heatColor } from '../lib/colors.ts';
import { bytes, clock, count, duration } from '../lib/format.ts';
import { useInterval, useLoaded } from '../lib/loaded.ts';
import type { Lineage, PartitionLife } from '../lib/types.ts';
import { useWidth } from '../lib/width.ts';
import { Await } from '../parts/states.tsx';
import { causeText } from './key-cards.tsx';

const HEIGHT = 260;
/** Hairlines are drawn this high. */
const LINE_MIN = 3;
const RELOAD_MS = 10_000;
const FRAME_MS = 60;

interface Props {
  readonly db: string;
  readonly container: string;
  readonly version: number | undefined;
  readonly isTable: boolean;
}

export function LineagePicture({ db, container, version, isTable }: Props) {
  const lineage = useLoaded(() => ask<Lineage>('lineage', { db, container }), [db, container]);
  useEffect(lineage.reload, [version]);
  useInterval(lineage.refresh, RELOAD_MS);
  return (
    <section class="card" data-card="lineage">
      <h2>
        Lineage{' '}
        <small>
          each partition from its birth to its end · down: the hash space · colour: RU/s of the last
          hour
        </small>
      </h2>
      <Await loaded={lineage} what="the lineage">
        {(value) => (isTable ? <LineageTable lineage={value} /> : <Picture lineage={value} />)}
      </Await>
    </section>
  );
}

interface Scale {
  readonly start: number;
  readonly end: number;
  readonly width: number;
}

/** Partitions that were there from the start are drawn from a little before the first split on. */
function scaleOf({ partitions, now }: Lineage, width: number): Scale {
  const births = partitions
    .filter(({ parents }) => parents.length > 0)
    .map(({ bornAt }) => bornAt ?? now);
  const oldest = Math.min(now, ...partitions.map(({ bornAt }) => bornAt ?? now));
  const first = births.length === 0 ? oldest : Math.min(...births);
  const lead = Math.max(5, (now - first) * 0.08);
  return { start: Math.max(oldest, first - lead), end: now, width };
}

function Picture({ lineage }: { readonly lineage: Lineage }) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(frame);
  const [chosen, setChosen] = useState<PartitionLife>();
  const [until, setUntil] = useState(1);
  const [isPlaying, setPlaying] = useState(false);
  const scale = scaleOf(lineage, width);
  useEffect(() => {
    const { current } = canvas;
    if (current !== null && width > 0) draw(current, lineage, scale, { until, chosen: chosen?.id });
  });
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(() => setUntil((before) => Math.min(1, before + 0.01)), FRAME_MS);
    return () => clearInterval(timer);
  }, [isPlaying]);
  useEffect(() => {
    if (until >= 1) setPlaying(false);
  }, [until]);
  const play = (): void => {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      setUntil(until >= 1 ? 0.5 : 1);
      return;
    }
    if (!isPlaying && until >= 1) setUntil(0);
    setPlaying(!isPlaying);
  };
  const onClick = (event: MouseEvent): void => {
    const at = scale.start + (event.offsetX / width) * (scale.end - scale.start);
    setChosen(lifeAt(lineage, at, event.offsetY / HEIGHT));
  };
  const ended = lineage.partitions.filter(({ endedAt }) => endedAt !== null).length;
  return (
    <>
      <div class="lineage" ref={frame}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${lineage.partitions.length} partitions in the life of this container, ${ended} of them replaced by splits or merges since ${clock(scale.start)}`}
          onClick={onClick}
        />
      </div>
      <p class="row">
        <span class="muted">{clock(scale.start)}</span>
        <button type="button" onClick={play}>
          {isPlaying ? 'Pause' : 'Play'}
        </button>
        <input
          type="range"
          class="grow"
          min={0}
          max={1}
          step={0.001}
          value={until}
          aria-label="Moment"
          onInput={(event) => setUntil(Number(event.currentTarget.value))}
        />
        <span class="muted">{clock(scale.start + until * (scale.end - scale.start))}</span>
      </p>
      {chosen === undefined ? (
        <p class="muted">
          Choose a partition in the picture: why it was made, what was copied, how long writers
          waited.
        </p>
      ) : (
        <p>
          <strong>Partition {chosen.id}</strong>{' '}
          {chosen.parents.length > 0 && `from ${chosen.parents.join(' and ')}`}:{' '}
          {causeText(chosen.cause)}
          {chosen.bytesCopied === null ? '' : `, ${bytes(chosen.bytesCopied)} copied`}
          {chosen.pauseMs === null ? '' : `, writers waited ${count(chosen.pauseMs)} ms`}, hash
          space {chosen.from.toFixed(5)} to {chosen.to.toFixed(5)}, {lifeText(chosen, lineage.now)}
        </p>
      )}
    </>
  );
}

function lifeText({ bornAt, endedAt }: PartitionLife, now: number): string {
  const born = bornAt === null ? '' : `since ${clock(bornAt)} `;
  return endedAt === null
    ? `${born}(${duration(now - (bornAt ?? now))})`
    : `${born}until ${clock(endedAt)}`;
}

function lifeAt({ partitions, now }: Lineage, at: number, y: number): PartitionLife | undefined {
  const slack = LINE_MIN / HEIGHT;
  return partitions
    .filter(({ bornAt, endedAt }) => (bornAt ?? 0) <= at && at <= (endedAt ?? now))
    .filter(({ from, to }) => from - slack <= y && y <= to + slack)
    .sort((a, b) => a.to - a.from - (b.to - b.from))[0];
}

function draw(
  canvas: HTMLCanvasElement,
  lineage: Lineage,
  { start, end, width }: Scale,
  { until, chosen }: { readonly until: number; readonly chosen: string | undefined },
): void {
  const ratio = devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = HEIGHT * ratio;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(ratio, ratio);
  const moment = start + until * (end - start);
  const toX = (time: number): number => ((time - start) / Math.max(1, end - start)) * width;
  const { stepSec, from, rows } = lineage.heat;
  const heat = new Map(rows);
  const top = Math.max(1, ...rows.flatMap(([, values]) => values.map((value) => value ?? 0)));
  for (const life of lineage.partitions) {
    const born = Math.max(start, life.bornAt ?? start);
    const ended = Math.min(moment, life.endedAt ?? end);
    if (born >= moment || ended <= born) continue;
    const y = life.from * HEIGHT;
    const height = Math.max(LINE_MIN, (life.to - life.from) * HEIGHT - 1);
    context.fillStyle = heatColor(0);
    context.fillRect(toX(born), y, Math.max(1, toX(ended) - toX(born)), height);
    (heat.get(life.id) ?? []).forEach((value, at) => {
      const time = from + at * stepSec;
      if (value === null || value === 0 || time + stepSec < born || time > ended) return;
      const left = Math.max(toX(born), toX(time));
      const right = Math.min(toX(ended), toX(time + stepSec));
      if (right <= left) return;
      context.fillStyle = heatColor(value / top);
      context.fillRect(left, y, right - left + 0.5, height);
    });
    context.strokeStyle = life.id === chosen ? '#e4572e' : 'rgb(255 255 255 / 0.55)';
    context.lineWidth = life.id === chosen ? 2 : 0.75;
    context.strokeRect(toX(born), y, Math.max(1, toX(ended) - toX(born)), height);
    if (height > 14 && toX(ended) - toX(born) > 26) {
      context.fillStyle = '#ffffff';
      context.font = '11px system-ui';
      context.fillText(life.id, toX(born) + 4, y + 12);
    }
  }
}

function LineageTable({ lineage }: { readonly lineage: Lineage }) {
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label="Lineage as a table">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Partition</th>
            <th scope="col">From</th>
            <th scope="col">Range</th>
            <th scope="col">Born</th>
            <th scope="col">Ended</th>
            <th scope="col">Cause</th>
            <th scope="col" class="number">
              Copied
            </th>
            <th scope="col" class="number">
              Writers waited
            </th>
          </tr>
        </thead>
        <tbody>
          {lineage.partitions.map((life) => (
            <tr key={life.id}>
              <th scope="row">{life.id}</th>
              <td>{life.parents.join(', ') || '–'}</td>
              <td>
                <code>
                  {life.from.toFixed(5)}–{life.to.toFixed(5)}
                </code>
              </td>
              <td>{life.bornAt === null ? '–' : clock(life.bornAt)}</td>
              <td>{life.endedAt === null ? 'lives' : clock(life.endedAt)}</td>
              <td>{causeText(life.cause)}</td>
              <td class="number">{bytes(life.bytesCopied)}</td>
              <td class="number">{life.pauseMs === null ? '–' : `${count(life.pauseMs)} ms`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
