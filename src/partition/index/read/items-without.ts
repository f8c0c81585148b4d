/**
 * The items without a value at a path, which have no index entry there. An ORDER BY of that path needs them too: first
 * where it ascends, last where it descends.
 *
 * They are found once, as all items minus those with an entry, and kept. Later calls add the items that were written
 * since, from the change log. Nothing is removed: the list may name items that are deleted or have a value by now, but
 * is never incomplete. The reader of the items can tell.
 */
import { type Bytes, bytesToLatin1, isPromise, type MaybePromise } from '../../../base/index.ts';
import type { KeyRange, Snapshot } from '../../../engine/index.ts';
import type { Item, Lsn, Rid } from '../../item/item.ts';
import { logAfter, PREFIX_LOG, recordsAfter } from '../../item/keyspace.ts';
import { type Indexing, ridOfEntry } from '../terms/indexing.ts';
import type { IndexView } from './index-view.ts';

/** Lists that are kept; the least recently used one is dropped. */
const LISTS_MAX = 16;
/** A longer list is not kept: a rid takes 8 bytes. */
const RIDS_MAX = 2 ** 20;
/** Where more items were written since, the list is made again. */
const CHANGES = { limit: 2000, bytesMax: 1024 * 1024 };
/** Items whose entries are computed in one slice: some milliseconds. */
const CHANGES_PER_SLICE = 100;
const KEY_PAGE = { limit: 1000, bytesMax: 1024 * 1024 };

/** A consistent view of a partition. */
interface IndexedItems {
  readonly lsn: Lsn;
  readonly itemCount: number;
  readonly indexing: Indexing;
  readonly snapshot: Snapshot;
  readonly index: IndexView;
  readMany(rids: readonly Rid[]): MaybePromise<readonly (Item | undefined)[]>;
}

interface CachedList {
  readonly indexing: Indexing;
  /** The list covers writes up to here. */
  readonly lsn: Lsn;
  /** LSN of the view that the list was made from. */
  readonly madeAt: Lsn;
  /** Ascending. */
  readonly rids: readonly Rid[];
}

export class ItemsWithout {
  /** By the prefix of the path's entries; the most recently used one is last. */
  readonly #lists = new Map<string, CachedList>();
  readonly #making = new Map<string, Promise<CachedList>>();

  /** Ascending; complete, possibly with others. Synchronous where nothing was written since the last call. */
  find(source: IndexedItems, terms: Bytes): MaybePromise<readonly Rid[]> {
    const name = bytesToLatin1(terms);
    const cached = this.#lists.get(name);
    if (cached === undefined || !isOf(cached, source)) return this.#made(source, terms, name);
    this.#lists.delete(name);
    this.#lists.set(name, cached);
    return cached.lsn >= source.lsn ? cached.rids : this.#updated(source, terms, cached);
  }

  /** Concurrent calls for one path share the work. */
  async #made(source: IndexedItems, terms: Bytes, name: string): Promise<readonly Rid[]> {
    const others = await this.#making.get(name);
    if (others !== undefined && isOf(others, source))
      return others.lsn >= source.lsn ? others.rids : this.#updated(source, terms, others);
    const making = this.#make(source, terms, name);
    this.#making.set(name, making);
    try {
      return (await making).rids;
    } finally {
      if (this.#making.get(name) === making) this.#making.delete(name);
    }
  }

  async #make(source: IndexedItems, terms: Bytes, name: string): Promise<CachedList> {
    const { indexing, lsn } = source;
    const made = { indexing, lsn, madeAt: lsn, rids: await ridsWithout(source, terms) };
    this.#keep(name, made);
    return made;
  }

  async #updated(source: IndexedItems, terms: Bytes, cached: CachedList): Promise<readonly Rid[]> {
    const { indexing, lsn } = source;
    const name = bytesToLatin1(terms);
    const { keys, more } = await source.snapshot.scanKeys(
      logAfter(PREFIX_LOG, cached.lsn),
      CHANGES,
    );
    if (more) return (await this.#make(source, terms, name)).rids;
    const without: Rid[] = [];
    for (let at = 0; at < keys.length; at += CHANGES_PER_SLICE) {
      if (at > 0) await yieldToEventLoop();
      const written = keys.slice(at, at + CHANGES_PER_SLICE).map(ridOfEntry);
      const items = await source.readMany(written);
      // An invisible item may become visible again, when the time to live changes.
      written.forEach((rid, place) => {
        const item = items[place];
        if (item === undefined || !indexing.hasTerm(item, name)) without.push(rid);
      });
    }
    const rids = withMore(cached.rids, without);
    this.#keep(name, { indexing, lsn, madeAt: cached.madeAt, rids });
    return rids;
  }

  #keep(name: string, cached: CachedList): void {
    const other = this.#lists.get(name);
    // A list of an older view does not replace a newer one.
    if (other?.indexing === cached.indexing && other.lsn > cached.lsn) return;
    this.#lists.delete(name);
    if (cached.rids.length > RIDS_MAX) return;
    this.#lists.set(name, cached);
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= LISTS_MAX) break;
      this.#lists.delete(oldest);
    }
  }
}

/** A list that was made from a later view may lack items that had no value before. */
function isOf(cached: CachedList, { indexing, lsn }: IndexedItems): boolean {
  return cached.indexing === indexing && cached.madeAt <= lsn;
}

async function ridsWithout(source: IndexedItems, terms: Bytes): Promise<readonly Rid[]> {
  const having = new RidSet();
  const start: KeyRange = { start: terms, end: Buffer.concat([terms, LAST]) };
  for (let range: KeyRange | undefined = start; range !== undefined; ) {
    const found = source.index.scan(range, KEY_PAGE);
    const { entries, rest } = isPromise(found) ? await found : found;
    for (const entry of entries) having.add(ridOfEntry(entry));
    range = rest;
    if (range !== undefined) await yieldToEventLoop();
  }
  if (having.size === source.itemCount) return [];
  const without: Rid[] = [];
  for (let after: Rid | undefined, hasMore = true; hasMore; ) {
    const found = source.snapshot.scanKeys(recordsAfter(after), KEY_PAGE);
    const { keys, more } = isPromise(found) ? await found : found;
    for (const key of keys) {
      after = ridOfEntry(key);
      if (!having.has(after)) without.push(after);
    }
    hasMore = more;
    if (more) await yieldToEventLoop();
  }
  return without;
}

/** Greater than every value, since type tags are smaller. */
const LAST = Uint8Array.of(0xff);

/** Lets other requests run. */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Merges rids into an ascending list, each once. */
function withMore(rids: readonly Rid[], more: readonly Rid[]): readonly Rid[] {
  if (more.length === 0) return rids;
  const cached = new Set(rids);
  const added = more.filter((rid) => !cached.has(rid));
  return added.length === 0 ? rids : [...rids, ...added].sort((a, b) => a - b);
}

const BLOCK_BITS = 2 ** 15;

/** A bit set in blocks, since the rids of one partition are consecutive. */
class RidSet {
  readonly #blocks = new Map<number, Uint32Array>();
  size = 0;

  add(rid: Rid): void {
    const at = Math.floor(rid / BLOCK_BITS);
    const block = this.#blocks.get(at) ?? new Uint32Array(BLOCK_BITS / 32);
    if (!this.#blocks.has(at)) this.#blocks.set(at, block);
    const bit = rid % BLOCK_BITS;
    const mask = 1 << (bit & 31);
    const word = block[bit >>> 5] as number;
    if ((word & mask) !== 0) return;
    block[bit >>> 5] = word | mask;
    this.size++;
  }

  has(rid: Rid): boolean {
    const bit = rid % BLOCK_BITS;
    const word = this.#blocks.get(Math.floor(rid / BLOCK_BITS))?.[bit >>> 5] ?? 0;
    return (word & (1 << (bit & 31))) !== 0;
  }
}
