/**
 * Two strips: one box of the same width for each partition, and where each lies in the hash space; ribbons join them. A
 * partition with one hot key owns one hash and is a hairline in the second: the first shows it all the same.
 */
import { useRef } from 'preact/hooks';
import { heatColor, inkOn } from '../lib/colors.ts';
import { bytes, count, percent, units } from '../lib/format.ts';
import type { Partition } from '../lib/types.ts';
import { useWidth } from '../lib/width.ts';

const BOX_HEIGHT = 84;
const RIBBON_HEIGHT = 34;
const HASH_HEIGHT = 26;
const BOX_WIDTH_MIN = 12;
/** Beyond this many the boxes become rows, without ribbons. */
const ONE_ROW_MAX = 128;
const ROW_HEIGHT = 34;
const GAP = 2;
/** Hairlines are drawn this wide. */
const HAIRLINE = 2;

interface StripsProps {
  readonly partitions: readonly Partition[];
  readonly storageLimit: number;
  readonly chosen: string | undefined;
  readonly onChoose: (id: string | undefined) => void;
}

export function Strips(props: StripsProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const { partitions, chosen, onChoose } = props;
  const move = (step: number): void => {
    const at = partitions.findIndex(({ id }) => id === chosen);
    const next = partitions[Math.min(partitions.length - 1, Math.max(0, at + step))];
    if (next !== undefined) onChoose(next.id);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowRight') move(1);
    else if (event.key === 'ArrowLeft') move(-1);
    else if (event.key === 'Escape') onChoose(undefined);
    else return;
    event.preventDefault();
  };
  return (
    <section class="card picture">
      <h2>
        Partitions{' '}
        <small>
          one box each · fill: bytes of {bytes(props.storageLimit)} · colour: busiest second of the
          last minute, in percent of its RU/s · hatched: requests refused
        </small>
      </h2>
      <div
        class="strips"
        ref={frame}
        tabIndex={0}
        role="group"
        aria-label={summary(partitions)}
        onKeyDown={onKeyDown}
      >
        {width > 0 &&
          (partitions.length > ONE_ROW_MAX ? (
            <Rows {...props} width={width} />
          ) : (
            <TwoStrips {...props} width={width} />
          ))}
      </div>
      <Legend />
    </section>
  );
}

/** What the picture says, in one sentence. */
function summary(partitions: readonly Partition[]): string {
  const hottest = partitions.reduce<Partition | undefined>(
    (best, partition) =>
      best === undefined || partition.normalizedPercent > best.normalizedPercent ? partition : best,
    undefined,
  );
  if (hottest === undefined) return 'No partitions';
  const all = partitions.reduce((sum, partition) => sum + partition.bytes, 0);
  const share = all === 0 ? 0 : Math.round((100 * hottest.bytes) / all);
  return `${partitions.length} partitions; the hottest is ${hottest.id} with ${percent(hottest.normalizedPercent)} of its RU/s in its busiest second and ${share} percent of all bytes`;
}

type Sized = StripsProps & { readonly width: number };

function TwoStrips({ partitions, storageLimit, chosen, onChoose, width }: Sized) {
  const box = Math.max(BOX_WIDTH_MIN, (width - 2) / partitions.length);
  const whole = Math.max(width, box * partitions.length);
  const height = BOX_HEIGHT + RIBBON_HEIGHT + HASH_HEIGHT;
  return (
    <svg width={whole} height={height} aria-hidden="true">
      <Hatch />
      {partitions.map((partition, at) => {
        const isChosen = partition.id === chosen;
        const left = at * box;
        const from = partition.from * (whole - 2) + 1;
        const to = Math.max(from + HAIRLINE, partition.to * (whole - 2) + 1);
        const heat = partition.normalizedPercent / 100;
        return (
          <g
            key={partition.id}
            class={isChosen ? 'part chosen' : 'part'}
            data-partition={partition.id}
            onClick={() => onChoose(partition.id)}
          >
            <title>{describe(partition)}</title>
            <path
              class="ribbon"
              d={`M${left + GAP / 2},${BOX_HEIGHT} L${left + box - GAP / 2},${BOX_HEIGHT} L${to},${BOX_HEIGHT + RIBBON_HEIGHT} L${from},${BOX_HEIGHT + RIBBON_HEIGHT} Z`}
            />
            <Box partition={partition} left={left} width={box - GAP} storageLimit={storageLimit} />
            <rect
              class="place"
              x={from}
              y={BOX_HEIGHT + RIBBON_HEIGHT}
              width={Math.max(HAIRLINE, to - from - 1)}
              height={HASH_HEIGHT}
              fill={heatColor(heat)}
            />
          </g>
        );
      })}
    </svg>
  );
}

function Box({
  partition,
  left,
  width,
  storageLimit,
}: {
  readonly partition: Partition;
  readonly left: number;
  readonly width: number;
  readonly storageLimit: number;
}) {
  const heat = partition.normalizedPercent / 100;
  const fill = Math.min(1, partition.bytes / storageLimit) * BOX_HEIGHT;
  const line =
    partition.largestKey === null
      ? undefined
      : BOX_HEIGHT * (1 - Math.min(1, partition.largestKey.percent / 100));
  return (
    <>
      <rect
        class="box"
        x={left + GAP / 2}
        y={0}
        width={width}
        height={BOX_HEIGHT}
        rx={3}
        fill={heatColor(heat)}
      />
      {fill > 0 && (
        <rect
          class="fill"
          x={left + GAP / 2}
          y={BOX_HEIGHT - fill}
          width={width}
          height={Math.max(2, fill)}
        />
      )}
      {partition.throttledLastMinute > 0 && (
        <rect
          class="hatched"
          x={left + GAP / 2}
          y={0}
          width={width}
          height={BOX_HEIGHT}
          fill="url(#refused)"
        />
      )}
      {line !== undefined && (
        <line class="largest" x1={left + GAP} x2={left + width} y1={line} y2={line} />
      )}
      {width >= 26 && (
        <text x={left + width / 2 + 1} y={16} text-anchor="middle" fill={inkOn(heat)}>
          {partition.id}
        </text>
      )}
      {width >= 46 && (
        <text
          class="figure"
          x={left + width / 2 + 1}
          y={34}
          text-anchor="middle"
          fill={inkOn(heat)}
        >
          {Math.round(partition.normalizedPercent)} %
        </text>
      )}
      {width >= 84 && (
        <text class="small" x={left + width / 2 + 1} y={52} text-anchor="middle" fill={inkOn(heat)}>
          {bytes(partition.bytes)}
        </text>
      )}
    </>
  );
}

/** Many partitions: rows of small boxes, in the order of the hash space. */
function Rows({ partitions, chosen, onChoose, width }: Sized) {
  const perRow = Math.max(16, Math.floor(width / 18));
  const box = width / perRow;
  const rows = Math.ceil(partitions.length / perRow);
  return (
    <svg width={width} height={rows * ROW_HEIGHT} aria-hidden="true">
      <Hatch />
      {partitions.map((partition, at) => {
        const x = (at % perRow) * box;
        const y = Math.floor(at / perRow) * ROW_HEIGHT;
        return (
          <g
            key={partition.id}
            class={partition.id === chosen ? 'part chosen' : 'part'}
            data-partition={partition.id}
            onClick={() => onChoose(partition.id)}
          >
            <title>{describe(partition)}</title>
            <rect
              class="box"
              x={x + 1}
              y={y}
              width={box - 2}
              height={ROW_HEIGHT - 4}
              rx={2}
              fill={heatColor(partition.normalizedPercent / 100)}
            />
            {partition.throttledLastMinute > 0 && (
              <rect x={x + 1} y={y} width={box - 2} height={ROW_HEIGHT - 4} fill="url(#refused)" />
            )}
          </g>
        );
      })}
    </svg>
  );
}

function Hatch() {
  return (
    <defs>
      <pattern
        id="refused"
        width="7"
        height="7"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect class="stripe" width="2.4" height="7" />
      </pattern>
    </defs>
  );
}

function Legend() {
  return (
    <p class="legend muted">
      {[0, 0.25, 0.5, 0.75, 1].map((share) => (
        <span key={share}>
          <svg width="14" height="14" aria-hidden="true">
            <rect width="14" height="14" rx="2" fill={heatColor(share)} />
          </svg>{' '}
          {share * 100} %
        </span>
      ))}
      <span>upper strip: equal widths · lower strip: the hash space, 0 to 1 · ← → choose</span>
    </p>
  );
}

function describe(partition: Partition): string {
  const { id, items, normalizedPercent, provisioned, throttledLastMinute } = partition;
  return [
    `Partition ${id}`,
    `${count(items)} items, ${bytes(partition.bytes)}`,
    `busiest second of the last minute: ${percent(normalizedPercent)} of ${units(provisioned)} RU/s`,
    `${count(throttledLastMinute)} requests refused in the last minute`,
  ].join('\n');
}
