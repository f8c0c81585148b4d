/** Which throughput a database or container may have, and how many partitions follow from it. */
import { DomainError } from '../base/index.ts';
import { type ContainerKind, provisionedMax, type ThroughputSetting } from '../catalog/index.ts';
import type { Settings } from './settings.ts';

export const THROUGHPUT_DEFAULT = 400;
const THROUGHPUT_MIN = 400;
const THROUGHPUT_STEP = 100;
const AUTOSCALE_MIN = 1000;
const AUTOSCALE_STEP = 1000;
/** With a key and at least this much a container is unlimited. */
const UNLIMITED_THROUGHPUT_MIN = 1000;
const FIXED_THROUGHPUT_MAX = 10_000;

/** Throws `invalidInput` naming the allowed range. */
export function checkThroughput(
  setting: ThroughputSetting,
  kind: ContainerKind,
  settings: Settings,
): void {
  const max = kind === 'fixed' ? FIXED_THROUGHPUT_MAX : settings.throughputQuota;
  const [min, step] =
    setting.kind === 'manual' ? [THROUGHPUT_MIN, THROUGHPUT_STEP] : [AUTOSCALE_MIN, AUTOSCALE_STEP];
  const value = provisionedMax(setting);
  if (Number.isSafeInteger(value) && value >= min && value <= max && value % step === 0) return;
  throw new DomainError(
    'invalidInput',
    `The offer should have valid throughput values between ${min} and ${max} inclusive in increments of ${step}.`,
  );
}

/** What a container is: it follows from its key and the throughput it is created with. */
export function containerKind(hasPartitionKey: boolean, throughput: number): ContainerKind {
  return hasPartitionKey && throughput >= UNLIMITED_THROUGHPUT_MIN ? 'unlimited' : 'fixed';
}

/** N = ceil(T / t). */
export function partitionCount(throughput: number, settings: Settings): number {
  return Math.max(1, Math.ceil(throughput / settings.partitionThroughputLimit));
}
