/** Deletes the items of a partition that expire by a date of their own, which a declared index has. */
import { type Bytes, type Clock, concatBytes } from '../../base/index.ts';
import type { ContainerRecord, IndexDefinition } from '../../catalog/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import {
  type Item,
  itemKeyOf,
  type Mutation,
  multikeyValues,
  type Partition,
} from '../../partition/index.ts';
import { comparedTo, type ValueRange } from '../../query/index.ts';
import { type Codec, DECLARED, Extended, parsePath, type Value } from '../../value/index.ts';
import { QueryReader } from '../read/query-reader.ts';

/** The indexes of a container by which its items expire. */
export function expiringIndexes({ indexes = [] }: ContainerRecord): readonly IndexDefinition[] {
  return indexes.filter(({ expireAfterSec }) => expireAfterSec !== undefined);
}

interface IndexExpiry {
  readonly partition: Partition;
  readonly codec: Codec;
  readonly clock: Clock;
}

/** Deletes some of the items whose date is over; returns them. */
export async function expireByIndex(
  { partition, codec, clock }: IndexExpiry,
  index: IndexDefinition,
  itemsMax: number,
): Promise<readonly Item[]> {
  const { parts, expireAfterSec = 0 } = index;
  const path = parsePath(parts[0]?.path ?? '');
  const lastMs = clock.nowMs() - expireAfterSec * 1000;
  const isOver = (item: Item): boolean => isDateOver(codec.decode(item.body), path, lastMs);
  const found = (await itemsUpTo(partition, index, lastMs, itemsMax)).filter(isOver);
  const removed: Item[] = [];
  if (found.length === 0) return removed;
  const keys = found.map(({ primary }) => itemKeyOf(primary));
  await partition.write({
    keys,
    decide: (current, { claims }) => {
      removed.length = 0;
      return keys.flatMap((key, at): readonly Mutation[] => {
        const item = current[at];
        if (item === undefined || item.isInternal || !isOver(item)) return [];
        claims?.delete(item);
        removed.push(item);
        return [{ kind: 'delete', key, cause: 'expired' }];
      });
    },
  });
  return removed;
}

/** Items that the index names up to a date; others may be among them. */
async function itemsUpTo(
  partition: Partition,
  { id, parts, isVirtual }: IndexDefinition,
  lastMs: number,
  itemsMax: number,
): Promise<readonly Item[]> {
  const reader = await partition.reader();
  try {
    const dates = comparedTo('<=', new Extended({ kind: 'date', ms: lastMs }));
    const query = new QueryReader(reader, undefined);
    const range =
      isVirtual === true
        ? within(query.termsOf([DECLARED, String(id)]), dates)
        : query.declaredWithin([{ path: parsePath(parts[0]?.path ?? ''), ranges: [dates] }], id)
            ?.ranges[0];
    if (range === undefined) return [];
    const { entries } = await query.scanIndex(range, { limit: itemsMax, bytesMax: 1024 * 1024 });
    const rids = new Set(entries.map((entry) => query.ridOf(entry)));
    const items = await reader.readMany([...rids]);
    return items.filter((item) => item !== undefined);
  } finally {
    reader.release();
  }
}

function within(prefix: Bytes | undefined, { start, end }: ValueRange): KeyRange | undefined {
  return prefix && { start: concatBytes(prefix, start), end: concatBytes(prefix, end) };
}

/** The earliest date counts where there are several. Items without a date do not expire. */
function isDateOver(item: Value, path: ReturnType<typeof parsePath>, lastMs: number): boolean {
  return multikeyValues(item, path).some(
    (value) =>
      value instanceof Extended && value.payload.kind === 'date' && value.payload.ms <= lastMs,
  );
}
