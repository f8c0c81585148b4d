/**
 * The rids of one value of one path: the same as its entries, as numbers. A list of the store holds hundreds of rids in a
 * row, so that what takes a text each as entries takes two bytes each here.
 */
import {
  andThen,
  type Bytes,
  bytesToLatin1,
  keyAfter,
  type MaybePromise,
} from '../../base/index.ts';
import type { KeyRange, ReadView } from '../../engine/index.ts';
import type { Rid } from '../item/item.ts';
import { changesOf, type IndexRun } from './index-run.ts';
import { ridOfEntry } from './indexing.ts';
import { addBlockRids, blockRange } from './posting-block.ts';
import { isPackedFor, type RidLimits, type Rids, TOO_MANY } from './posting-list-cache.ts';
import type { StoredLists } from './stored-lists.ts';

/** Lists of one read: few where few rids are wanted. A list has a thousand rids at most and often far fewer. */
const CHUNKS_MIN = 2;
const CHUNKS_MAX = 64;
const CHUNK_RIDS_GUESS = 32;
const BYTES_MAX = 1024 * 1024;
/** Behind every rid: they begin with a zero byte. */
const LAST = Uint8Array.of(0xff);

/** Where the entries of a stem are. */
function rangeOfStem(stem: Bytes): KeyRange {
  return { start: stem, end: Buffer.concat([stem, LAST]) };
}

/** What is looked into: a moment of the store, what memory adds to it, and what is known of it where it keeps still. */
interface IndexSources {
  readonly store: ReadView;
  /** Older first. */
  readonly runs: readonly IndexRun[];
  readonly cached: StoredLists | undefined;
}

/** Ascending, each once; undefined where there are more than is wanted, counted with those that memory takes away. */
export function ridsOfTermPrefix(
  { store, runs, cached }: IndexSources,
  stem: Bytes,
  limits: RidLimits,
): MaybePromise<Rids | undefined> {
  const text = bytesToLatin1(stem);
  const read = (): MaybePromise<Rids | typeof TOO_MANY> => {
    const limit = cached?.rids.limitOf(text, limits) ?? limits.read;
    return andThen(storedRids(store, cached, stem, limit), (found) => {
      cached?.rids.add(text, found ?? limit);
      return found ?? TOO_MANY;
    });
  };
  const stored = cached?.rids.get(text, limits) ?? read();
  return andThen(stored, (found) => {
    if (found === TOO_MANY) return undefined;
    const rids = changed(found, runs, text);
    return rids.length > limits.cached ? undefined : rids;
  });
}

function storedRids(
  store: ReadView,
  known: StoredLists | undefined,
  stem: Bytes,
  limit: number,
): MaybePromise<readonly Rid[] | undefined> {
  const range = rangeOfStem(stem);
  const options = { limit: limit + 1, bytesMax: BYTES_MAX };
  return andThen(store.scanKeys(range, options), ({ keys, more }) => {
    if (more || keys.length > limit) return undefined;
    return andThen(known?.mayHold(range, store) ?? true, (hasLists) => {
      const listed: Rid[] = [];
      const lists = !hasLists || addListed(store, blockRange(range), listed, limit);
      return andThen(lists, (isAll) => (isAll ? joined(listed, keys.map(ridOfEntry)) : undefined));
    });
  });
}

/** Adds those in lists; false where there are more than `limit`. */
function addListed(
  store: ReadView,
  lists: KeyRange,
  rids: Rid[],
  limit: number,
): MaybePromise<boolean> {
  const wanted = Math.ceil((limit - rids.length) / CHUNK_RIDS_GUESS);
  const page = store.scan(lists, {
    limit: Math.min(Math.max(wanted, CHUNKS_MIN), CHUNKS_MAX),
    bytesMax: BYTES_MAX,
  });
  return andThen(page, ({ entries, more }) => {
    for (const list of entries) {
      addBlockRids(list, rids);
      if (rids.length > limit) return false;
    }
    const last = entries.at(-1);
    if (!more || last === undefined) return true;
    const start = keyAfter(last.key);
    return addListed(store, { start, end: lists.end }, rids, limit);
  });
}

/** With what memory adds and takes away. */
function changed(stored: Rids, runs: readonly IndexRun[], stem: string): Rids {
  let rids = stored;
  for (const run of runs) {
    const changes = changesOf(run, stem);
    if (changes === undefined) continue;
    const { rids: changing, isThere } = changes;
    if (isThere !== undefined) {
      const gone = new Set(changing.filter((_, at) => isThere[at] !== true));
      rids = Array.from(rids).filter((rid) => !gone.has(rid));
    }
    const added = isThere === undefined ? changing : changing.filter((_, at) => isThere[at]);
    rids = appended(rids, added) ?? joined(rids, added);
  }
  return rids;
}

/** Most of what memory adds is newer than all that is stored: thousands of packed numbers are copied in one go. */
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

/** Of two lists that rise, one that does, with what both have once. */
function joined<A extends Rids>(a: A, b: readonly Rid[]): A | readonly Rid[] {
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
