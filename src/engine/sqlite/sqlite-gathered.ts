/**
 * What the readers of a store know of the table `scattered`: its entries in order, in memory. They come from its rows and
 * from nowhere else: who reads a scattered key asks, in the same moment, for the id of the last row, and adds the rows that
 * are not here yet.
 */
import { type Bytes, compareBytes, newSortedMap, type SortedMap } from '../../base/index.ts';
import type { KeyRange } from '../engine.ts';
import { compareScattered } from '../scattered.ts';
import { hashAt, hashOf, turnOf, unpackRow, visitEntries } from './sqlite-gathered-row.ts';

type Entries = SortedMap<Bytes, Bytes | null>;

export class Gathered {
  /** Id of the last row that is here; 0 before the first. */
  last = 0;
  /** Rows that came last, as they are: nobody has asked for a key that may be in them. */
  #unread: Bytes[] = [];
  /** Of the keys in them. Most who ask while others create ask for what is not there. */
  readonly #hashes = new Set<number>();
  /** Of all other rows that are not certainly in the tree. Null: deleted. */
  #entries: Entries = newEntries();
  /** Of those that were not frozen when others were; undefined where none are on their way to the tree. */
  #later: Entries | undefined;

  /** Rows come in the order of their ids, all that there are behind the last one. */
  add(id: number, row: Bytes): void {
    const turn = turnOf(row);
    // Rows that are gone have been moved to the tree, and with them all that came before.
    if (id !== this.last + 1 || turn === 'cleared') this.#clear();
    if (turn === 'settled') this.#forgetFrozen();
    this.last = id;
    this.#unread.push(row);
    this.#noteHashes(row);
  }

  /** The value, null if the key is deleted, undefined if the tree knows. */
  find(key: Bytes): Bytes | null | undefined {
    if (this.#unread.length > 0 && this.#hashes.has(hashOf(key))) this.#read();
    return this.#entries.size === 0 ? undefined : this.#entries.get(key);
  }

  hasWithin(range: KeyRange): boolean {
    for (const _ of this.within(range, false)) return true;
    return false;
  }

  /** Key and value (null: deleted) in the order of the keys. */
  *within({ start, end }: KeyRange, reverse: boolean): Generator<[Bytes, Bytes | null]> {
    this.#read();
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
    this.#read();
    const clone = new Gathered();
    clone.last = this.last;
    clone.#entries = this.#entries.clone();
    return clone;
  }

  #read(): void {
    if (this.#unread.length === 0) return;
    for (const row of this.#unread) this.#readRow(row);
    this.#setUnread([]);
  }

  #readRow(row: Bytes): void {
    switch (turnOf(row)) {
      case 'none':
      case 'cleared': // Nothing is here from before.
        break;
      case 'frozen':
        this.#later = newEntries();
        break;
      case 'settled':
        this.#entries = this.#later ?? this.#entries;
        this.#later = undefined;
        break;
    }
    unpackRow(row, (key, value) => {
      this.#entries.set(key, value);
      this.#later?.set(key, value);
    });
  }

  /** What was frozen is in the tree. Where nobody has read the row that said so, nothing from before it is needed. */
  #forgetFrozen(): void {
    const frozenAt = this.#unread.findLastIndex((row) => turnOf(row) === 'frozen');
    if (frozenAt < 0) return;
    const unread = this.#unread.slice(frozenAt);
    this.#clear();
    this.#setUnread(unread);
  }

  #setUnread(rows: Bytes[]): void {
    this.#unread = rows;
    this.#hashes.clear();
    for (const row of rows) this.#noteHashes(row);
  }

  #noteHashes(row: Bytes): void {
    visitEntries(row, (at) => this.#hashes.add(hashAt(row, at)));
  }

  #clear(): void {
    this.#setUnread([]);
    this.#entries = newEntries();
    this.#later = undefined;
  }
}

function newEntries(): Entries {
  return newSortedMap<Bytes, Bytes | null>(compareScattered);
}
