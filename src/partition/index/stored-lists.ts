/**
 * What is known of the entries in the store: which paths have lists (posting-block.ts), and the rids of values that were
 * asked for. Where every value is that of few items, as of ids, there are
 * none, and a page of entries need not look for them: that is half of what a short one costs.
 *
 * What is known holds as long as no entries are written to their place: whoever writes them starts anew.
 */
import {
  andThen,
  type Bytes,
  bytesToLatin1,
  type MaybePromise,
  prefixEnd,
} from '../../base/index.ts';
import type { KeyRange, ReadView } from '../../engine/index.ts';
import type { MemoryBudget } from '../read/memory-budget.ts';
import { PATH_NUMBER_BYTES } from './index-paths.ts';
import { PREFIX_TERM } from './index-terms.ts';
import { blockRange } from './posting-block.ts';
import { PostingListCache } from './posting-list-cache.ts';

/** Paths that queries ask for; a client that makes paths up must not fill the memory. */
const PATHS_MAX = 1000;
const PATH_BYTES = 1 + PATH_NUMBER_BYTES;
const ONE = { limit: 1, bytesMax: 1 };

export class StoredLists {
  readonly rids: PostingListCache;
  readonly #hasLists = new Map<string, boolean>();

  constructor(room: MemoryBudget) {
    this.rids = new PostingListCache(room);
  }

  /** False where no list can be in the range. `store` is of a moment since entries were last written to their place. */
  mayHold({ start, end }: KeyRange, store: ReadView): MaybePromise<boolean> {
    if (start[0] !== PREFIX_TERM || start.length < PATH_BYTES) return true;
    const path = start.subarray(0, PATH_BYTES);
    if (end === undefined || !isWithin(path, end)) return true;
    const name = bytesToLatin1(path);
    const known = this.#hasLists.get(name);
    if (known !== undefined) return known;
    const all = blockRange({ start: path, end: prefixEnd(path) });
    return andThen(store.scan(all, ONE), ({ entries }) => {
      if (this.#hasLists.size >= PATHS_MAX) this.#hasLists.clear();
      this.#hasLists.set(name, entries.length > 0);
      return entries.length > 0;
    });
  }
}

/** Whether all keys before `end` that are not before the path begin with it. */
function isWithin(path: Bytes, end: Bytes): boolean {
  let same = 0;
  while (same < path.length && end[same] === path[same]) same++;
  if (same === path.length) return true;
  const behind = prefixEnd(path);
  return behind === undefined || Buffer.compare(end, behind) <= 0;
}
