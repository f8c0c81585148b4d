/**
 * Deletes the items of a partition that expire by a date of their own, which a declared index has. What is in no such
 * index does not expire, whatever its date: a filter may have left it out.
 */
import { bytesToLatin1, type Clock } from '../../base/index.ts';
import type { ContainerRecord, IndexDefinition } from '../../catalog/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import {
  type Item,
  itemKeyOf,
  type Mutation,
  multikeyValues,
  type Partition,
  ridOfEntry,
} from '../../partition/index.ts';
import { comparedTo, firstEntries } from '../../query/index.ts';
import { type Codec, Extended, parsePath, type Value } from '../../value/index.ts';

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
  const { id, parts, expireAfterSec = 0 } = index;
  const path = parsePath(parts[0]?.path ?? '');
  const lastMs = clock.nowMs() - expireAfterSec * 1000;
  const isOver = (item: Item): boolean => isDateOver(codec.decode(item.body), path, lastMs);
  const found = (await itemsUpTo(partition, id, lastMs, itemsMax)).filter(isOver);
  const removed: Item[] = [];
  if (found.length === 0) return removed;
  const keys = found.map(({ primary }) => itemKeyOf(primary));
  await partition.write({
    keys,
    decide: (current, { claims }) => {
      removed.length = 0;
      // A write since then may have taken the item out of the index, and the index may be gone.
      const { indexing } = partition.indexes;
      const ranges = indexing.entriesWithin(id, datesUpTo(lastMs)).map(textsOf);
      const isIndexed = (item: Item): boolean =>
        indexing
          .declaredEntriesOf(item, id)
          .some((entry) => ranges.some(({ low, high }) => entry >= low && entry < high));
      return keys.flatMap((key, at): readonly Mutation[] => {
        const item = current[at];
        if (item === undefined || item.isInternal || !isOver(item) || !isIndexed(item)) return [];
        claims?.delete(item);
        removed.push(item);
        return [{ kind: 'delete', key, cause: 'expired' }];
      });
    },
  });
  return removed;
}

function datesUpTo(lastMs: number) {
  return [comparedTo('<=', new Extended({ kind: 'date', ms: lastMs }))];
}

function textsOf({ start, end }: KeyRange): { readonly low: string; readonly high: string } {
  return { low: bytesToLatin1(start), high: end === undefined ? '\u00ff' : bytesToLatin1(end) };
}

/** Items that the index names up to a date; others may be among them. */
async function itemsUpTo(
  partition: Partition,
  id: number,
  lastMs: number,
  itemsMax: number,
): Promise<readonly Item[]> {
  const reader = await partition.reader();
  try {
    const { readyIndexes, indexing } = reader.context;
    if (!readyIndexes.has(id)) return [];
    const rids = new Set<number>();
    for (const range of indexing.entriesWithin(id, datesUpTo(lastMs))) {
      const page = { limit: itemsMax, bytesMax: 1024 * 1024 };
      for (const entry of await firstEntries(reader, range, page)) rids.add(ridOfEntry(entry));
    }
    const items = await reader.readMany([...rids]);
    return items.filter((item) => item !== undefined);
  } finally {
    reader.release();
  }
}

/** The earliest date counts where there are several. Items without a date do not expire. */
function isDateOver(item: Value, path: ReturnType<typeof parsePath>, lastMs: number): boolean {
  return multikeyValues(item, path).some(
    (value) =>
      value instanceof Extended && value.payload.kind === 'date' && value.payload.ms <= lastMs,
  );
}
