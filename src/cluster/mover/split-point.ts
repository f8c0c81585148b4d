/** Where to cut a partition in two: between two logical partitions, with half of the bytes on each side. */
import { type Bytes, compareBytes, equalBytes } from '../../base/index.ts';
import { epkOfPrimary, type Partition } from '../../partition/index.ts';
import {
  EPK_MAX,
  EPK_MIN,
  type Epk,
  epkFromHex,
  evenEpkBoundaries,
  type PartitionKeyDefinition,
} from '../../value/index.ts';

const PAGE = { limit: 500, bytesMax: 4 * 1024 * 1024 };

interface KeySize {
  readonly epk: Epk;
  bytes: number;
}

export interface SplitPoint {
  /** The first key of the right half; undefined where there are not two keys. */
  readonly point: Epk | undefined;
  /** Set where all items have this one key. */
  readonly soleKey: Epk | undefined;
}

export async function findSplitPoint(
  partition: Partition,
  signal: AbortSignal,
): Promise<SplitPoint> {
  const sizes = await keySizes(partition, signal);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  let best: { readonly epk: Epk; readonly distance: number } | undefined;
  let left = 0;
  for (const [at, { epk, bytes }] of sizes.entries()) {
    const distance = Math.abs(total - 2 * left);
    if (at > 0 && (best === undefined || distance < best.distance)) best = { epk, distance };
    left += bytes;
  }
  return { point: best?.epk, soleKey: sizes.length === 1 ? sizes[0]?.epk : undefined };
}

/** Boundaries among which the middle of a range is looked for: coarse ones first, so that they stay few and round. */
const BOUNDARY_COUNTS = [16, 256, 4096];

/** Fine enough to compare the widths of ranges. */
const SHARE_BOUNDARIES = 4096;

/** About the middle of a range for keys nobody knows yet; undefined where it is too narrow to matter. */
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

/** Bytes per effective partition key, in the order of the hash space. */
async function keySizes(partition: Partition, signal: AbortSignal): Promise<readonly KeySize[]> {
  const sizes: KeySize[] = [];
  let after: string | undefined;
  do {
    signal.throwIfAborted();
    const page = await partition.scanByKey({ after, ...PAGE }, { min: EPK_MIN, max: EPK_MAX });
    for (const { primary, record } of page.items) {
      const epk: Bytes = epkOfPrimary(primary);
      const last = sizes.at(-1);
      if (last !== undefined && equalBytes(last.epk, epk)) last.bytes += record.length;
      else sizes.push({ epk: Uint8Array.from(epk), bytes: record.length });
    }
    after = page.next;
    await new Promise((resolve) => setImmediate(resolve));
  } while (after !== undefined);
  return sizes;
}
