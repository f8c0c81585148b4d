/** The life of every partition of a container: its range, from when to when, and what it came from. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Resize } from '../../../cluster/index.ts';
import type { Service } from '../../../service/index.ts';
import { epkFromHex, ringPosition } from '../../../value/index.ts';
import { namedContainer } from './partitions.ts';
import type { SeriesRecorder, SeriesReport } from './series.ts';

interface LineageReport {
  /** Seconds since 1970. */
  readonly now: number;
  readonly partitions: readonly PartitionLife[];
  readonly heat: {
    readonly stepSec: number;
    readonly from: number;
    readonly rows: readonly (readonly [string, readonly (number | null)[]])[];
  };
}

interface PartitionLife {
  readonly id: string;
  /** Shares of the hash space, 0 to 1. */
  readonly from: number;
  readonly to: number;
  readonly parents: readonly string[];
  /** Seconds since 1970; null where the log does not reach back so far. */
  readonly bornAt: number | null;
  /** Null while it lives. */
  readonly endedAt: number | null;
  /** How it was made: why, how many bytes were copied, how long writers waited. Null for the first ones. */
  readonly cause: string | null;
  readonly bytesCopied: number | null;
  readonly pauseMs: number | null;
}

/** Opens no partition. */
export function reportLineage(
  service: Service,
  recorder: SeriesRecorder,
  query: URLSearchParams,
): LineageReport {
  const { container } = namedContainer(service, query);
  const resizes = service.resizer.log.list(container).filter(({ state }) => state === 'done');
  const series = recorder.report(
    new URLSearchParams(
      [...query].filter(([name]) => name !== 'window').concat([['window', '1h']]),
    ),
  );
  return {
    now: service.clock.nowMs() / 1000,
    partitions: lives(container, resizes),
    heat: { stepSec: series.stepSec, from: series.from, rows: series.partitions.map(rowOf) },
  };
}

function rowOf({ id, ru }: SeriesReport['partitions'][number]) {
  return [id, ru] as const;
}

function lives(container: ContainerRecord, resizes: readonly Resize[]): readonly PartitionLife[] {
  const made = new Map<string, Resize>();
  const ended = new Map<string, Resize>();
  for (const resize of resizes) {
    for (const id of resize.children) made.set(id, resize);
    for (const id of resize.parents) ended.set(id, resize);
  }
  const first = firstBornSec(container);
  const all = [
    ...(container.formerPartitions ?? []).map((former) => ({ ...former, timestampSec: undefined })),
    ...container.partitions,
  ];
  return all.map(({ id, min, max, timestampSec }) => {
    const birth = made.get(id);
    const end = ended.get(id);
    const isLive = timestampSec !== undefined;
    return {
      id,
      from: ringPosition(epkFromHex(min), container.partitionKey),
      to: ringPosition(epkFromHex(max), container.partitionKey),
      parents: birth?.parents ?? [],
      bornAt: birth === undefined ? (timestampSec ?? first) : endSec(birth),
      endedAt: isLive || end === undefined ? null : endSec(end),
      cause: birth?.cause ?? null,
      bytesCopied: birth?.bytesCopied ?? null,
      pauseMs: birth?.pauseMs ?? null,
    };
  });
}

function endSec({ startedMs, durationMs = 0 }: Resize): number {
  return (startedMs + durationMs) / 1000;
}

/** Partitions that were made with the container have its age, as far as any of them tells. */
function firstBornSec({ partitions, timestampSec }: ContainerRecord): number {
  return Math.min(timestampSec, ...partitions.map((partition) => partition.timestampSec));
}
