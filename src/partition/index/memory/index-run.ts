/** Index entries in memory, sorted and immutable: views are made of them. */
import type { Rid } from '../../item/item.ts';
import type { PostingLists, RidChanges } from './posting-lists.ts';

export interface IndexRun {
  readonly termPrefixes: readonly string[];
  /** One per term prefix. */
  readonly changes: readonly RidChanges[];
  readonly size: number;
}

export function runOf(postings: PostingLists): IndexRun {
  const termPrefixes: string[] = [];
  const changes: RidChanges[] = [];
  let size = 0;
  for (const [termPrefix, posting] of postings.sorted()) {
    const own = posting.changes();
    // Lists without rids belong to items that are not durable yet.
    if (own.rids.length === 0) continue;
    termPrefixes.push(termPrefix);
    changes.push(own);
    size += own.rids.length;
  }
  const common = { termPrefixes, changes, size };
  const unique = uniqueRun(postings);
  if (unique.size === 0) return common;
  return size === 0 ? unique : mergeRuns(unique, common);
}

/** The entries of values that hardly another item has. */
function uniqueRun(postings: PostingLists): IndexRun {
  const { termPrefixes, rids } = postings.uniqueSorted();
  let size = 0;
  for (const own of rids) size += own.length;
  return { termPrefixes, changes: rids.map((own) => ({ rids: own, isThere: undefined })), size };
}

/** The newer run decides where both change an entry. */
export function mergeRuns(older: IndexRun, newer: IndexRun): IndexRun {
  const termPrefixes: string[] = [];
  const changes: RidChanges[] = [];
  let size = 0;
  const take = (run: IndexRun, at: number): void => {
    termPrefixes.push(run.termPrefixes[at] as string);
    changes.push(run.changes[at] as RidChanges);
  };
  for (let a = 0, b = 0; a < older.termPrefixes.length || b < newer.termPrefixes.length; ) {
    const left = older.termPrefixes[a];
    const right = newer.termPrefixes[b];
    if (right === undefined || (left !== undefined && left < right)) take(older, a++);
    else if (left === undefined || right < left) take(newer, b++);
    else {
      termPrefixes.push(left);
      changes.push(mergeRids(older.changes[a++] as RidChanges, newer.changes[b++] as RidChanges));
    }
    size += (changes.at(-1) as RidChanges).rids.length;
  }
  return { termPrefixes, changes, size };
}

function mergeRids(older: RidChanges, newer: RidChanges): RidChanges {
  const last = older.rids.at(-1) ?? -1;
  const isBehind = (newer.rids[0] ?? 0) > last;
  if (isBehind && older.isThere === undefined && newer.isThere === undefined)
    return { rids: older.rids.concat(newer.rids), isThere: undefined };
  const all = new Map<Rid, boolean>();
  for (const { rids, isThere } of [older, newer])
    rids.forEach((rid, at) => {
      all.set(rid, isThere?.[at] ?? true);
    });
  const rids = [...all.keys()].sort((a, b) => a - b);
  return { rids, isThere: rids.map((rid) => all.get(rid) === true) };
}

/** The place of the first term prefix that is not below `key`. */
function termPrefixFrom({ termPrefixes }: IndexRun, key: string): number {
  let low = 0;
  let high = termPrefixes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((termPrefixes[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The changes of one term prefix in a run; undefined where there are none. */
export function changesOf(run: IndexRun, termPrefix: string): RidChanges | undefined {
  const at = termPrefixFrom(run, termPrefix);
  return run.termPrefixes[at] === termPrefix ? run.changes[at] : undefined;
}

/** A rid as the eight characters after a term prefix. */
export function ridText(rid: Rid): string {
  const high = Math.floor(rid / 2 ** 32);
  return String.fromCharCode(
    high >>> 24,
    (high >>> 16) & 0xff,
    (high >>> 8) & 0xff,
    high & 0xff,
    (rid >>> 24) & 0xff,
    (rid >>> 16) & 0xff,
    (rid >>> 8) & 0xff,
    rid & 0xff,
  );
}

/** The smallest rid whose text after a term prefix is not below `text`. */
function ridAt(text: string): number {
  let rid = 0;
  for (let at = 0; at < 8; at++) rid = rid * 256 + (text.charCodeAt(at) || 0);
  return text.length > 8 ? rid + 1 : rid;
}

/** The number of rids of a term prefix before a key. */
function countBefore(termPrefix: string, rids: readonly Rid[], key: string): number {
  if (!key.startsWith(termPrefix)) return key < termPrefix ? 0 : rids.length;
  const bound = ridAt(key.slice(termPrefix.length));
  return placeOf(rids, bound);
}

/** The place of the first rid that is not below `bound`. */
export function placeOf(rids: readonly Rid[], bound: Rid): number {
  let low = 0;
  let high = rids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rids[middle] as Rid) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Bounds {
  readonly low: string;
  readonly high: string;
  readonly reverse: boolean;
}

/** Visits the entries of a run within [low, high), in order, until `visit` returns false. */
export function walkRun(
  run: IndexRun,
  { low, high, reverse }: Bounds,
  visit: (entry: string, isThere: boolean) => boolean,
): void {
  // The lower bound may lie among the rids of the term prefix before it.
  const first = Math.max(0, termPrefixFrom(run, low) - 1);
  const end = termPrefixFrom(run, high);
  for (let step = 0; step < end - first; step++) {
    const at = reverse ? end - 1 - step : first + step;
    const termPrefix = run.termPrefixes[at] as string;
    const { rids, isThere } = run.changes[at] as RidChanges;
    const from = countBefore(termPrefix, rids, low);
    const to = countBefore(termPrefix, rids, high);
    for (let count = 0; count < to - from; count++) {
      const place = reverse ? to - 1 - count : from + count;
      if (!visit(termPrefix + ridText(rids[place] as Rid), isThere?.[place] ?? true)) return;
    }
  }
}
