/** The index at one moment: entries of the store, one by one and in lists, with what memory adds and takes away. */
import { andThen, type Bytes, bytesToLatin1, type MaybePromise } from '../../base/index.ts';
import type { Entry, KeyRange, KeyScanOptions, ReadView } from '../../engine/index.ts';
import { ridsOfTermPrefix } from './index-rids.ts';
import { type IndexRun, walkRun } from './index-run.ts';
import { blockRange, blockRangeAfter, PostingBlock } from './posting-block.ts';
import type { RidLimits, Rids } from './posting-list-cache.ts';
import type { StoredLists } from './stored-lists.ts';

export interface IndexPage {
  /** Entries in order, as texts; there may be none though the range goes on. */
  readonly entries: readonly string[];
  /** What is left of the range; undefined at its end. */
  readonly rest: KeyRange | undefined;
}

/** A part of what is stored. */
interface Stored {
  readonly entries: readonly string[];
  /** Where it stopped though there is more; undefined at the end of the range. */
  readonly stop: string | undefined;
}

/** Lists read at once: one is often enough for a page. */
const CHUNKS_MIN = 2;
const CHUNKS_MAX = 64;
/** Entries that a list is expected to have, to guess how many lists a page takes. */
const CHUNK_ENTRIES_GUESS = 32;
const CHUNK_PAGE_BYTES = 256 * 1024;

export class IndexView {
  readonly #store: ReadView;
  /** Older first. */
  readonly #runs: readonly IndexRun[];

  /** Undefined where entries are being written to their place. */
  readonly #lists: StoredLists | undefined;

  constructor(store: ReadView, runs: readonly IndexRun[], lists: StoredLists | undefined) {
    this.#store = store;
    this.#runs = runs;
    this.#lists = lists;
  }

  /** A range that is read forwards ends between two values, or at the end of one. */
  scan(range: KeyRange, options: KeyScanOptions): MaybePromise<IndexPage> {
    return andThen(this.#store.scanKeys(range, options), ({ keys, more }) => {
      const single: Stored = { entries: keys, stop: more ? keys.at(-1) : undefined };
      return andThen(this.#listedIfAny(range, options), (listed) => {
        const only = this.#runs.length > 0 ? undefined : onlyOf(single, listed);
        if (only === undefined) return this.#merge([single, listed], range, options);
        return {
          entries: only.entries,
          rest: restBehind(range, only.stop, options.reverse === true),
        };
      });
    });
  }

  /** The rids of a stem; see `ridsOfTermPrefix`. */
  rids(stem: Bytes, limits: RidLimits): MaybePromise<Rids | undefined> {
    const sources = { store: this.#store, runs: this.#runs, cached: this.#lists };
    return ridsOfTermPrefix(sources, stem, limits);
  }

  #listedIfAny(range: KeyRange, options: KeyScanOptions): MaybePromise<Stored> {
    const lists = this.#lists?.mayHold(range, this.#store) ?? true;
    return andThen(lists, (hasLists) => (hasLists ? this.#listed(range, options) : NOTHING_STORED));
  }

  /** Entries that are in lists, as many as asked for. */
  #listed(range: KeyRange, options: KeyScanOptions): MaybePromise<Stored> {
    const { limit, reverse = false } = options;
    const wanted = Math.ceil(limit / CHUNK_ENTRIES_GUESS);
    const page = this.#store.scan(blockRange(range), {
      limit: Math.min(Math.max(wanted, CHUNKS_MIN), CHUNKS_MAX),
      bytesMax: CHUNK_PAGE_BYTES,
      reverse,
    });
    return andThen(page, ({ entries, more }) => {
      // Backwards, the rest of a page may end in the middle of a list, whose key is behind it.
      const behind = reverse && range.end && blockRangeAfter(range.end);
      if (!behind) return listedIn(entries, more, range, options);
      return andThen(this.#store.scan(behind, { limit: 1, bytesMax: 1 }), (found) =>
        listedIn([...found.entries, ...entries], more, range, options),
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
    // After a crash an entry may have been written alone and in a list.
    const distinct = merged.filter((key, at) => key !== merged[at - 1]);
    const entries = distinct.length > limit ? distinct.slice(0, limit) : distinct;
    const last = entries.length < distinct.length ? entries.at(-1) : end;
    return { entries, rest: restBehind(range, last, reverse) };
  }
}

function listedIn(
  chunks: readonly Entry[],
  more: boolean,
  range: KeyRange,
  { limit, reverse = false }: KeyScanOptions,
): Stored {
  if (chunks.length === 0) return NOTHING_STORED;
  const low = bytesToLatin1(range.start);
  const high = range.end === undefined ? AFTER_ALL : bytesToLatin1(range.end);
  const entries: string[] = [];
  let list: PostingBlock | undefined;
  for (const chunk of chunks) {
    list = new PostingBlock(chunk);
    // The list behind a range is mostly one of another value.
    if (list.first >= high || list.last < low) continue;
    const isCut = list.first < low || list.last >= high;
    const { size } = list;
    for (let at = 0; at < size; at++) {
      const entry = list.entry(reverse ? size - 1 - at : at);
      if (isCut && (entry < low || entry >= high)) continue;
      if (entries.length === limit) return { entries, stop: entries.at(-1) };
      entries.push(entry);
    }
  }
  if (!more || list === undefined) return { entries, stop: undefined };
  return { entries, stop: list.entry(reverse ? 0 : list.size - 1) };
}

/** The one that has all there is, if there is one: in order as it is. */
function onlyOf(single: Stored, listed: Stored): Stored | undefined {
  if (listed.entries.length === 0 && listed.stop === undefined) return single;
  return single.entries.length === 0 ? listed : undefined;
}

const NOTHING_STORED: Stored = { entries: [], stop: undefined };

/** Notes the changes of a run up to `end`; answers the end, nearer where the run has more than are asked for. */
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

/** No key begins so: prefixes are small bytes. */
const AFTER_ALL = '\u00ff\u00ff';

/** The part of a range behind a page that ended at `last`; undefined where it ended with the range. */
function restBehind(
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
