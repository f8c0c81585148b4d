/**
 * Decides when a partition that refuses requests for minutes is split between the keys that share its heat.
 *
 * The halves of one of N partitions have 2/(N+1) of the throughput between them where it had 1/N: more with two partitions
 * or more, at the cost of the others; nothing with one. One hot key gains nothing at all: it stays in one of the halves.
 */
import { type ContainerRecord, provisionedMax } from '../../catalog/index.ts';
import type { HeatReport, PartitionBudget } from '../../throughput/index.ts';

/** A minute counts as hot with refusals in this many of its seconds. */
const HOT_SECONDS = 45;

/** Hot minutes in a row before a split: a short peak needs none. */
const HOT_MINUTES = 3;

const MINUTE_MS = 60_000;

/** A key with more than this share of the heat would make one of the halves as hot. */
const SHARE_MAX = 0.5;

/** Splits by heat make at most this many times the partitions that the throughput needs. */
const PARTITIONS_FACTOR = 2;

/** Counts the minutes in a row that a partition was hot. */
export class HotMinutes {
  #count = 0;
  #nextCheckMs = 0;

  /** Called with every refusal; true once when the partition has been hot for long. */
  isHotForLong(budget: PartitionBudget, nowMs: number): boolean {
    if (nowMs < this.#nextCheckMs) return false;
    // After a quiet time the first refusal only begins the first minute.
    const isFirst = nowMs >= this.#nextCheckMs + MINUTE_MS;
    const isHot = !isFirst && budget.report(nowMs).throttledSecondsLastMinute >= HOT_SECONDS;
    this.#nextCheckMs = nowMs + MINUTE_MS;
    this.#count = isHot ? this.#count + 1 : 0;
    if (this.#count < HOT_MINUTES) return false;
    this.#count = 0;
    return true;
  }
}

interface HeatSplitRules {
  readonly partitionsNeeded: number;
}

/** True where a split would give the hot partition more throughput. */
export function isWorthSplitting(
  { kind, throughput, partitions }: ContainerRecord,
  heat: HeatReport,
  { partitionsNeeded }: HeatSplitRules,
): boolean {
  if (kind === 'fixed' || throughput === undefined || provisionedMax(throughput.setting) === 0)
    return false;
  const count = partitions.length;
  if (count < 2 || count + 1 > PARTITIONS_FACTOR * partitionsNeeded) return false;
  // Where throughput was divided by hand, the halves would only have what their parent had.
  const isEven = partitions.every(({ throughputFraction }) => throughputFraction * count < 1.001);
  const [hottest] = heat.keys;
  if (!isEven || hottest === undefined || heat.keys.length < 2) return false;
  return hottest.requestUnits <= SHARE_MAX * heat.requestUnits;
}
