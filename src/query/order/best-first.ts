/**
 * Finds the items of the best rows by a score through a search index. Items are read best first until no other can be
 * better. The index gives bounds of scores, the query computes the scores; with a filter more items are read.
 */
import type { Value } from '../../value/index.ts';
import type { ExecutableQuery, QuerySearch } from '../executable-query.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import { type FoundItem, ReadItem } from '../found-item.ts';
import type { Target } from '../page/page.ts';
import type { Candidate, ItemReader } from '../reader.ts';
import type { RankedItems, TextStatistics } from '../search.ts';
import { yieldToEventLoop } from '../yield.ts';

type BestSearch = Extract<QuerySearch, { kind: 'best' }>;

/** The first round reads so many items beside those wanted; each later round is so many times larger. */
const FIRST_EXTRA = 16;
const ROUND_FACTOR = 16;
const BATCH = 64;

/** The items of the best rows of a partition, in rid order; undefined where every item has to be read. */
export async function bestItems(
  reader: ItemReader,
  { search }: ExecutableQuery,
  stats: ExecutionStats,
): Promise<readonly Candidate[] | undefined> {
  if (search?.kind !== 'best') return undefined;
  const access = await reader.searchIndex?.(search.search);
  if (access === undefined) return undefined;
  if (search.needsEvery && access.count !== reader.itemCount) return undefined;
  const found = new BestItems(search);
  let done = 0;
  for (let count = 2 * search.wanted + FIRST_EXTRA; ; count *= ROUND_FACTOR) {
    const ranked = access.first(count);
    // The filter left too few items of an approximate round: the next round is exact and begins with the first item.
    if (found.isApproximate && !ranked.isApproximate) done = 0;
    found.isApproximate = ranked.isApproximate;
    stats.indexEntries += ranked.rids.length - done;
    const isDone = await readBest(reader, ranked, done, found, stats);
    const isEnd = !ranked.isApproximate && ranked.rids.length < count;
    const isEverything = access.count === reader.itemCount && search.floor < 0;
    if (isDone || (isEnd && (found.isEnough || isEverything))) {
      stats.accessPaths.push(access.text);
      return found.items();
    }
    if (isEnd)
      return (await fillUnscored(reader, found, search, stats)) ? found.items() : undefined;
    done = ranked.rids.length;
  }
}

/** Reads the ranked items from one on; true when no item behind can be better than those found. */
async function readBest(
  reader: ItemReader,
  { rids, scores, slack, isApproximate }: RankedItems,
  from: number,
  found: BestItems,
  stats: ExecutionStats,
): Promise<boolean> {
  for (let at = from; at < rids.length; at += BATCH) {
    const batch = rids.slice(at, at + BATCH);
    for (const [offset, item] of (await reader.readMany(batch)).entries()) {
      if (found.isBeyond(scores[at + offset] as number, slack)) return true;
      if (item === undefined) continue;
      stats.itemsLoaded++;
      stats.bytesLoaded += item.body.length;
      if (reader.isWithin(item)) found.add(new ReadItem(reader, item), item);
    }
    await yieldToEventLoop();
  }
  return isApproximate && found.isEnough;
}

/** Adds items without a score, in rid order, until there are enough: they come behind all items with one. */
async function fillUnscored(
  reader: ItemReader,
  found: BestItems,
  search: BestSearch,
  stats: ExecutionStats,
): Promise<boolean> {
  if (search.floor !== 0) return false;
  for (let next: number | undefined = 0; next !== undefined; ) {
    const page: Awaited<ReturnType<ItemReader['scanItems']>> = await reader.scanItems(next, BATCH);
    for (const item of page.items) {
      stats.itemsLoaded++;
      stats.bytesLoaded += item.body.length;
      if (reader.isWithin(item)) found.addUnscored(new ReadItem(reader, item), item);
      if (found.isEnough) return true;
    }
    next = page.next;
    await yieldToEventLoop();
  }
  return false;
}

/** The best items found so far. */
class BestItems {
  readonly #search: BestSearch;
  readonly #items = new Map<number, Candidate>();
  /** The best scores so far, descending, as many as are wanted. */
  readonly #scores: number[] = [];
  isApproximate = false;

  constructor(search: BestSearch) {
    this.#search = search;
  }

  get isEnough(): boolean {
    return this.#scores.length >= this.#search.wanted;
  }

  /** True where an item with this bound, and all items behind it, come after all rows wanted. */
  isBeyond(bound: number, slack: number): boolean {
    if (!this.isEnough || this.isApproximate) return false;
    const least = this.#scores.at(-1);
    if (least === undefined) return true;
    return slack === 0 ? least >= bound : least > bound + slack * (1 + Math.abs(bound));
  }

  add(read: FoundItem, item: Candidate): void {
    if (this.#items.has(item.rid)) return;
    const score = this.#search.scoreOf(read);
    if (score === undefined || score <= this.#search.floor) return;
    this.#items.set(item.rid, item);
    const at = this.#scores.findIndex((other) => other < score);
    this.#scores.splice(at < 0 ? this.#scores.length : at, 0, score);
    if (this.#scores.length > this.#search.wanted) this.#scores.length = this.#search.wanted;
  }

  /** Adds an item whose score is exactly the floor. */
  addUnscored(read: FoundItem, item: Candidate): void {
    if (this.#items.has(item.rid) || this.#search.scoreOf(read) !== this.#search.floor) return;
    this.#items.set(item.rid, item);
    this.#scores.push(this.#search.floor);
  }

  items(): readonly Candidate[] {
    return [...this.#items.values()].sort((a, b) => a.rid - b.rid);
  }
}

/** The query that follows from the statistics of all texts; undefined where an index is missing. */
export async function withStatistics(
  { search }: ExecutableQuery,
  targets: readonly Target[],
  stats: ExecutionStats,
): Promise<ExecutableQuery | readonly Value[] | undefined> {
  if (search?.kind !== 'statistics' || targets.length === 0) return undefined;
  const sums: readonly MutableStatistics[] = search.texts.map(({ phrases }) => ({
    documentCount: 0,
    wordCount: 0,
    hitCounts: phrases.map(() => 0),
  }));
  for (const target of targets) {
    const reader = await target.open();
    try {
      for (const [at, text] of search.texts.entries()) {
        const access = await reader.searchIndex?.(text);
        const own = access?.statistics?.();
        if (access === undefined || own === undefined) return undefined;
        add(sums[at] as MutableStatistics, own);
        stats.accessPaths.push(access.text);
      }
    } finally {
      reader.release();
    }
  }
  return search.with(sums);
}

interface MutableStatistics {
  documentCount: number;
  wordCount: number;
  readonly hitCounts: number[];
}

function add(
  sum: MutableStatistics,
  { documentCount, wordCount, hitCounts }: TextStatistics,
): void {
  sum.documentCount += documentCount;
  sum.wordCount += wordCount;
  for (const [at, count] of hitCounts.entries())
    sum.hitCounts[at] = (sum.hitCounts[at] ?? 0) + count;
}
