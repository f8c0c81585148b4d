/** Writes the index entries kept in memory to their place in the store, in order. */
import type { Bytes } from '../../base/index.ts';
import type { Entry, Store } from '../../engine/index.ts';
import type { Rid } from '../item/item.ts';
import type { Flush } from './index-memtable.ts';
import { blockKey, blockNumber, encodeBlock, withoutRids } from './posting-block.ts';
import type { RidChanges } from './posting-lists.ts';

/** Rows of one commit: short, because the partition's own writes wait behind it. */
const STEP_ROWS = 2000;
/** An entry that goes costs as much as so many rows: its list is read first, where requests are served. */
const CHANGED_ROWS = 4;
/** From so many neighbours on a list takes less room and time than an entry for each. */
const LISTED_FROM = 4;

const RID_BYTES = 8;

const EMPTY: Bytes = new Uint8Array(0);

/** True when all of it is in the store. Safe to be cut off anywhere and done again. */
export async function writeEntries(store: Store, flush: Flush): Promise<boolean> {
  // Older first: what a newer run says of an entry is written over it.
  for (const { termPrefixes, changes } of flush.runs) {
    let step = new Step();
    for (let at = 0; at < termPrefixes.length; at++) {
      step.add(termPrefixes[at] as string, changes[at] as RidChanges);
      if (step.rows < STEP_ROWS && at + 1 < termPrefixes.length) continue;
      if (flush.isAbandoned) return false;
      await step.commit(store, flush);
      step = new Step();
    }
  }
  return !flush.isAbandoned;
}

class Step {
  readonly #puts: Entry[] = [];
  readonly #deletes: Bytes[] = [];
  readonly #appends: Entry[] = [];
  /** Lists that may hold entries that are no more, and which. */
  readonly #thinned: { readonly key: Bytes; readonly gone: readonly Rid[] }[] = [];
  rows = 0;

  add(stem: string, { rids, isThere }: RidChanges): void {
    for (let from = 0; from < rids.length; ) {
      const chunk = blockNumber(rids[from] as Rid);
      let to = from + 1;
      while (to < rids.length && blockNumber(rids[to] as Rid) === chunk) to++;
      const own = from === 0 && to === rids.length ? rids : rids.slice(from, to);
      if (isThere === undefined) this.#addAll(stem, chunk, own);
      else this.#change(stem, chunk, own, isThere.slice(from, to));
      from = to;
    }
  }

  async commit(store: Store, flush: Flush): Promise<void> {
    const lists =
      this.#thinned.length === 0 ? [] : await store.getMany(this.#thinned.map(({ key }) => key));
    if (flush.isAbandoned) return;
    this.#thinned.forEach(({ key, gone }, at) => {
      const list = lists[at];
      if (list === undefined) return;
      const kept = withoutRids(list, gone);
      if (kept === undefined) this.#deletes.push(key);
      else this.#puts.push({ key, value: kept });
    });
    await store.commit({ puts: this.#puts, deletes: this.#deletes, appends: this.#appends });
  }

  #addAll(stem: string, chunk: number, rids: readonly Rid[]): void {
    if (rids.length >= LISTED_FROM) {
      this.#appends.push({ key: blockKey(stem, chunk), value: encodeBlock(rids) });
      this.rows++;
      return;
    }
    for (const rid of rids) this.#puts.push({ key: entryKey(stem, rid), value: EMPTY });
    this.rows += rids.length;
  }

  /** What is added leaves its list first, too: an entry that comes and goes must not make it longer every time. */
  #change(stem: string, chunk: number, rids: readonly Rid[], isThere: readonly boolean[]): void {
    this.#thinned.push({ key: blockKey(stem, chunk), gone: rids });
    rids.forEach((rid, at) => {
      if (isThere[at] !== true) this.#deletes.push(entryKey(stem, rid));
    });
    this.#addAll(
      stem,
      chunk,
      rids.filter((_, at) => isThere[at] === true),
    );
    this.rows += CHANGED_ROWS * rids.length;
  }
}

function entryKey(stem: string, rid: Rid): Bytes {
  const end = stem.length;
  const key = Buffer.allocUnsafe(end + RID_BYTES);
  key.write(stem, 0, 'latin1');
  key.writeUInt32BE(Math.floor(rid / 2 ** 32), end);
  key.writeUInt32BE(rid >>> 0, end + 4);
  return key;
}
