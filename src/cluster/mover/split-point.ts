/** Finds where to split a partition: between two keys, with half of the bytes or of the heat on each side. */
import { compareBytes } from '../../base/index.ts';
import type { Partition } from '../../partition/index.ts';
import type { HeatReport } from '../../throughput/index.ts';
import {
  type Epk,
  epkFromHex,
  evenEpkBoundaries,
  type PartitionKeyDefinition,
} from '../../value/index.ts';

/** Keys remembered as possible split points: enough for halves that differ by a thousandth. */
const WEIGHTED_KEYS_MAX = 4096;

interface SplitPoint {
  /** The first key of the right half; undefined where there are not two keys. */
  readonly point: Epk | undefined;
  /** Set where all items have this one key. */
  readonly onlyKey: Epk | undefined;
}

export async function findSplitPoint(
  partition: Partition,
  signal: AbortSignal,
): Promise<SplitPoint> {
  const keys = new WeightedKeys();
  await partition.scanKeySizes(({ epk, bytes }) => keys.add(epk, bytes), signal);
  return { point: keys.middle(), onlyKey: keys.onlyKey };
}

/** Between two keys with half of the heat on each side; undefined where fewer than two are known. */
export function splitPointByHeat({ keys: hotKeys }: HeatReport): Epk | undefined {
  const keys = new WeightedKeys();
  const inOrder = [...hotKeys].sort((a, b) => compareBytes(a.epk, b.epk));
  for (const { epk, requestUnits } of inOrder) keys.add(epk, requestUnits);
  return keys.middle();
}

/** Keys in order, each with the weight of all before it. Where there are too many, every second one is dropped. */
class WeightedKeys {
  #keys: { readonly epk: Epk; readonly left: number }[] = [];
  #first: Epk | undefined;
  #keyCount = 0;
  #total = 0;
  #step = 1;

  add(epk: Epk, weight: number): void {
    if (this.#keyCount === 0) this.#first = epk;
    else if (this.#keyCount % this.#step === 0) this.#keys.push({ epk, left: this.#total });
    this.#keyCount++;
    this.#total += weight;
    if (this.#keys.length < 2 * WEIGHTED_KEYS_MAX) return;
    this.#keys = this.#keys.filter((_, at) => at % 2 === 1);
    this.#step *= 2;
  }

  get onlyKey(): Epk | undefined {
    return this.#keyCount === 1 ? this.#first : undefined;
  }

  /** The key with about half of the weight before it; undefined where there are not two keys. */
  middle(): Epk | undefined {
    let best: { readonly epk: Epk; readonly distance: number } | undefined;
    for (const { epk, left } of this.#keys) {
      const distance = Math.abs(this.#total - 2 * left);
      if (best === undefined || distance < best.distance) best = { epk, distance };
    }
    return best?.epk;
  }
}

/** Numbers of even boundaries to choose the middle from: coarse ones first, so that split points stay short. */
const BOUNDARY_COUNTS = [16, 256, 4096];

/** Fine enough to compare the widths of ranges. */
const SHARE_BOUNDARIES = 4096;

/** About the middle of a range that has no keys yet; undefined where the range is too narrow. */
export function middleOf(
  { min, max }: { readonly min: Epk; readonly max: Epk },
  definition: PartitionKeyDefinition,
): Epk | undefined {
  for (const count of BOUNDARY_COUNTS) {
    const inside = evenEpkBoundaries(count, definition).filter(
      (epk) => compareBytes(min, epk) < 0 && compareBytes(epk, max) < 0,
    );
    if (inside.length > 0) return inside[inside.length >>> 1];
  }
  return undefined;
}

/** Which of the ranges, in order and without gaps, has the largest part of the hash space. */
export function widestOf(
  ranges: readonly { readonly max: string }[],
  definition: PartitionKeyDefinition,
): number {
  const ends = ranges.map(({ max }) => epkFromHex(max));
  const shares = ranges.map(() => 0);
  let at = 0;
  for (const boundary of evenEpkBoundaries(SHARE_BOUNDARIES, definition)) {
    while (at < ends.length - 1 && compareBytes(ends[at] as Epk, boundary) <= 0) at++;
    shares[at] = (shares[at] as number) + 1;
  }
  return shares.indexOf(Math.max(...shares));
}
