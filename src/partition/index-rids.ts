/**
 * The rids of one value of one path: the same as its entries, as numbers. A list of the store holds hundreds of rids in a
 * row, so that what takes a text each as entries takes two bytes each here.
 */
import { andThen, type Bytes, bytesToLatin1, type MaybePromise } from '../base/index.ts';
import type { KeyRange, ReadView } from '../engine/index.ts';
import { addChunkRids, chunkRange } from './index-chunk.ts';
import { changesOf, type IndexRun } from './index-run.ts';
import { ridOfEntry } from './indexing.ts';
import type { Rid } from './item.ts';

/** Lists of one read: few where few rids are wanted. A list has a thousand rids at most and often far fewer. */
const CHUNKS_MIN = 2;
const CHUNKS_MAX = 64;
const CHUNK_RIDS_GUESS = 32;
const BYTES_MAX = 1024 * 1024;
/** Behind every rid: they begin with a zero byte. */
const LAST = Uint8Array.of(0xff);

export interface RidsWanted {
  readonly stem: Bytes;
  readonly limit: number;
  /** False where it is known that there are none. */
  readonly hasLists: boolean;
}

/** Where the entries of a stem are. */
export function rangeOfStem(stem: Bytes): KeyRange {
  return { start: stem, end: Buffer.concat([stem, LAST]) };
}

/** Ascending, each once; undefined where there are more than `limit`, counted with those that memory takes away. */
export function ridsOfStem(
  store: ReadView,
  runs: readonly IndexRun[],
  { stem, limit, hasLists }: RidsWanted,
): MaybePromise<readonly Rid[] | undefined> {
  const range = rangeOfStem(stem);
  const options = { limit: limit + 1, bytesMax: BYTES_MAX };
  return andThen(store.scanKeys(range, options), ({ keys, more }) => {
    if (more || keys.length > limit) return undefined;
    const listed: Rid[] = [];
    const lists = !hasLists || addListed(store, chunkRange(range), listed, limit);
    return andThen(lists, (isAll) => {
      if (!isAll) return undefined;
      const found = changed(joined(listed, keys.map(ridOfEntry)), runs, bytesToLatin1(stem));
      return found.length > limit ? undefined : found;
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
      addChunkRids(list, rids);
      if (rids.length > limit) return false;
    }
    const last = entries.at(-1);
    if (!more || last === undefined) return true;
    const start = Buffer.concat([last.key, Uint8Array.of(0)]);
    return addListed(store, { start, end: lists.end }, rids, limit);
  });
}

/** With what memory adds and takes away. */
function changed(stored: readonly Rid[], runs: readonly IndexRun[], stem: string): readonly Rid[] {
  let rids = stored;
  for (const run of runs) {
    const changes = changesOf(run, stem);
    if (changes === undefined) continue;
    const { rids: changing, isThere } = changes;
    if (isThere !== undefined) {
      const gone = new Set(changing.filter((_, at) => isThere[at] !== true));
      rids = rids.filter((rid) => !gone.has(rid));
    }
    rids = joined(rids, isThere === undefined ? changing : changing.filter((_, at) => isThere[at]));
  }
  return rids;
}

/** Of two lists that rise, one that does, with what both have once. */
function joined(a: readonly Rid[], b: readonly Rid[]): readonly Rid[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  if ((a.at(-1) as Rid) < (b[0] as Rid)) return a.concat(b);
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
