/** Which throughput a database or container may have, and how many partitions follow from it. */
import { DomainError } from '../../base/index.ts';
import { type ContainerKind, provisionedMax, type ThroughputSetting } from '../../catalog/index.ts';
import type { Settings } from '../settings.ts';

/** Each container that shares a database's throughput needs this much of it. */
const SHARING_MIN = 100;
const GIB = 1024 ** 3;

interface Rules {
  /** RU/s per GiB stored. */
  readonly perGib: number;
  /** Share of the highest throughput ever that must be kept. */
  readonly ofHighest: number;
}

const RULES: Readonly<Record<ThroughputSetting['kind'], Rules>> = {
  manual: { perGib: 1, ofHighest: 1 / 100 },
  autoscale: { perGib: 10, ofHighest: 1 / 10 },
};

/** The least throughput of autoscale, and its step (documented). */
const AUTOSCALE_STEP = 1000;

/** The kind of resource that has the throughput, and its history, which bounds what may be set. */
export interface ThroughputHistory {
  readonly kind: ContainerKind | 'database';
  readonly highestEver: number;
  readonly storageBytes: number;
  /** Containers that share it; 0 where it is one container's own. */
  readonly sharingCount: number;
}

interface ThroughputBounds {
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

export function newHistory(kind: ThroughputHistory['kind']): ThroughputHistory {
  return { kind, highestEver: 0, storageBytes: 0, sharingCount: 0 };
}

export function throughputBounds(
  kind: ThroughputSetting['kind'],
  history: ThroughputHistory,
  settings: Settings,
): ThroughputBounds {
  const rules = RULES[kind];
  const isManual = kind === 'manual';
  const step = isManual ? settings.throughputStep : AUTOSCALE_STEP;
  const least = Math.max(
    isManual ? settings.throughputMin : AUTOSCALE_STEP,
    history.kind === 'unlimited' && isManual ? settings.unlimitedThroughputMin : 0,
    SHARING_MIN * history.sharingCount,
    rules.perGib * (history.storageBytes / GIB),
    rules.ofHighest * history.highestEver,
  );
  const max = history.kind === 'fixed' ? settings.fixedThroughputMax : settings.throughputQuota;
  return { min: Math.min(max, roundUp(least, step)), max, step };
}

/** Throws `invalidInput` naming the allowed range. */
export function checkThroughput(
  setting: ThroughputSetting,
  history: ThroughputHistory,
  settings: Settings,
): void {
  const { min, max, step } = throughputBounds(setting.kind, history, settings);
  const value = provisionedMax(setting);
  if (Number.isSafeInteger(value) && value >= min && value <= max && value % step === 0) return;
  const tooLittle =
    value < min
      ? ` Requested throughput ${value} is less than required minimum throughput ${min}.`
      : '';
  throw new DomainError(
    'invalidInput',
    `The offer should have valid throughput values between ${min} and ${max} inclusive in increments of ${step}.${tooLittle}`,
  );
}

/** The throughput of the other kind that a migration gives where the client names none. */
export function migratedSetting(
  setting: ThroughputSetting,
  history: ThroughputHistory,
  settings: Settings,
): ThroughputSetting {
  const kind = setting.kind === 'manual' ? 'autoscale' : 'manual';
  const { min, max, step } = throughputBounds(kind, history, settings);
  const value = Math.min(max, Math.max(min, roundUp(provisionedMax(setting), step)));
  return kind === 'manual' ? { kind, requestUnits: value } : { kind, requestUnitsMax: value };
}

/** The kind of a container follows from its key and the throughput that it is created with. */
export function containerKind(
  hasPartitionKey: boolean,
  throughput: number,
  { unlimitedThroughputMin }: Settings,
): ContainerKind {
  return hasPartitionKey && throughput >= unlimitedThroughputMin ? 'unlimited' : 'fixed';
}

/** Partitions that this throughput needs: no partition serves more than the limit. */
export function partitionCount(throughput: number, settings: Settings): number {
  return Math.max(1, Math.ceil(throughput / settings.partitionThroughputLimit));
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
