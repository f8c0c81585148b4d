/**
 * Which items expire next. It knows all that expire before its horizon; beyond it only a walk over all items does. So
 * memory is bounded, nothing is stored, and a walk is needed once per some ten thousand expirations.
 */
import { append, EXPIRY_CALENDAR_ITEMS } from '../../base/index.ts';
import type { Rid } from '../item/item.ts';

export class ExpiryCalendar {
  readonly #itemsMax: number;
  /** Rids by the second they expire at. May name items that were rewritten since, or twice. */
  readonly #seconds = new Map<number, Rid[]>();
  #count = 0;
  /** Nothing is known of this second and later ones. */
  #horizonSec = 0;

  constructor(itemsMax = EXPIRY_CALENDAR_ITEMS) {
    this.#itemsMax = itemsMax;
  }

  /** True where items may be due that only a walk finds. */
  needsWalk(nowSec: number): boolean {
    return this.#horizonSec <= nowSec;
  }

  /** What is noted from here on, by the walk and by writers beside it, is all there is. */
  beginWalk(): void {
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
    if (this.#count > this.#itemsMax) this.#forgetLater();
  }

  /** Takes out up to `limit` items that are due. */
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

  /** Keeps the nearer half; what expires in one second stays together. */
  #forgetLater(): void {
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
