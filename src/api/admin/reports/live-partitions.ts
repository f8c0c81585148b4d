/** The partitions of a container as they are at this second, for those who watch. Opens none. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Service } from '../../../service/index.ts';
import { epkFromHex, ringPosition } from '../../../value/index.ts';
import { roundTo } from './partitions.ts';
import type { SeriesRecorder } from './series.ts';

interface LivePartitions {
  /** Grows with every split and merge: then there is more to read. */
  readonly version: number;
  readonly running: readonly {
    readonly kind: string;
    readonly parents: readonly string[];
    readonly step: string;
  }[];
  readonly partitions: readonly LivePartition[];
}

interface LivePartition {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  /** Null where the partition is not open. */
  readonly items: number | null;
  readonly bytes: number | null;
  readonly provisioned: number;
  readonly ruPerSec: number;
  readonly requestUnitsLastMinute: number;
  readonly throttledLastMinute: number;
  readonly servedLastMinute: number;
  /** Busiest second of the last minute. */
  readonly normalizedPercent: number;
}

export function livePartitions(
  service: Service,
  recorder: SeriesRecorder,
  container: ContainerRecord,
): LivePartitions {
  return {
    version: container.routingVersion,
    running: service.resizer.log
      .list(container)
      .filter(({ state }) => state === 'running')
      .map(({ kind, parents, step }) => ({ kind, parents, step })),
    partitions: service.containers.routes(container).map((route) => {
      const { id, min, max } = route.partition;
      const budget = service.containers.budget(route);
      const statistics = route.handle.partition?.statistics();
      return {
        id,
        from: positionOf(min, container),
        to: positionOf(max, container),
        items: statistics?.itemCount ?? null,
        bytes: statistics?.itemBytes ?? null,
        provisioned: roundTo(budget.provisioned, 1),
        ruPerSec: roundTo(recorder.lastSecond(route), 1),
        requestUnitsLastMinute: roundTo(budget.requestUnitsLastMinute, 1),
        throttledLastMinute: budget.throttledLastMinute,
        servedLastMinute: Math.round(recorder.servedLastMinute(route)),
        normalizedPercent: roundTo(budget.normalizedPercent, 1),
      };
    }),
  };
}

/** Boundaries never change their place, and finding it takes some microseconds. */
const positions = new Map<string, number>();
const POSITIONS_MAX = 10_000;

function positionOf(hash: string, { partitionKey }: ContainerRecord): number {
  const name = `${partitionKey.kind} ${partitionKey.version} ${hash}`;
  const known = positions.get(name);
  if (known !== undefined) return known;
  if (positions.size >= POSITIONS_MAX) positions.clear();
  const position = ringPosition(epkFromHex(hash), partitionKey);
  positions.set(name, position);
  return position;
}
