/** Writes index entries from memory to the store, in order. */
import type { Bytes, MaybePromise } from '../../../base/index.ts';
import type { Entry, Store } from '../../../engine/index.ts';
import type { Rid } from '../../item/item.ts';
import type { Flush } from '../memory/index-memtable.ts';
import type { RidChanges } from '../memory/posting-lists.ts';
import { blockKey, blockNumber, encodeBlock, withoutRids } from './posting-block.ts';

/** Rows of one commit; few, because writes of the partition wait for it. */
const STEP_ROWS = 2000;
/** A removed entry costs as much as this many rows: its block is read first, on the thread that serves requests. */
const CHANGED_ROWS = 4;
/** From this many rids on a block takes less space and time than single entries. */
const BLOCK_RIDS_MIN = 4;

const RID_BYTES = 8;

const REFUSED_WAIT_MS = 50;

const EMPTY: Bytes = new Uint8Array(0);

/** True when all entries are in the store. May be interrupted anywhere and repeated. */
export async function writeEntries(store: Store, flush: Flush): Promise<boolean> {
  // Older runs first, because newer ones overwrite their entries.
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
  /** Blocks that may have removed entries, with the rids to remove. */
  readonly #changedBlocks: { readonly key: Bytes; readonly removed: readonly Rid[] }[] = [];
  rows = 0;

  add(termPrefix: string, { rids, isThere }: RidChanges): void {
    for (let from = 0; from < rids.length; ) {
      const block = blockNumber(rids[from] as Rid);
      let to = from + 1;
      while (to < rids.length && blockNumber(rids[to] as Rid) === block) to++;
      const own = from === 0 && to === rids.length ? rids : rids.slice(from, to);
      if (isThere === undefined) this.#addAll(termPrefix, block, own);
      else this.#change(termPrefix, block, own, isThere.slice(from, to));
      from = to;
    }
  }

  async commit(store: Store, flush: Flush): Promise<void> {
    const blocks =
      this.#changedBlocks.length === 0
        ? []
        : await readPatiently(store, flush, () =>
            store.getMany(this.#changedBlocks.map(({ key }) => key)),
          );
    if (flush.isAbandoned) return;
    this.#changedBlocks.forEach(({ key, removed }, at) => {
      const block = blocks[at];
      if (block === undefined) return;
      const kept = withoutRids(block, removed);
      if (kept === undefined) this.#deletes.push(key);
      else this.#puts.push({ key, value: kept });
    });
    await store.commit({ puts: this.#puts, deletes: this.#deletes, appends: this.#appends });
  }

  #addAll(termPrefix: string, block: number, rids: readonly Rid[]): void {
    if (rids.length >= BLOCK_RIDS_MIN) {
      this.#appends.push({ key: blockKey(termPrefix, block), value: encodeBlock(rids) });
      this.rows++;
      return;
    }
    for (const rid of rids) this.#puts.push({ key: entryKey(termPrefix, rid), value: EMPTY });
    this.rows += rids.length;
  }

  /** Added rids are removed from their block first too, so that a block does not grow with repeated changes. */
  #change(
    termPrefix: string,
    block: number,
    rids: readonly Rid[],
    isThere: readonly boolean[],
  ): void {
    this.#changedBlocks.push({ key: blockKey(termPrefix, block), removed: rids });
    rids.forEach((rid, at) => {
      if (isThere[at] !== true) this.#deletes.push(entryKey(termPrefix, rid));
    });
    this.#addAll(
      termPrefix,
      block,
      rids.filter((_, at) => isThere[at] === true),
    );
    this.rows += CHANGED_ROWS * rids.length;
  }
}

/**
 * Waits while the store refuses writes, as the commit after it does: a flush that failed would close the partition, whose
 * memory is all that can be read meanwhile.
 */
async function readPatiently<T>(
  store: Store,
  flush: Flush,
  read: () => MaybePromise<T>,
): Promise<T> {
  for (;;)
    try {
      return await read();
    } catch (error) {
      if (store.writeRefusal === undefined || flush.isAbandoned) throw error;
      await new Promise((resolve) => setTimeout(resolve, REFUSED_WAIT_MS));
    }
}

function entryKey(termPrefix: string, rid: Rid): Bytes {
  const end = termPrefix.length;
  const key = Buffer.allocUnsafe(end + RID_BYTES);
  key.write(termPrefix, 0, 'latin1');
  key.writeUInt32BE(Math.floor(rid / 2 ** 32), end);
  key.writeUInt32BE(rid >>> 0, end + 4);
  return key;
}
