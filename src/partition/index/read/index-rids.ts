/**
 * The rids of one term prefix: its entries as numbers. A posting block has hundreds of rids in one row, so that a rid
 * takes two bytes here and a whole text as an entry.
 */
import {
  andThen,
  type Bytes,
  bytesToLatin1,
  keyAfter,
  type MaybePromise,
} from '../../../base/index.ts';
import type { KeyRange, ReadView } from '../../../engine/index.ts';
import type { Rid } from '../../item/item.ts';
import { changesOf, type IndexRun } from '../memory/index-run.ts';
import type { RidChanges } from '../memory/posting-lists.ts';
import { addBlockRids, blockRange } from '../stored/posting-block.ts';
import { ridOfEntry } from '../terms/indexing.ts';
import { isPackedFor, type RidLimits, type Rids, TOO_MANY } from './posting-list-cache.ts';
import type { StoredLists } from './stored-lists.ts';

/** Blocks of one read: few where few rids are wanted. A block has 1024 rids at most, and often far fewer. */
const BLOCKS_MIN = 2;
const BLOCKS_MAX = 64;
const BLOCK_RIDS_GUESS = 32;
const BYTES_MAX = 1024 * 1024;
/** Greater than every rid, since rids begin with a zero byte. */
const LAST = Uint8Array.of(0xff);

/** The entries of a term prefix. */
export function rangeOfTermPrefix(termPrefix: Bytes): KeyRange {
  return { start: termPrefix, end: Buffer.concat([termPrefix, LAST]) };
}

/** A snapshot of the store, the changes in memory, and the cached lists of the store, except during a flush. */
export interface IndexSources {
  readonly store: ReadView;
  /** Older first. */
  readonly runs: readonly IndexRun[];
  readonly cached: StoredLists | undefined;
}

/** Ascending, each once; undefined where there are more than the limits, including those that memory removes. */
export function ridsOfTermPrefix(
  { store, runs, cached }: IndexSources,
  termPrefix: Bytes,
  limits: RidLimits,
): MaybePromise<Rids | undefined> {
  const text = bytesToLatin1(termPrefix);
  const read = (): MaybePromise<Rids | typeof TOO_MANY> => {
    const limit = cached?.rids.limitOf(text, limits) ?? limits.read;
    return andThen(storedRids(store, cached, termPrefix, limit), (found) => {
      cached?.rids.add(text, found ?? limit);
      return found ?? TOO_MANY;
    });
  };
  const stored = cached?.rids.get(text, limits) ?? read();
  return andThen(stored, (found) => {
    if (found === TOO_MANY) return undefined;
    const rids = changed(found, changesIn(runs, text));
    return rids.length > limits.cached ? undefined : rids;
  });
}

function storedRids(
  store: ReadView,
  cached: StoredLists | undefined,
  termPrefix: Bytes,
  limit: number,
): MaybePromise<readonly Rid[] | undefined> {
  const range = rangeOfTermPrefix(termPrefix);
  const options = { limit: limit + 1, bytesMax: BYTES_MAX };
  return andThen(store.scanKeys(range, options), ({ keys, more }) => {
    if (more || keys.length > limit) return undefined;
    return andThen(cached?.mayHold(range, store) ?? true, (hasBlocks) => {
      const listed: Rid[] = [];
      const blocks = !hasBlocks || addBlocks(store, blockRange(range), listed, limit);
      return andThen(blocks, (isAll) => (isAll ? joined(listed, keys.map(ridOfEntry)) : undefined));
    });
  });
}

/** Adds the rids of blocks; false where there are more than `limit`. */
function addBlocks(
  store: ReadView,
  blocks: KeyRange,
  rids: Rid[],
  limit: number,
): MaybePromise<boolean> {
  const wanted = Math.ceil((limit - rids.length) / BLOCK_RIDS_GUESS);
  const page = store.scan(blocks, {
    limit: Math.min(Math.max(wanted, BLOCKS_MIN), BLOCKS_MAX),
    bytesMax: BYTES_MAX,
  });
  return andThen(page, ({ entries, more }) => {
    for (const block of entries) {
      addBlockRids(block, rids);
      if (rids.length > limit) return false;
    }
    const last = entries.at(-1);
    if (!more || last === undefined) return true;
    const start = keyAfter(last.key);
    return addBlocks(store, { start, end: blocks.end }, rids, limit);
  });
}

/** The changes of a term prefix in memory, older first. */
export function changesIn(runs: readonly IndexRun[], termPrefix: string): readonly RidChanges[] {
  return runs.flatMap((run) => changesOf(run, termPrefix) ?? []);
}

/** Applies changes, older first. */
export function changed(stored: Rids, changes: readonly RidChanges[]): Rids {
  let rids = stored;
  for (const { rids: changing, isThere } of changes) {
    if (isThere !== undefined) {
      const removed = new Set(changing.filter((_, at) => isThere[at] !== true));
      rids = Array.from(rids).filter((rid) => !removed.has(rid));
    }
    const added = isThere === undefined ? changing : changing.filter((_, at) => isThere[at]);
    rids = appended(rids, added) ?? joined(rids, added);
  }
  return rids;
}

/** Most rids in memory are greater than all stored ones: then the packed numbers are copied at once. */
function appended(stored: Rids, added: readonly Rid[]): Rids | undefined {
  const last = added[added.length - 1];
  if (last === undefined || !isPackedFor(stored, last)) return undefined;
  const before = stored[stored.length - 1];
  if (before !== undefined && before >= (added[0] as Rid)) return undefined;
  const length = stored.length + added.length;
  const all = stored instanceof Uint32Array ? new Uint32Array(length) : new Float64Array(length);
  all.set(stored);
  all.set(added, stored.length);
  return all;
}

/** Merges two ascending lists; a rid that both have is in the result once. */
export function joined<A extends Rids>(a: A, b: readonly Rid[]): A | readonly Rid[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  if ((a[a.length - 1] as Rid) < (b[0] as Rid)) return Array.from(a).concat(b);
  const all: Rid[] = [];
  let left = 0;
  let right = 0;
  while (left < a.length && right < b.length) {
    const one = a[left] as Rid;
    const other = b[right] as Rid;
    all.push(Math.min(one, other));
    if (one <= other) left++;
    if (other <= one) right++;
  }
  while (left < a.length) all.push(a[left++] as Rid);
  while (right < b.length) all.push(b[right++] as Rid);
  return all;
}
