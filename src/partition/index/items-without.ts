/**
 * The items that have no value at a path, which no index entry tells of. An order by that path wants them all the same: first
 * where it rises, last where it falls.
 *
 * They are found once, by taking the items with an entry from all items, and kept. Later looks add the items written since,
 * as the log has them. Nothing is taken away in between: the list may name items that are gone or have a value by now, and
 * never leaves one out. Who reads the items can tell.
 */
import { type Bytes, bytesToLatin1, isPromise, type MaybePromise } from '../../base/index.ts';
import type { KeyRange, Snapshot } from '../../engine/index.ts';
import type { Item, Lsn, Rid } from '../item/item.ts';
import { logAfter, PREFIX_LOG, recordsAfter } from '../item/keyspace.ts';
import type { IndexView } from './index-view.ts';
import { type Indexing, ridOfEntry } from './indexing.ts';

/** Paths that lists are kept of; the one asked for least lately goes first. */
const LISTS_MAX = 16;
/** A longer list is not kept: 8 bytes each. */
const RIDS_MAX = 2 ** 20;
/** Where more items were written since, everything is looked at again. */
const CHANGES = { limit: 2000, bytesMax: 1024 * 1024 };
/** Items whose entries are made again at once: some milliseconds. */
const CHANGES_PER_TURN = 100;
const KEY_PAGE = { limit: 1000, bytesMax: 1024 * 1024 };

/** One moment of a partition. */
interface ItemsMoment {
  readonly lsn: Lsn;
  readonly itemCount: number;
  readonly indexing: Indexing;
  readonly snapshot: Snapshot;
  readonly index: IndexView;
  readMany(rids: readonly Rid[]): MaybePromise<readonly (Item | undefined)[]>;
}

interface Known {
  readonly indexing: Indexing;
  /** Items written up to here are looked at. */
  readonly lsn: Lsn;
  /** The moment that the list was made of. */
  readonly madeAt: Lsn;
  /** Ascending. */
  readonly rids: readonly Rid[];
}

export class ItemsWithout {
  /** By the beginning of the entries of the path; the last asked for is the last. */
  readonly #lists = new Map<string, Known>();
  readonly #making = new Map<string, Promise<Known>>();

  /** Ascending; all there are, and maybe others. At once where nothing was written since the last look. */
  find(moment: ItemsMoment, terms: Bytes): MaybePromise<readonly Rid[]> {
    const name = bytesToLatin1(terms);
    const known = this.#lists.get(name);
    if (known === undefined || !isOf(known, moment)) return this.#made(moment, terms, name);
    this.#lists.delete(name);
    this.#lists.set(name, known);
    return known.lsn >= moment.lsn ? known.rids : this.#updated(moment, terms, known);
  }

  /** Many ask for the same at once: one makes it. */
  async #made(moment: ItemsMoment, terms: Bytes, name: string): Promise<readonly Rid[]> {
    const others = await this.#making.get(name);
    if (others !== undefined && isOf(others, moment))
      return others.lsn >= moment.lsn ? others.rids : this.#updated(moment, terms, others);
    const making = this.#make(moment, terms, name);
    this.#making.set(name, making);
    try {
      return (await making).rids;
    } finally {
      if (this.#making.get(name) === making) this.#making.delete(name);
    }
  }

  async #make(moment: ItemsMoment, terms: Bytes, name: string): Promise<Known> {
    const { indexing, lsn } = moment;
    const made = { indexing, lsn, madeAt: lsn, rids: await ridsWithout(moment, terms) };
    this.#keep(name, made);
    return made;
  }

  async #updated(moment: ItemsMoment, terms: Bytes, known: Known): Promise<readonly Rid[]> {
    const { indexing, lsn } = moment;
    const name = bytesToLatin1(terms);
    const { keys, more } = await moment.snapshot.scanKeys(logAfter(PREFIX_LOG, known.lsn), CHANGES);
    if (more) return (await this.#make(moment, terms, name)).rids;
    const without: Rid[] = [];
    for (let at = 0; at < keys.length; at += CHANGES_PER_TURN) {
      if (at > 0) await nextTurn();
      const written = keys.slice(at, at + CHANGES_PER_TURN).map(ridOfEntry);
      const items = await moment.readMany(written);
      // One that is hidden now may be seen again.
      written.forEach((rid, place) => {
        const item = items[place];
        if (item === undefined || !indexing.hasTerm(item, name)) without.push(rid);
      });
    }
    const rids = withMore(known.rids, without);
    this.#keep(name, { indexing, lsn, madeAt: known.madeAt, rids });
    return rids;
  }

  #keep(name: string, known: Known): void {
    const other = this.#lists.get(name);
    // Who looked at an older moment was overtaken.
    if (other?.indexing === known.indexing && other.lsn > known.lsn) return;
    this.#lists.delete(name);
    if (known.rids.length > RIDS_MAX) return;
    this.#lists.set(name, known);
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= LISTS_MAX) break;
      this.#lists.delete(oldest);
    }
  }
}

/** A list made later may leave out what had no value before. */
function isOf(known: Known, { indexing, lsn }: ItemsMoment): boolean {
  return known.indexing === indexing && known.madeAt <= lsn;
}

async function ridsWithout(moment: ItemsMoment, terms: Bytes): Promise<readonly Rid[]> {
  const having = new RidSet();
  const start: KeyRange = { start: terms, end: Buffer.concat([terms, LAST]) };
  for (let range: KeyRange | undefined = start; range !== undefined; ) {
    const found = moment.index.scan(range, KEY_PAGE);
    const { entries, rest } = isPromise(found) ? await found : found;
    for (const entry of entries) having.add(ridOfEntry(entry));
    range = rest;
    if (range !== undefined) await nextTurn();
  }
  if (having.size === moment.itemCount) return [];
  const without: Rid[] = [];
  for (let after: Rid | undefined, goesOn = true; goesOn; ) {
    const found = moment.snapshot.scanKeys(recordsAfter(after), KEY_PAGE);
    const { keys, more } = isPromise(found) ? await found : found;
    for (const key of keys) {
      after = ridOfEntry(key);
      if (!having.has(after)) without.push(after);
    }
    goesOn = more;
    if (more) await nextTurn();
  }
  return without;
}

/** Behind every value: tags are smaller. */
const LAST = Uint8Array.of(0xff);

/** Others have their turn after every page. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Two lists that rise as one, each rid once. */
function withMore(rids: readonly Rid[], more: readonly Rid[]): readonly Rid[] {
  if (more.length === 0) return rids;
  const known = new Set(rids);
  const added = more.filter((rid) => !known.has(rid));
  return added.length === 0 ? rids : [...rids, ...added].sort((a, b) => a - b);
}

const BLOCK_BITS = 2 ** 15;

/** A bit for every rid: rids of one partition follow each other. */
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
