/**
 * Cached facts about the index entries in the store: which paths have posting blocks (posting-block.ts), and posting
 * lists. A path whose values have few items each, such as ids, has no blocks, and a page of its entries need not search
 * them: that is half the cost of a short page.
 *
 * The cache is valid until the next flush, which replaces it.
 */
import {
  andThen,
  type Bytes,
  bytesToLatin1,
  type MaybePromise,
  prefixEnd,
} from '../../../base/index.ts';
import type { KeyRange, ReadView } from '../../../engine/index.ts';
import type { MemoryBudget } from '../../read/memory-budget.ts';
import { blockRange } from '../stored/posting-block.ts';
import { PATH_NUMBER_BYTES } from '../terms/index-paths.ts';
import { PREFIX_TERM } from '../terms/index-terms.ts';
import { PostingListCache } from './posting-list-cache.ts';

/** Paths kept; a client that makes up paths must not fill the memory. */
const PATHS_MAX = 1000;
const PATH_BYTES = 1 + PATH_NUMBER_BYTES;
const ONE = { limit: 1, bytesMax: 1 };

export class StoredLists {
  readonly rids: PostingListCache;
  readonly #hasBlocks = new Map<string, boolean>();

  constructor(memory: MemoryBudget) {
    this.rids = new PostingListCache(memory);
  }

  /** False where no block can be in the range. `store` is a snapshot from after the last flush. */
  mayHold({ start, end }: KeyRange, store: ReadView): MaybePromise<boolean> {
    if (start[0] !== PREFIX_TERM || start.length < PATH_BYTES) return true;
    const path = start.subarray(0, PATH_BYTES);
    if (end === undefined || !isWithin(path, end)) return true;
    const name = bytesToLatin1(path);
    const hasBlocks = this.#hasBlocks.get(name);
    if (hasBlocks !== undefined) return hasBlocks;
    const all = blockRange({ start: path, end: prefixEnd(path) });
    return andThen(store.scan(all, ONE), ({ entries }) => {
      if (this.#hasBlocks.size >= PATHS_MAX) this.#hasBlocks.clear();
      this.#hasBlocks.set(name, entries.length > 0);
      return entries.length > 0;
    });
  }
}

/** Whether all keys from the path's prefix up to `end` begin with that prefix. */
function isWithin(path: Bytes, end: Bytes): boolean {
  let same = 0;
  while (same < path.length && end[same] === path[same]) same++;
  if (same === path.length) return true;
  const pathEnd = prefixEnd(path);
  return pathEnd === undefined || Buffer.compare(end, pathEnd) <= 0;
}
