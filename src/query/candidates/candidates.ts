/** The candidates of an access path in one partition: in rid order, batch by batch. */
import { andThen, concatBytes, isPromise, type MaybePromise } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import { KeyWriter } from '../../value/index.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { Candidate, IndexEntries, ItemReader } from '../reader.ts';
import type { AccessPath } from './access-path.ts';

/** Items of one batch: enough to spread the cost of a read, few enough to stop early. */
const BATCH_ITEMS = 100;

/** The next batch size. The first batch is as small as the page may need; batches grow while items do not match. */
function larger(batchItems: number): number {
  return Math.min(BATCH_ITEMS, batchItems * 2);
}

const writer = new KeyWriter();

/** A stream of batches, without a promise where the store needs none. */
export interface Batches<T> {
  /** Undefined at the end. A batch may be empty. */
  next(): MaybePromise<readonly T[] | undefined>;
}

/** The items of an access path, from a rid on. `batchItems` is how many the caller can use, if it knows. */
export function candidates(
  reader: ItemReader,
  access: AccessPath,
  from: number,
  stats: ExecutionStats,
  batchItems = BATCH_ITEMS,
): Batches<Candidate> {
  switch (access.kind) {
    case 'none':
      return NO_BATCHES;
    case 'scan':
      return scanned(reader, from, stats, batchItems);
    case 'posting':
      return posted(reader, access.prefix, from, stats, batchItems);
    case 'postings':
      return mergedPostings(reader, access.prefixes, from, stats, batchItems);
    case 'rids':
      return fetched(reader, access.rids, from, stats, batchItems);
  }
}

/** A stream that has ended. */
export const NO_BATCHES: Batches<Candidate> = { next: () => undefined };

function scanned(
  reader: ItemReader,
  from: number,
  stats: ExecutionStats,
  batchItems: number,
): Batches<Candidate> {
  const most = Math.max(BATCH_ITEMS, batchItems);
  let limit = batchItems;
  let rest: number | undefined = from;
  return {
    next() {
      if (rest === undefined) return undefined;
      const found = reader.scanItems(rest, limit);
      limit = Math.min(most, limit * 2);
      return andThen(found, ({ items, next }) => {
        rest = next;
        return counted(items, reader, stats);
      });
    },
  };
}

function posted(
  reader: ItemReader,
  prefix: Uint8Array,
  from: number,
  stats: ExecutionStats,
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
        stats.indexEntries += entries.length;
        return andThen(reader.readMany(entries.map(reader.ridOf)), (items) =>
          counted(items, reader, stats),
        );
      });
    },
  };
}

/** The rids of several posting lists, merged in their order. */
function mergedPostings(
  reader: ItemReader,
  prefixes: readonly Uint8Array[],
  from: number,
  stats: ExecutionStats,
  batchItems: number,
): Batches<Candidate> {
  const lists = prefixes.map((prefix) => new PostingCursor(reader, prefix, from, stats));
  let limit = batchItems;
  let last = -1;
  return {
    async next() {
      const rids: number[] = [];
      while (rids.length < limit) {
        let least: PostingCursor | undefined;
        for (const list of lists) {
          const reading = list.fill();
          if (reading !== undefined) await reading;
          if (list.head !== undefined && (least === undefined || list.head < least.headOrLast))
            least = list;
        }
        if (least?.head === undefined) break;
        if (least.head !== last) rids.push(least.head);
        last = least.head;
        least.advance();
      }
      limit = larger(limit);
      if (rids.length === 0) return undefined;
      return counted(await reader.readMany(rids), reader, stats);
    },
  };
}

/** The next rid of one posting list. */
class PostingCursor {
  readonly #reader: ItemReader;
  readonly #stats: ExecutionStats;
  #range: KeyRange | undefined;
  #rids: readonly number[] = [];
  #at = 0;

  constructor(reader: ItemReader, prefix: Uint8Array, from: number, stats: ExecutionStats) {
    this.#reader = reader;
    this.#stats = stats;
    const start = writer.reset().raw(prefix).u64(from).take();
    this.#range = { start, end: concatBytes(prefix, LAST) };
  }

  /** Undefined at the end of the list, and before `fill`. */
  get head(): number | undefined {
    return this.#rids[this.#at];
  }

  get headOrLast(): number {
    return this.head ?? Number.POSITIVE_INFINITY;
  }

  advance(): void {
    this.#at++;
  }

  /** Reads on where nothing is left; undefined where nothing had to be waited for. */
  fill(): Promise<void> | undefined {
    if (this.#at < this.#rids.length || this.#range === undefined) return undefined;
    const found = this.#reader.scanIndex(this.#range, CURSOR_PAGE);
    if (isPromise(found))
      return found.then((page) => {
        this.#take(page);
        return this.fill();
      });
    this.#take(found);
    return this.fill();
  }

  #take({ entries, rest }: IndexEntries): void {
    this.#stats.indexEntries += entries.length;
    this.#rids = entries.map(this.#reader.ridOf);
    this.#at = 0;
    this.#range = rest;
  }
}

/** Entries of one list read at once: many lists are read side by side. */
const CURSOR_PAGE = { limit: 50, bytesMax: 256 * 1024 };

/** A byte behind every rid: rids begin with a zero byte. */
const LAST = Uint8Array.of(0xff);

function fetched(
  reader: ItemReader,
  rids: readonly number[],
  from: number,
  stats: ExecutionStats,
  batchItems: number,
): Batches<Candidate> {
  let limit = batchItems;
  let at = from === 0 ? 0 : rids.findIndex((rid) => rid >= from);
  if (at < 0) return NO_BATCHES;
  return {
    next() {
      if (at >= rids.length) return undefined;
      const found = reader.readMany(rids.slice(at, at + limit));
      at += limit;
      limit = larger(limit);
      return andThen(found, (items) => counted(items, reader, stats));
    },
  };
}

/** The items that exist and lie in the part of the hash space asked for; adds all that exist to the stats. */
export function counted(
  found: readonly (Candidate | undefined)[],
  reader: ItemReader,
  stats: ExecutionStats,
): readonly Candidate[] {
  const items: Candidate[] = [];
  for (const item of found) {
    if (item === undefined) continue;
    stats.itemsLoaded++;
    stats.bytesLoaded += item.body.length;
    if (reader.isWithin(item)) items.push(item);
  }
  return items;
}
