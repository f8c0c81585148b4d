/** Where to cut a partition in two: between two logical partitions, with half of the bytes on each side. */
import { type Bytes, equalBytes } from '../../base/index.ts';
import { epkOfPrimary, type Partition } from '../../partition/index.ts';
import { EPK_MAX, EPK_MIN, type Epk } from '../../value/index.ts';

const PAGE = { limit: 500, bytesMax: 4 * 1024 * 1024 };

interface KeySize {
  readonly epk: Epk;
  bytes: number;
}

/** The first key of the right half; undefined where everything belongs to one key. */
export async function findSplitPoint(partition: Partition): Promise<Epk | undefined> {
  const sizes = await keySizes(partition);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  let best: { readonly epk: Epk; readonly distance: number } | undefined;
  let left = 0;
  for (const [at, { epk, bytes }] of sizes.entries()) {
    const distance = Math.abs(total - 2 * left);
    if (at > 0 && (best === undefined || distance < best.distance)) best = { epk, distance };
    left += bytes;
  }
  return best?.epk;
}

/** Bytes per effective partition key, in the order of the hash space. */
async function keySizes(partition: Partition): Promise<readonly KeySize[]> {
  const sizes: KeySize[] = [];
  let after: string | undefined;
  do {
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
