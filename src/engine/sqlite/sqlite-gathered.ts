/**
 * What the readers of a store know of the table `scattered`: its entries in order, in memory. They come from its rows and
 * from nowhere else: who reads a scattered key asks, in the same moment, for the id of the last row, and adds the rows that
 * are not here yet.
 */
import { type Bytes, compareBytes, newSortedMap, type SortedMap } from '../../base/index.ts';
import type { KeyRange } from '../engine.ts';
import { compareScattered } from '../scattered.ts';
import { turnOf, unpackRow } from './sqlite-gathered-row.ts';

type Entries = SortedMap<Bytes, Bytes | null>;

export class Gathered {
  /** Id of the last row that is here; 0 before the first. */
  last = 0;
  /** Of all rows that are not certainly in the tree. Null: deleted. */
  #entries: Entries = newEntries();
  /** Of those that were not frozen when others were; undefined where none are on their way to the tree. */
  #later: Entries | undefined;

  /** Rows come in the order of their ids, all that there are behind the last one. */
  add(id: number, row: Bytes): void {
    // Rows that are gone have been moved to the tree, and with them all that came before.
    if (id !== this.last + 1) this.#clear();
    this.last = id;
    switch (turnOf(row)) {
      case 'none':
        break;
      case 'frozen':
        this.#later = newEntries();
        break;
      case 'settled':
        this.#entries = this.#later ?? this.#entries;
        this.#later = undefined;
        break;
      case 'cleared':
        this.#clear();
        break;
    }
    unpackRow(row, (key, value) => {
      this.#entries.set(key, value);
      this.#later?.set(key, value);
    });
  }

  /** The value, null if the key is deleted, undefined if the tree knows. */
  find(key: Bytes): Bytes | null | undefined {
    return this.#entries.size === 0 ? undefined : this.#entries.get(key);
  }

  hasWithin(range: KeyRange): boolean {
    for (const _ of this.within(range, false)) return true;
    return false;
  }

  /** Key and value (null: deleted) in the order of the keys. */
  *within({ start, end }: KeyRange, reverse: boolean): Generator<[Bytes, Bytes | null]> {
    if (this.#entries.size === 0) return;
    if (!reverse) {
      for (const entry of this.#entries.entries(start)) {
        if (end !== undefined && compareBytes(entry[0], end) >= 0) return;
        yield entry;
      }
      return;
    }
    for (const entry of this.#entries.entriesReversed(end, undefined, true)) {
      if (compareBytes(entry[0], start) < 0) return;
      yield entry;
    }
  }

  /** As it is now, for reading. */
  clone(): Gathered {
    const clone = new Gathered();
    clone.last = this.last;
    clone.#entries = this.#entries.clone();
    return clone;
  }

  #clear(): void {
    this.#entries = newEntries();
    this.#later = undefined;
  }
}

function newEntries(): Entries {
  return newSortedMap<Bytes, Bytes | null>(compareScattered);
}
