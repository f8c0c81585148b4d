/** Candidates of one partition in rid order, batch by batch. */
import { andThen, concatBytes, type MaybePromise } from '../base/index.ts';
import type { KeyRange } from '../engine/index.ts';
import { KeyWriter } from '../value/index.ts';
import type { AccessPath } from './access-path.ts';
import type { ExecutionStats } from './execution-stats.ts';
import type { Candidate, ItemReader } from './reader.ts';

/** Items of one batch: enough to spread the cost of a call, few enough to stop early. */
const BATCH_ITEMS = 100;

/** Few items are asked for first, as many as may do; the more of them do not match, the more at once. */
function larger(batchItems: number): number {
  return Math.min(BATCH_ITEMS, batchItems * 2);
}

const writer = new KeyWriter();

/** Batches one after the other, at once where the store answers at once. */
export interface Batches<T> {
  /** Undefined at the end. A batch may be empty. */
  next(): MaybePromise<readonly T[] | undefined>;
}

/** Items that an access names, from a rid on. `batchItems` are as many as the caller can use, if it knows. */
export function candidates(
  reader: ItemReader,
  access: AccessPath,
  from: number,
  work: ExecutionStats,
  batchItems = BATCH_ITEMS,
): Batches<Candidate> {
  switch (access.kind) {
    case 'none':
      return NOTHING_LEFT;
    case 'scan':
      return scanned(reader, from, work, batchItems);
    case 'posting':
      return posted(reader, access.prefix, from, work, batchItems);
    case 'rids':
      return fetched(reader, access.rids, from, work, batchItems);
  }
}

export const NOTHING_LEFT: Batches<Candidate> = { next: () => undefined };

function scanned(
  reader: ItemReader,
  from: number,
  work: ExecutionStats,
  batchItems: number,
): Batches<Candidate> {
  let limit = batchItems;
  let rest: number | undefined = from;
  return {
    next() {
      if (rest === undefined) return undefined;
      const found = reader.scanItems(rest, limit);
      limit = larger(limit);
      return andThen(found, ({ items, next }) => {
        rest = next;
        return counted(items, reader, work);
      });
    },
  };
}

function posted(
  reader: ItemReader,
  prefix: Uint8Array,
  from: number,
  work: ExecutionStats,
  batchItems: number,
): Batches<Candidate> {
  let limit = batchItems;
  let range: KeyRange | undefined = {
    start: writer.reset().raw(prefix).u64(from).take(),
    end: concatBytes(prefix, LAST),
  };
  return {
    next() {
      if (range === undefined) return undefined;
      const found = reader.scanIndex(range, { limit, bytesMax: 1024 * 1024 });
      limit = larger(limit);
      return andThen(found, ({ entries, rest }) => {
        range = rest;
        work.indexEntries += entries.length;
        return andThen(reader.readMany(entries.map(reader.ridOf)), (items) =>
          counted(items, reader, work),
        );
      });
    },
  };
}

/** Behind every rid: they begin with a zero byte. */
const LAST = Uint8Array.of(0xff);

function fetched(
  reader: ItemReader,
  rids: readonly number[],
  from: number,
  work: ExecutionStats,
  batchItems: number,
): Batches<Candidate> {
  let limit = batchItems;
  let at = from === 0 ? 0 : rids.findIndex((rid) => rid >= from);
  if (at < 0) return NOTHING_LEFT;
  return {
    next() {
      if (at >= rids.length) return undefined;
      const found = reader.readMany(rids.slice(at, at + limit));
      at += limit;
      limit = larger(limit);
      return andThen(found, (items) => counted(items, reader, work));
    },
  };
}

/** What was really there, within the part of the hash space asked for. */
export function counted(
  found: readonly (Candidate | undefined)[],
  reader: ItemReader,
  work: ExecutionStats,
): readonly Candidate[] {
  const items: Candidate[] = [];
  for (const item of found) {
    if (item === undefined) continue;
    work.itemsLoaded++;
    work.bytesLoaded += item.body.length;
    if (reader.isWithin(item)) items.push(item);
  }
  return items;
}
