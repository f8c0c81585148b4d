/**
 * The items that expire next. The calendar has all that expire before its horizon; later ones are found by a scan of
 * all items. So memory is bounded, nothing is stored, and a scan is needed once per some ten thousand expirations.
 */
import { append, EXPIRY_CALENDAR_ITEMS } from '../../base/index.ts';
import type { Rid } from '../item/item.ts';

export class ExpiryCalendar {
  readonly #itemsMax: number;
  /** Rids by the second of their expiry. An item may be named twice, or may have been written again since. */
  readonly #seconds = new Map<number, Rid[]>();
  #count = 0;
  /** The calendar is incomplete from this second on. */
  #horizonSec = 0;

  constructor(itemsMax = EXPIRY_CALENDAR_ITEMS) {
    this.#itemsMax = itemsMax;
  }

  /** True where items may have expired that only a scan finds. */
  needsScan(nowSec: number): boolean {
    return this.#horizonSec <= nowSec;
  }

  /** Clears the calendar: the scan that begins, and writers meanwhile, note all items. */
  beginScan(): void {
    this.#seconds.clear();
    this.#count = 0;
    this.#horizonSec = Number.POSITIVE_INFINITY;
  }

  note(rid: Rid, expiresAtSec: number): void {
    if (expiresAtSec >= this.#horizonSec || expiresAtSec === Number.POSITIVE_INFINITY) return;
    const rids = this.#seconds.get(expiresAtSec);
    if (rids === undefined) this.#seconds.set(expiresAtSec, [rid]);
    else rids.push(rid);
    this.#count++;
    if (this.#count > this.#itemsMax) this.#dropLater();
  }

  /** Removes and returns up to `limit` items that have expired. */
  takeDue(nowSec: number, limit: number): readonly Rid[] {
    const due: Rid[] = [];
    for (const [second, rids] of this.#seconds) {
      if (second > nowSec) continue;
      append(due, rids.splice(0, limit - due.length));
      if (rids.length === 0) this.#seconds.delete(second);
      if (due.length === limit) break;
    }
    this.#count -= due.length;
    return due;
  }

  /** Keeps the earlier half; items of one second are kept or dropped together. */
  #dropLater(): void {
    const seconds = [...this.#seconds.keys()].sort((a, b) => a - b);
    let kept = 0;
    for (const second of seconds) {
      const count = this.#seconds.get(second)?.length ?? 0;
      if (kept < this.#itemsMax / 2 || kept === 0) {
        kept += count;
        continue;
      }
      if (this.#horizonSec > second) this.#horizonSec = second;
      this.#seconds.delete(second);
    }
    this.#count = kept;
  }
}
