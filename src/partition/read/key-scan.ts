/**
 * Pages of items in the order of their keys, forwards or backwards. Keys that are cut (item-keys.ts) are in order up to
 * the cut: a run of neighbours that share it is read whole, and its items are sorted by their row keys.
 */
import { type Bytes, compareBytes, keyAfter, prefixEnd } from '../../base/index.ts';
import type { Entry, ReadView } from '../../engine/index.ts';
import type { Item } from '../item/item.ts';
import type { ItemKeys, RowRange } from '../item/item-keys.ts';
import { PREFIX_ITEM } from '../item/keyspace.ts';
import { decodeRecord } from '../item/record.ts';

export interface KeyScan {
  readonly keys: ItemKeys;
  readonly range: RowRange;
  readonly isReversed: boolean;
  /** One item for each partition key: the first in the order of the scan. */
  readonly isDistinct: boolean;
  /** Whether shadows and headers are returned too. */
  readonly includesInternal?: boolean | undefined;
  readonly after: KeyPosition | undefined;
  readonly limit: number;
  readonly bytesMax: number;
}

/** Where a page ended, valid in every partition that has the keys later. */
export interface KeyPosition {
  readonly primary: Bytes;
  /** The beginning of the row key of an item in a run. */
  readonly row: Bytes | undefined;
}

export interface KeyScanPage {
  readonly items: readonly Item[];
  /** Undefined at the end of the range. */
  readonly next: KeyPosition | undefined;
}

interface ScannedView {
  readonly view: ReadView;
  readonly etagSalt: number;
  /** Undefined for an item that the scan must not return. */
  readonly visible: (item: Item) => Item | undefined;
}

/** Records read for one page at most, so that a page over many invisible items ends. */
const READ_MAX = 10_000;

/** Bytes of row keys that runs are sorted by and positions hold; row keys that differ later have the order of digests. */
const SORTED_ROW_BYTES = 8192;

/** Items of a run read at once, and those read to find the next partition key. */
const RUN_PAGE = { limit: 200, bytesMax: 4 * 1024 * 1024 };
const DISTINCT_ENTRIES = 8;

export function scanKeys(source: ScannedView, scan: KeyScan): Promise<KeyScanPage> {
  return new KeyScanner(source, scan).page();
}

/** An item of a run with its place in it. */
interface RunItem {
  readonly item: Item;
  readonly row: Bytes;
  readonly bytes: number;
}

class KeyScanner {
  readonly #source: ScannedView;
  readonly #scan: KeyScan;
  /** The keys that are left to read. */
  #start: Bytes;
  #end: Bytes | undefined;
  readonly #items: Item[] = [];
  #bytes = 0;
  #readCount = 0;
  #position: KeyPosition | undefined;
  /** The partition key of the last item. */
  #lastKey: Bytes | undefined;

  constructor(source: ScannedView, scan: KeyScan) {
    this.#source = source;
    this.#scan = scan;
    this.#start = scan.range.start;
    this.#end = scan.range.end;
  }

  async page(): Promise<KeyScanPage> {
    const { after, keys, limit, isDistinct } = this.#scan;
    if (after !== undefined) await this.#resume(after);
    while (!this.#isOver()) {
      const { entries, more } = await this.#read();
      let run: Bytes | undefined;
      for (const entry of entries) {
        run = this.#items.length < limit ? keys.runPrefixOf(entry.key) : undefined;
        if (run !== undefined || this.#items.length >= limit) break;
        this.#take(entry);
      }
      if (run !== undefined) await this.#takeRun(run, undefined);
      else if (this.#isBehind(entries.at(-1)) && !more) this.#end = this.#start;
      else if (isDistinct) this.#leaveKey();
    }
    return { items: this.#items, next: this.#isEmpty() ? undefined : this.#position };
  }

  /** A position comes from a client, who may have no right to read keys outside of the range. */
  async #resume(after: KeyPosition): Promise<void> {
    const { keys, isDistinct } = this.#scan;
    this.#position = after;
    if (isDistinct) {
      this.#lastKey = keys.logicalPrefixOf(after.primary);
      this.#leaveKey();
      return;
    }
    const run = after.row === undefined ? undefined : keys.runPrefixOf(after.primary);
    if (run === undefined || !this.#isLeft(run))
      this.#leave(after.primary, keyAfter(after.primary));
    else await this.#takeRun(run, after);
  }

  #isEmpty(): boolean {
    return this.#end !== undefined && compareBytes(this.#start, this.#end) >= 0;
  }

  /** Whether a key is left to read. */
  #isLeft(key: Bytes): boolean {
    if (compareBytes(key, this.#start) < 0) return false;
    return this.#end === undefined || compareBytes(key, this.#end) < 0;
  }

  /** Whether the last entry of a page was taken. */
  #isBehind(last: Entry | undefined): boolean {
    return last === undefined || !this.#isLeft(last.key);
  }

  #isOver(): boolean {
    const { limit, bytesMax } = this.#scan;
    return (
      this.#isEmpty() ||
      this.#items.length >= limit ||
      this.#bytes >= bytesMax ||
      (this.#readCount >= READ_MAX && this.#mayStop())
    );
  }

  /** A position names a partition key only where its item was returned. */
  #mayStop(): boolean {
    const { keys, isDistinct } = this.#scan;
    if (!isDistinct) return true;
    const [last, position] = [this.#lastKey, this.#position];
    if (last === undefined || position === undefined) return false;
    return compareBytes(last, keys.logicalPrefixOf(position.primary)) === 0;
  }

  async #read() {
    const { limit, bytesMax, isReversed, isDistinct } = this.#scan;
    const wanted = limit - this.#items.length;
    return this.#source.view.scan(
      { start: this.#start, end: this.#end },
      {
        limit: isDistinct ? DISTINCT_ENTRIES : wanted,
        bytesMax: bytesMax - this.#bytes,
        reverse: isReversed,
        dereference: PREFIX_ITEM,
      },
    );
  }

  /** Takes an item where it is wanted, and goes behind it. */
  #take({ key, value }: Entry): void {
    this.#readCount++;
    const item = this.#source.visible(decodeRecord(value, this.#source.etagSalt));
    this.#position = { primary: key, row: undefined };
    this.#leave(key, keyAfter(key));
    if (item !== undefined && this.#isNewKey(key)) this.#add(item, value.length);
  }

  /** True without `isDistinct`. */
  #isNewKey(primary: Bytes): boolean {
    const { keys, isDistinct } = this.#scan;
    if (!isDistinct) return true;
    const key = keys.logicalPrefixOf(primary);
    if (this.#lastKey !== undefined && compareBytes(key, this.#lastKey) === 0) return false;
    this.#lastKey = key;
    return true;
  }

  #add(item: Item, bytes: number): void {
    this.#items.push(item);
    this.#bytes += bytes;
  }

  /** Leaves the keys from `first` on to before `behind` in either direction. */
  #leave(first: Bytes, behind: Bytes | undefined): void {
    if (this.#scan.isReversed) {
      if (this.#end === undefined || compareBytes(first, this.#end) < 0) this.#end = first;
    } else if (behind !== undefined && compareBytes(behind, this.#start) > 0) this.#start = behind;
  }

  /** Leaves the partition key of the last item. */
  #leaveKey(): void {
    if (this.#lastKey !== undefined) this.#leave(this.#lastKey, prefixEnd(this.#lastKey));
  }

  async #takeRun(prefix: Bytes, after: KeyPosition | undefined): Promise<void> {
    const { limit, bytesMax, isDistinct } = this.#scan;
    const wanted = isDistinct ? 1 : limit - this.#items.length;
    const found = await this.#readRun(prefix, after, wanted + 1);
    for (const { item, row, bytes } of found) {
      if (this.#items.length >= limit || this.#bytes >= bytesMax) return;
      this.#position = { primary: item.primary, row };
      if (this.#isNewKey(item.primary)) this.#add(item, bytes);
      if (isDistinct) return this.#leaveKey();
    }
    this.#leave(prefix, prefixEnd(prefix));
  }

  /** The first items of a run in the order of the scan. */
  async #readRun(
    prefix: Bytes,
    after: KeyPosition | undefined,
    count: number,
  ): Promise<readonly RunItem[]> {
    const { view, etagSalt, visible } = this.#source;
    const { keys, range, isReversed } = this.#scan;
    const direction = isReversed ? -1 : 1;
    const compare = (a: RunItem, b: RunItem) => direction * comparePlaces(placeOf(a), placeOf(b));
    let first: RunItem[] = [];
    let start = prefix;
    const end = prefixEnd(prefix);
    for (;;) {
      const page = await view.scan({ start, end }, { ...RUN_PAGE, dereference: PREFIX_ITEM });
      this.#readCount += page.entries.length;
      for (const { value } of page.entries) {
        const item = visible(decodeRecord(value, etagSalt));
        if (item === undefined) continue;
        const whole = keys.rowOf(item);
        if (!isBetween(whole, range)) continue;
        const row = sortedPart(whole);
        const isBehind =
          after?.row === undefined ||
          direction * comparePlaces({ primary: item.primary, row }, after) > 0;
        if (isBehind) first.push({ item, row, bytes: value.length });
      }
      first = first.sort(compare).slice(0, count);
      const last = page.entries.at(-1);
      if (!page.more || last === undefined) return first;
      start = keyAfter(last.key);
    }
  }
}

/** Where a page would have ended that had this item as its last one. */
export function positionBehind(item: Item, keys: ItemKeys): KeyPosition {
  const { primary } = item;
  const isInRun = keys.runPrefixOf(primary) !== undefined;
  return { primary, row: isInRun ? sortedPart(keys.rowOf(item)) : undefined };
}

function sortedPart(row: Bytes): Bytes {
  return Uint8Array.prototype.slice.call(row, 0, SORTED_ROW_BYTES);
}

function placeOf({ item, row }: RunItem): KeyPosition {
  return { primary: item.primary, row };
}

function comparePlaces(a: KeyPosition, b: KeyPosition): number {
  if (a.row === undefined || b.row === undefined) return compareBytes(a.primary, b.primary);
  return compareBytes(a.row, b.row) || compareBytes(a.primary, b.primary);
}

function isBetween(row: Bytes, { lower, upper }: RowRange): boolean {
  if (lower !== undefined && compareBytes(row, lower) < 0) return false;
  return upper === undefined || compareBytes(row, upper) < 0;
}
