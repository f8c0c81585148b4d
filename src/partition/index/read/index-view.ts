/** A consistent view of the index: single entries and posting blocks of the store, with the changes in memory. */
import { andThen, type Bytes, bytesToLatin1, type MaybePromise } from '../../../base/index.ts';
import type { Entry, KeyRange, KeyScanOptions, ReadView } from '../../../engine/index.ts';
import type { Rid } from '../../item/item.ts';
import { type IndexRun, walkRun } from '../memory/index-run.ts';
import { blockRange, blockRangeAfter, PostingBlock } from '../stored/posting-block.ts';
import { type IndexSources, ridsOfTermPrefix } from './index-rids.ts';
import type { RidLimits, Rids } from './posting-list-cache.ts';
import { type RidPage, ridPage } from './rid-pages.ts';
import type { StoredLists } from './stored-lists.ts';

export interface IndexPage {
  /** Entries in order, as texts; possibly none although the range continues. */
  readonly entries: readonly string[];
  /** The rest of the range; undefined at its end. */
  readonly rest: KeyRange | undefined;
}

/** A part of the stored entries of a range. */
interface Stored {
  readonly entries: readonly string[];
  /** The last entry, where there are more; undefined at the end of the range. */
  readonly stop: string | undefined;
}

/** Blocks of one read: one is often enough for a page. */
const BLOCKS_MIN = 2;
const BLOCKS_MAX = 64;
/** Expected entries of a block, to estimate how many blocks a page needs. */
const BLOCK_ENTRIES_GUESS = 32;
const BLOCK_PAGE_BYTES = 256 * 1024;

export class IndexView {
  readonly #store: ReadView;
  /** Older first. */
  readonly #runs: readonly IndexRun[];
  /** Undefined during a flush. */
  readonly #lists: StoredLists | undefined;

  constructor(store: ReadView, runs: readonly IndexRun[], lists: StoredLists | undefined) {
    this.#store = store;
    this.#runs = runs;
    this.#lists = lists;
  }

  /** A range that is read forwards has to end between two values. */
  scan(range: KeyRange, options: KeyScanOptions): MaybePromise<IndexPage> {
    return andThen(this.#store.scanKeys(range, options), ({ keys, more }) => {
      const single: Stored = { entries: keys, stop: more ? keys.at(-1) : undefined };
      return andThen(this.#inBlocksIfAny(range, options), (inBlocks) => {
        const only = this.#runs.length > 0 ? undefined : onlyOf(single, inBlocks);
        if (only === undefined) return this.#merge([single, inBlocks], range, options);
        return {
          entries: only.entries,
          rest: restAfter(range, only.stop, options.reverse === true),
        };
      });
    });
  }

  /** The rids of a term prefix; see `ridsOfTermPrefix`. */
  rids(termPrefix: Bytes, limits: RidLimits): MaybePromise<Rids | undefined> {
    return ridsOfTermPrefix(this.#sources(), termPrefix, limits);
  }

  /** A page of them, from a rid on. */
  ridsFrom(termPrefix: Bytes, from: Rid): MaybePromise<RidPage> {
    return ridPage(this.#sources(), termPrefix, from);
  }

  #sources(): IndexSources {
    return { store: this.#store, runs: this.#runs, cached: this.#lists };
  }

  #inBlocksIfAny(range: KeyRange, options: KeyScanOptions): MaybePromise<Stored> {
    const mayHold = this.#lists?.mayHold(range, this.#store) ?? true;
    return andThen(mayHold, (hasBlocks) =>
      hasBlocks ? this.#inBlocks(range, options) : NOTHING_STORED,
    );
  }

  /** Entries of posting blocks, up to the limit. */
  #inBlocks(range: KeyRange, options: KeyScanOptions): MaybePromise<Stored> {
    const { limit, reverse = false } = options;
    const wanted = Math.ceil(limit / BLOCK_ENTRIES_GUESS);
    const page = this.#store.scan(blockRange(range), {
      limit: Math.min(Math.max(wanted, BLOCKS_MIN), BLOCKS_MAX),
      bytesMax: BLOCK_PAGE_BYTES,
      reverse,
    });
    return andThen(page, ({ entries, more }) => {
      // A range that is read backwards may end inside a block, whose key is greater than the end.
      const behind = reverse && range.end && blockRangeAfter(range.end);
      if (!behind) return entriesInBlocks(entries, more, range, options);
      return andThen(this.#store.scan(behind, { limit: 1, bytesMax: 1 }), (found) =>
        entriesInBlocks([...found.entries, ...entries], more, range, options),
      );
    });
  }

  #merge(stored: readonly Stored[], range: KeyRange, options: KeyScanOptions): IndexPage {
    const { limit, reverse = false } = options;
    const isBehind = (a: string, b: string): boolean => (reverse ? a < b : a > b);
    let end: string | undefined;
    for (const { stop } of stored)
      if (stop !== undefined && (end === undefined || isBehind(end, stop))) end = stop;
    const changes = new Map<string, boolean>();
    for (const run of this.#runs) end = changesIn(run, range, end, { limit, reverse }, changes);
    const isWithin = (key: string): boolean => end === undefined || !isBehind(key, end);
    const merged: string[] = [];
    for (const { entries } of stored)
      for (const key of entries) if (!changes.has(key) && isWithin(key)) merged.push(key);
    for (const [key, isThere] of changes) if (isThere && isWithin(key)) merged.push(key);
    merged.sort(reverse ? (a, b) => compareKeys(b, a) : compareKeys);
    // After a crash an entry may be stored singly and in a block.
    const distinct = merged.filter((key, at) => key !== merged[at - 1]);
    const entries = distinct.length > limit ? distinct.slice(0, limit) : distinct;
    const last = entries.length < distinct.length ? entries.at(-1) : end;
    return { entries, rest: restAfter(range, last, reverse) };
  }
}

function entriesInBlocks(
  blocks: readonly Entry[],
  more: boolean,
  range: KeyRange,
  { limit, reverse = false }: KeyScanOptions,
): Stored {
  if (blocks.length === 0) return NOTHING_STORED;
  const low = bytesToLatin1(range.start);
  const high = range.end === undefined ? AFTER_ALL : bytesToLatin1(range.end);
  const entries: string[] = [];
  let block: PostingBlock | undefined;
  for (const stored of blocks) {
    block = new PostingBlock(stored);
    // The block after a range mostly belongs to another value.
    if (block.first >= high || block.last < low) continue;
    const isPartial = block.first < low || block.last >= high;
    const { size } = block;
    for (let at = 0; at < size; at++) {
      const entry = block.entry(reverse ? size - 1 - at : at);
      if (isPartial && (entry < low || entry >= high)) continue;
      if (entries.length === limit) return { entries, stop: entries.at(-1) };
      entries.push(entry);
    }
  }
  if (!more || block === undefined) return { entries, stop: undefined };
  return { entries, stop: block.entry(reverse ? 0 : block.size - 1) };
}

/** The one part that has all entries, if there is one: it is in order already. */
function onlyOf(single: Stored, inBlocks: Stored): Stored | undefined {
  if (inBlocks.entries.length === 0 && inBlocks.stop === undefined) return single;
  return single.entries.length === 0 ? inBlocks : undefined;
}

const NOTHING_STORED: Stored = { entries: [], stop: undefined };

/** Collects the changes of a run up to `end`; returns an earlier end where the run adds more than the limit. */
function changesIn(
  run: IndexRun,
  range: KeyRange,
  end: string | undefined,
  { limit, reverse }: { readonly limit: number; readonly reverse: boolean },
  changes: Map<string, boolean>,
): string | undefined {
  let added = 0;
  let stop = end;
  const low = bytesToLatin1(range.start);
  const high = range.end === undefined ? AFTER_ALL : bytesToLatin1(range.end);
  walkRun(run, { low, high, reverse }, (key, isThere) => {
    if (end !== undefined && (reverse ? key < end : key > end)) return false;
    changes.set(key, isThere);
    if (!isThere || ++added <= limit) return true;
    stop = key;
    return false;
  });
  return stop;
}

/** Greater than every key, since prefixes are small bytes. */
const AFTER_ALL = '\u00ff\u00ff';

/** The rest of a range after a page that ended at `last`; undefined where the range is complete. */
function restAfter(
  { start, end }: KeyRange,
  last: string | undefined,
  isReverse: boolean,
): KeyRange | undefined {
  if (last === undefined) return undefined;
  if (isReverse) return { start, end: Buffer.from(last, 'latin1') };
  return { start: Buffer.from(`${last}\u0000`, 'latin1'), end };
}

function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
