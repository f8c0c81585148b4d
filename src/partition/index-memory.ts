/**
 * Index entries not yet written to their place.
 *
 * Entries of one item fall all over the index: written as they come, each costs a page of the disk. So a commit only
 * appends its changes to a log (one entry for all of it) and keeps them here, sorted; when there are many they are
 * written to the store in order, neighbours together, and the log is cut. After a crash the log brings them back.
 *
 * Keys are texts of one character per byte (latin1): they compare like the bytes and cost half of them.
 */
import {
  andThen,
  type Bytes,
  bytesToLatin1,
  type MaybePromise,
  newSortedMap,
  type SortedMap,
} from '../base/index.ts';
import type { KeyRange, KeyScanOptions, ReadView } from '../engine/index.ts';

/** true: the entry is there; false: it is in the store but no longer valid. */
type Tree = SortedMap<string, boolean>;

export interface IndexChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** A part of the memory on its way to the store. */
export interface Flush {
  readonly changes: readonly (readonly [string, boolean])[];
  isAbandoned: boolean;
}

export interface IndexPage {
  /** Entries in order, as texts; there may be none though the range goes on. */
  readonly entries: readonly string[];
  /** What is left of the range; undefined at its end. */
  readonly rest: KeyRange | undefined;
}

const newTree = (): Tree => newSortedMap(compareKeys);

export class IndexMemory {
  #active: Tree = newTree();
  /** Being written to the store; still part of every read. */
  #frozen: Tree | undefined;
  #flush: Flush | undefined;
  /** Policies that have yet to clear the index. */
  #holds = 0;

  get size(): number {
    return this.#active.size;
  }

  get isFlushing(): boolean {
    return this.#frozen !== undefined;
  }

  apply({ added, removed }: IndexChanges): void {
    for (const key of removed) this.#active.set(key, false);
    for (const key of added) this.#active.set(key, true);
  }

  /** Fills an empty memory with what the log holds, oldest first: sorted first, which is how a tree grows cheapest. */
  restore(logged: readonly IndexChanges[]): void {
    const changes = new Map<string, boolean>();
    for (const { added, removed } of logged) {
      for (const key of removed) changes.set(key, false);
      for (const key of added) changes.set(key, true);
    }
    for (const key of [...changes.keys()].sort(compareKeys))
      this.#active.set(key, changes.get(key) as boolean);
  }

  /** The policy that held the index is in force: everything older is void. */
  clear(): void {
    this.#active = newTree();
    this.#frozen = undefined;
    this.#flush = undefined;
    this.#holds--;
  }

  /** Sets aside what is here to be written; undefined where it may not be, or an earlier part is on its way. */
  freeze(): Flush | undefined {
    if (this.#frozen !== undefined || this.#holds > 0) return undefined;
    this.#frozen = this.#active;
    this.#active = newTree();
    const flush = { changes: this.#frozen.toArray(), isAbandoned: false };
    this.#flush = flush;
    return flush;
  }

  /** What was set aside is in the store. */
  thaw(flush: Flush): void {
    if (this.#flush !== flush) return;
    this.#flush = undefined;
    this.#frozen = undefined;
  }

  /** A new policy is about to clear the index: until then nothing of the old one may be written any more. */
  hold(): void {
    this.#holds++;
    if (this.#flush !== undefined) this.#flush.isAbandoned = true;
  }

  /** A view of this moment, to be read together with a snapshot of the store. */
  view(store: ReadView): IndexView {
    const trees = this.#frozen === undefined ? [] : [this.#frozen.clone()];
    return new IndexView(store, [...trees, this.#active.clone()]);
  }
}

export class IndexView {
  readonly #store: ReadView;
  /** Older first. */
  readonly #trees: readonly Tree[];

  constructor(store: ReadView, trees: readonly Tree[]) {
    this.#store = store;
    this.#trees = trees.filter((tree) => tree.size > 0);
  }

  scan(range: KeyRange, options: KeyScanOptions): MaybePromise<IndexPage> {
    return andThen(this.#store.scanKeys(range, options), ({ keys, more }) => {
      const last = more ? keys.at(-1) : undefined;
      if (this.#trees.length > 0) return this.#merge(keys, range, last, options);
      return { entries: keys, rest: restBehind(range, last, options.reverse === true) };
    });
  }

  /** Entries of the store with what memory adds and takes away, as many as asked for. */
  #merge(
    stored: readonly string[],
    range: KeyRange,
    lastStored: string | undefined,
    { limit, reverse = false }: KeyScanOptions,
  ): IndexPage {
    const changes = new Map<string, boolean>();
    let end = lastStored;
    const isBehind = (a: string, b: string): boolean => (reverse ? a < b : a > b);
    for (const tree of this.#trees) {
      const stop = this.#changesIn(tree, range, end, { limit, reverse }, changes);
      if (stop !== undefined && (end === undefined || isBehind(end, stop))) end = stop;
    }
    const merged: string[] = [];
    for (const key of stored)
      if (!changes.has(key) && (end === undefined || !isBehind(key, end))) merged.push(key);
    for (const [key, isThere] of changes)
      if (isThere && (end === undefined || !isBehind(key, end))) merged.push(key);
    merged.sort(reverse ? (a, b) => compareKeys(b, a) : compareKeys);
    const entries = merged.length > limit ? merged.slice(0, limit) : merged;
    const last = entries.length < merged.length ? entries.at(-1) : end;
    return { entries, rest: restBehind(range, last, reverse) };
  }

  /** Notes the changes of a tree up to `end`; answers where it stopped because it has more than are asked for. */
  #changesIn(
    tree: Tree,
    range: KeyRange,
    end: string | undefined,
    { limit, reverse }: { readonly limit: number; readonly reverse: boolean },
    changes: Map<string, boolean>,
  ): string | undefined {
    const low = bytesToLatin1(range.start);
    const high = range.end === undefined ? AFTER_ALL : bytesToLatin1(range.end);
    let added = 0;
    const entries = reverse ? tree.entriesReversed(high) : tree.entries(low);
    for (const [key, isThere] of entries) {
      if (
        reverse
          ? key < low || (end !== undefined && key < end)
          : key >= high || (end !== undefined && key > end)
      )
        return undefined;
      if (reverse && key >= high) continue;
      changes.set(key, isThere);
      if (isThere && ++added > limit) return key;
    }
    return undefined;
  }
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

/** Bytes of one log entry at most: a value of a store is bounded, a group of writes may have any number of terms. */
const LOG_ENTRY_BYTES = 256 * 1024;

/** Stored form of a group's changes, in log entries: for each change u8 flag (1 added, 0 removed), u16 length, key. */
export function encodeChanges({ added, removed }: IndexChanges): readonly Bytes[] {
  const entries: Bytes[] = [];
  let text = '';
  const add = (flag: string, key: string): void => {
    text += flag + lengthText(key) + key;
    if (text.length < LOG_ENTRY_BYTES) return;
    entries.push(Buffer.from(text, 'latin1'));
    text = '';
  };
  for (const key of removed) add('\u0000', key);
  for (const key of added) add('\u0001', key);
  if (text.length > 0) entries.push(Buffer.from(text, 'latin1'));
  return entries;
}

function lengthText(key: string): string {
  return String.fromCharCode(key.length >>> 8, key.length & 0xff);
}

export function decodeChanges(bytes: Bytes): IndexChanges {
  const text = bytesToLatin1(bytes);
  const added: string[] = [];
  const removed: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = (text.charCodeAt(at + 1) << 8) | text.charCodeAt(at + 2);
    const key = text.slice(at + 3, at + 3 + length);
    (text.charCodeAt(at) === 1 ? added : removed).push(key);
    at += 3 + length;
  }
  return { added, removed };
}
