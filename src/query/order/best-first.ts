/**
 * Folds that want only the best rows by a score, with an index that knows which items have them: best first, until no
 * other can be better. The index gives bounds, the program the scores; with a filter as many are looked at as it takes.
 */
import type { Value } from '../../value/index.ts';
import type { ExecutableQuery, QuerySearch } from '../executable-query.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { Target } from '../page.ts';
import type { Candidate, ItemReader } from '../reader.ts';
import type { RankedItems, TextStatistics } from '../search.ts';
import { yieldToEventLoop } from '../yield.ts';

type BestSearch = Extract<QuerySearch, { kind: 'best' }>;

/** Items asked for first beside those wanted; then in rounds, each this many times larger. */
const FIRST_EXTRA = 16;
const ROUND_FACTOR = 16;
const BATCH = 64;

/** The items of the best rows of a partition, in rid order; undefined where every item has to be looked at. */
export async function bestItems(
  reader: ItemReader,
  { search }: ExecutableQuery,
  work: ExecutionStats,
): Promise<readonly Candidate[] | undefined> {
  if (search?.kind !== 'best') return undefined;
  const access = await reader.searchIndex?.(search.search);
  if (access === undefined) return undefined;
  if (search.needsEvery && access.count !== reader.itemCount) return undefined;
  const found = new Found(search);
  let done = 0;
  for (let count = 2 * search.wanted + FIRST_EXTRA; ; count *= ROUND_FACTOR) {
    const ranked = access.first(count);
    // A filter left too few of an approximate round: the next one is exact, and from the beginning.
    if (found.isApproximate && !ranked.isApproximate) done = 0;
    found.isApproximate = ranked.isApproximate;
    work.indexEntries += ranked.rids.length - done;
    const isDone = await look(reader, ranked, done, found, work);
    const isEnd = !ranked.isApproximate && ranked.rids.length < count;
    const isEverything = access.count === reader.itemCount && search.floor < 0;
    if (isDone || (isEnd && (found.isEnough || isEverything))) {
      work.accessPaths.push(access.text);
      return found.items();
    }
    if (isEnd) return (await fill(reader, found, search, work)) ? found.items() : undefined;
    done = ranked.rids.length;
  }
}

/** True when no item behind can be better than those found. */
async function look(
  reader: ItemReader,
  { rids, scores, slack, isApproximate }: RankedItems,
  from: number,
  found: Found,
  work: ExecutionStats,
): Promise<boolean> {
  for (let at = from; at < rids.length; at += BATCH) {
    const batch = rids.slice(at, at + BATCH);
    for (const [offset, item] of (await reader.readMany(batch)).entries()) {
      if (found.isBeyond(scores[at + offset] as number, slack)) return true;
      if (item === undefined) continue;
      work.itemsLoaded++;
      work.bytesLoaded += item.body.length;
      if (reader.isWithin(item)) found.add(item, reader.decode(item));
    }
    await yieldToEventLoop();
  }
  return isApproximate && found.isEnough;
}

/** Behind those with a score come those without any, in the order of their rids, until there are enough. */
async function fill(
  reader: ItemReader,
  found: Found,
  search: BestSearch,
  work: ExecutionStats,
): Promise<boolean> {
  if (search.floor !== 0) return false;
  for (let next: number | undefined = 0; next !== undefined; ) {
    const page: Awaited<ReturnType<ItemReader['scanItems']>> = await reader.scanItems(next, BATCH);
    for (const item of page.items) {
      work.itemsLoaded++;
      work.bytesLoaded += item.body.length;
      if (reader.isWithin(item)) found.fill(item, reader.decode(item));
      if (found.isEnough) return true;
    }
    next = page.next;
    await yieldToEventLoop();
  }
  return false;
}

class Found {
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

  /** Whether an item of this bound, and all behind it, comes after everything wanted. */
  isBeyond(bound: number, slack: number): boolean {
    if (!this.isEnough || this.isApproximate) return false;
    const least = this.#scores.at(-1);
    if (least === undefined) return true;
    return slack === 0 ? least >= bound : least > bound + slack * (1 + Math.abs(bound));
  }

  add(item: Candidate, document: Value): void {
    if (this.#items.has(item.rid)) return;
    const score = this.#search.scoreOf(document);
    if (score === undefined || score <= this.#search.floor) return;
    this.#items.set(item.rid, item);
    const at = this.#scores.findIndex((other) => other < score);
    this.#scores.splice(at < 0 ? this.#scores.length : at, 0, score);
    if (this.#scores.length > this.#search.wanted) this.#scores.length = this.#search.wanted;
  }

  /** Takes an item whose score is just the floor. */
  fill(item: Candidate, document: Value): void {
    if (this.#items.has(item.rid) || this.#search.scoreOf(document) !== this.#search.floor) return;
    this.#items.set(item.rid, item);
    this.#scores.push(this.#search.floor);
  }

  items(): readonly Candidate[] {
    return [...this.#items.values()].sort((a, b) => a.rid - b.rid);
  }
}

/** What a program becomes once the texts of all items are known; undefined where an index is missing. */
export async function withStatistics(
  { search }: ExecutableQuery,
  targets: readonly Target[],
  work: ExecutionStats,
): Promise<ExecutableQuery | readonly Value[] | undefined> {
  if (search?.kind !== 'statistics' || targets.length === 0) return undefined;
  const sums = search.texts.map(({ phrases }) => ({
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
        add(sums[at] as Sum, own);
        work.accessPaths.push(access.text);
      }
    } finally {
      reader.release();
    }
  }
  return search.with(sums);
}

interface Sum {
  documentCount: number;
  wordCount: number;
  readonly hitCounts: number[];
}

function add(sum: Sum, { documentCount, wordCount, hitCounts }: TextStatistics): void {
  sum.documentCount += documentCount;
  sum.wordCount += wordCount;
  for (const [at, count] of hitCounts.entries())
    sum.hitCounts[at] = (sum.hitCounts[at] ?? 0) + count;
}
