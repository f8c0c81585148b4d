/** Which throughput a database or container may have, and how many partitions follow from it. */
import { DomainError } from '../base/index.ts';
import { type ContainerKind, provisionedMax, type ThroughputSetting } from '../catalog/index.ts';
import type { Settings } from './settings.ts';

export const THROUGHPUT_DEFAULT = 400;
const FIXED_THROUGHPUT_MAX = 10_000;
/** With a key and at least this much a container is unlimited. */
export const UNLIMITED_FROM = 1000;
/** Each container that shares a database's throughput needs this much of it. */
const SHARING_MIN = 100;
const GIB = 1024 ** 3;

interface Rules {
  readonly min: number;
  readonly step: number;
  /** RU/s per GiB stored. */
  readonly perGib: number;
  /** Share of the highest throughput ever that must be kept. */
  readonly ofHighest: number;
}

const RULES: Readonly<Record<ThroughputSetting['kind'], Rules>> = {
  manual: { min: 400, step: 100, perGib: 1, ofHighest: 1 / 100 },
  autoscale: { min: 1000, step: 1000, perGib: 10, ofHighest: 1 / 10 },
};

/** What throughput is for, and what it was used for so far. */
export interface ThroughputHistory {
  readonly kind: ContainerKind | 'database';
  readonly highestEver: number;
  readonly storageBytes: number;
  /** Containers that share it; 0 where it is one container's own. */
  readonly sharingCount: number;
}

export interface ThroughputBounds {
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
  const { step } = rules;
  const least = Math.max(
    rules.min,
    history.kind === 'unlimited' && kind === 'manual' ? settings.unlimitedThroughputMin : 0,
    SHARING_MIN * history.sharingCount,
    rules.perGib * (history.storageBytes / GIB),
    rules.ofHighest * history.highestEver,
  );
  const max = history.kind === 'fixed' ? FIXED_THROUGHPUT_MAX : settings.throughputQuota;
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

/** What a container is: it follows from its key and the throughput it is created with. */
export function containerKind(hasPartitionKey: boolean, throughput: number): ContainerKind {
  return hasPartitionKey && throughput >= UNLIMITED_FROM ? 'unlimited' : 'fixed';
}

/** N = ceil(T / t). */
export function partitionCount(throughput: number, settings: Settings): number {
  return Math.max(1, Math.ceil(throughput / settings.partitionThroughputLimit));
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
