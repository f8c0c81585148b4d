/** What a throughput means before it is set: how many partitions, what each serves, which ones would split. */
import { DomainError } from '../../../base/index.ts';
import { type ContainerRecord, provisionedMax } from '../../../catalog/index.ts';
import {
  containerKind,
  newHistory,
  partitionCount,
  type Service,
  throughputBounds,
} from '../../../service/index.ts';
import {
  epkFromHex,
  isMap,
  ringPosition,
  type Value,
  type ValueMap,
} from '../../../value/index.ts';
import { namedContainer, roundTo } from './partitions.ts';

interface PlanReport {
  readonly kind: string;
  readonly partitions: number;
  /** RU/s of each. */
  readonly each: number;
  /** The most RU/s one key can use. */
  readonly perKey: number;
  /** Bytes that one key, and one partition, may hold. */
  readonly bytesPerKey: number;
  readonly bytesPerPartition: number;
  /** The most one partition serves: N is the throughput divided by this, rounded up. */
  readonly partitionLimit: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  /** RU/s between which autoscale moves; null for manual throughput. */
  readonly autoscale: { readonly from: number; readonly to: number } | null;
  /** Partitions that would be split, each as often as it is named. */
  readonly splits: readonly string[];
  readonly warnings: readonly string[];
}

/** Body: `{"throughput"|"autoscaleMax", "key"?: ["/a"], "bytes"?, "current"?: {"db", "container"}}`. */
export function planThroughput(service: Service, body: ValueMap): PlanReport {
  const current = currentOf(service, body.current);
  const isAutoscale = typeof body.autoscaleMax === 'number';
  const wanted = isAutoscale ? body.autoscaleMax : body.throughput;
  if (typeof wanted !== 'number' || !Number.isFinite(wanted) || wanted < 0)
    throw new DomainError('invalidInput', 'throughput or autoscaleMax is a number of RU/s.');
  const { settings } = service;
  const { key } = body;
  const hasKey =
    current === undefined
      ? Array.isArray(key) && key.some((path) => typeof path === 'string' && path !== '')
      : current.partitionKey.systemKey !== true;
  const kind =
    current?.kind === 'unlimited' ? 'unlimited' : containerKind(hasKey, wanted, settings);
  const bounds = boundsOf(service, current, { kind, isAutoscale });
  const bytes = typeof body.bytes === 'number' ? body.bytes : 0;
  const needed =
    kind === 'fixed'
      ? 1
      : Math.max(
          partitionCount(wanted, settings),
          Math.ceil(bytes / settings.partitionStorageLimit),
        );
  const present = current?.partitions.length ?? 0;
  const partitions = Math.max(needed, present);
  const each = Math.min(settings.partitionThroughputLimit, wanted / partitions);
  return {
    kind,
    partitions,
    each: roundTo(each, 1),
    perKey: roundTo(each, 1),
    bytesPerKey: settings.logicalPartitionLimit,
    bytesPerPartition: settings.partitionStorageLimit,
    partitionLimit: settings.partitionThroughputLimit,
    ...bounds,
    autoscale: isAutoscale ? { from: Math.ceil(wanted / 10), to: wanted } : null,
    splits: current === undefined ? [] : splitsOf(current, partitions - present),
    warnings: warningsOf({ wanted, bounds, kind, hasKey, needed, present, each, current }),
  };
}

function currentOf(service: Service, current: Value): ContainerRecord | undefined {
  if (current === undefined || current === null) return undefined;
  const { db, container } = isMap(current) ? current : {};
  if (typeof db !== 'string' || typeof container !== 'string')
    throw new DomainError('invalidInput', 'current names a container: {"db", "container"}.');
  return namedContainer(service, new URLSearchParams({ db, container })).container;
}

type Bounds = Pick<PlanReport, 'min' | 'max' | 'step'>;

function boundsOf(
  service: Service,
  current: ContainerRecord | undefined,
  { kind, isAutoscale }: { readonly kind: 'fixed' | 'unlimited'; readonly isAutoscale: boolean },
): Bounds {
  const { settings } = service;
  const bounds = throughputBounds(isAutoscale ? 'autoscale' : 'manual', newHistory(kind), settings);
  const offer = service.offers
    .list()
    .find(({ container }) => container?.rid === current?.rid && container !== undefined);
  return offer === undefined
    ? bounds
    : { ...bounds, min: Math.max(bounds.min, service.offers.minimum(offer)) };
}

/** The widest is halved first, as the balancer does it. */
function splitsOf({ partitions, partitionKey }: ContainerRecord, count: number): readonly string[] {
  const parts = partitions.map(({ id, min, max }) => ({
    id,
    width:
      ringPosition(epkFromHex(max), partitionKey) - ringPosition(epkFromHex(min), partitionKey),
  }));
  const split: string[] = [];
  for (let at = 0; at < Math.min(count, 1000); at++) {
    const widest = parts.reduce((best, part) => (part.width > best.width ? part : best));
    split.push(widest.id);
    widest.width /= 2;
    parts.push({ ...widest });
  }
  return split;
}

interface Judged {
  readonly wanted: number;
  readonly bounds: Bounds;
  readonly kind: string;
  readonly hasKey: boolean;
  readonly needed: number;
  readonly present: number;
  readonly each: number;
  readonly current: ContainerRecord | undefined;
}

function warningsOf({ wanted, bounds, ...judged }: Judged): readonly string[] {
  const { kind, hasKey, needed, present, each, current } = judged;
  const warnings: string[] = [];
  const { min, max, step } = bounds;
  if (wanted < min || wanted > max || wanted % step !== 0)
    warnings.push(`Allowed are ${min} to ${max} RU/s in steps of ${step}.`);
  if (kind === 'fixed' && !hasKey)
    warnings.push('Without a partition key the container has one partition for ever.');
  else if (kind === 'fixed')
    warnings.push(
      'With less than 1,000 RU/s the container is fixed: one partition until it is scaled up.',
    );
  if (needed < present)
    warnings.push(
      `${needed} would be enough, but the ${present} partitions stay: one key then gets at most ${roundTo(each, 1)} RU/s.`,
    );
  const before =
    current?.throughput === undefined ? 0 : provisionedMax(current.throughput.setting) / present;
  if (before > 0 && each < before * 0.999 && needed >= present)
    warnings.push(
      `One key could use ${roundTo(before, 1)} RU/s until now, then ${roundTo(each, 1)}.`,
    );
  return warnings;
}
