/**
 * A post-paid token bucket in injected time. A request may start while the balance is positive; its cost is taken
 * afterwards and may overdraw the bucket.
 *
 * The balance is kept as a time, `emptyAtMs`: when everything charged so far will have been earned. Admission is then
 * one comparison, and the time to wait is an exact difference of two numbers: a request that waits as long is
 * admitted.
 *
 *    balance = (now − emptyAt) · rate, never more than BUCKET_MS of it
 *
 * Times are whole milliseconds of the caller's clock. Internally they count from an origin of the bucket's own,
 * because today's date as a double is too coarse for the small charges of high rates.
 *
 * Two reserves take what overflows a full bucket and pay debts at once: the burst reserve (unused rate of the last
 * `burstSec`) and the minute reserve (a fixed amount per minute). A ceiling per second bounds the total.
 */
import { assert } from '../base/index.ts';
import { REACH_MAX_MS, RetrySchedule } from './retry-schedule.ts';

/**
 * Capacity of a full bucket. It is a little less than a second, so that ten seconds of overload on a full bucket get
 * at most 1.1 of what is provisioned, the last overdraft included.
 */
export const BUCKET_MS = 900;

/** Partitions below this rate may burst, and burst up to it in total (documented). */
export const BURST_CEILING = 3000;

/**
 * The minute reserve of the first generation of the service: the rate times this per minute, and at most as much per
 * second.
 */
const MINUTE_FACTOR = 10;

const MINUTE_MS = 60_000;

/** Weight of the newest charge in the moving average; the first charges weigh more. */
const AVERAGE_WEIGHT = 1 / 64;

export interface BucketRates {
  /** RU/s. */
  readonly rate: number;
  /** Seconds of unused rate that are kept for bursts; 0 for none. */
  readonly burstSec: number;
  /** Adds the minute reserve. */
  readonly hasMinuteReserve: boolean;
}

export class TokenBucket {
  /** The start of a minute, so that seconds and minutes are those of the clock. */
  readonly #originMs: number;
  #rate = 0;
  #msPerUnit = 0;
  #emptyAtMs: number;
  #burst = 0;
  #burstMax = 0;
  #minuteShare = 0;
  #minuteLeft = 0;
  #minuteEndMs = Number.NEGATIVE_INFINITY;
  /** RU in one second of the clock, all reserves included. */
  #ceiling = Number.POSITIVE_INFINITY;
  #secondEndMs = Number.NEGATIVE_INFINITY;
  #usedInSecond = 0;
  #averageCharge = 0;
  #averageWeight = 1;
  readonly #retries = new RetrySchedule();
  #lastMs: number;

  /** A new bucket is full, with an empty burst reserve. */
  constructor(rates: BucketRates, nowMs: number) {
    this.#originMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
    this.#lastMs = nowMs - this.#originMs;
    this.#emptyAtMs = this.#lastMs - BUCKET_MS;
    this.#apply(rates);
  }

  get rate(): number {
    return this.#rate;
  }

  /** RU that can be spent now without the reserves; negative while in debt. */
  balance(nowMs: number): number {
    return this.#balanceMs(nowMs - this.#originMs) / this.#msPerUnit;
  }

  /** RU in the reserves. */
  reserve(nowMs: number): number {
    const now = nowMs - this.#originMs;
    this.#earn(now);
    return this.#burst + this.#minuteReserve(now);
  }

  /** Changes the rates from now on. Balance, debts and savings stay as they are, in RU. */
  change(rates: BucketRates, nowMs: number): void {
    const now = nowMs - this.#originMs;
    this.#earn(now);
    const balance = this.#balanceMs(now) / this.#msPerUnit;
    this.#apply(rates);
    this.#emptyAtMs = now - Math.min(BUCKET_MS, balance * this.#msPerUnit);
    this.#burst = Math.min(this.#burst, this.#burstMax);
    this.#minuteLeft = Math.min(this.#minuteLeft, this.#minuteShare);
    this.#retries.clear();
  }

  /** Whether a request may start. */
  admits(nowMs: number): boolean {
    const now = nowMs - this.#originMs;
    if (now <= this.#emptyAtMs && this.#burst <= 0 && this.#minuteReserve(now) <= 0) return false;
    return this.#usedInSecond < this.#ceiling || now >= this.#secondEndMs;
  }

  /** Whether a request may start that must leave this share of the bucket to others. */
  admitsAbove(share: number, nowMs: number): boolean {
    if (!this.admits(nowMs)) return false;
    const keptMs = share * BUCKET_MS;
    const balanceMs = this.#balanceMs(nowMs - this.#originMs);
    return balanceMs > keptMs || this.#burst > keptMs / this.#msPerUnit;
  }

  /**
   * For a request that was just refused: after how many milliseconds it will be admitted if no other request comes
   * first; 2,000 at most.
   */
  retryAfterMs(nowMs: number): number {
    const now = nowMs - this.#originMs;
    this.#followClock(now);
    const widthMs = this.#averageCharge * this.#msPerUnit;
    const retryAtMs = this.#retries.next(this.#freeAtMs(now), widthMs, now);
    return waitMs(retryAtMs - now);
  }

  /** The same for a request that was refused because it must leave this share to others. */
  retryAboveMs(share: number, nowMs: number): number {
    const now = nowMs - this.#originMs;
    this.#followClock(now);
    const freeAtMs = Math.max(this.#freeAtMs(now), this.#emptyAtMs + share * BUCKET_MS);
    return waitMs(freeAtMs - now);
  }

  charge(requestUnits: number, nowMs: number): void {
    this.#averageCharge += (requestUnits - this.#averageCharge) * this.#averageWeight;
    // The weights are 1, 1/2, 1/3 and so on, so that the average of a few charges is exact.
    if (this.#averageWeight > AVERAGE_WEIGHT) this.#averageWeight /= 1 + this.#averageWeight;
    this.correct(requestUnits, nowMs);
  }

  /** Takes the difference between an earlier charge and the true one; a negative difference is given back. */
  correct(requestUnits: number, nowMs: number): void {
    const now = nowMs - this.#originMs;
    if (now < this.#lastMs) this.#followClock(now);
    if (now - this.#emptyAtMs > BUCKET_MS) this.#earn(now);
    this.#emptyAtMs += requestUnits * this.#msPerUnit;
    this.#lastMs = now;
    if (this.#ceiling === Number.POSITIVE_INFINITY) return;
    if (now >= this.#secondEndMs) this.#startSecond(now);
    this.#usedInSecond += requestUnits;
    if (this.#emptyAtMs > now) this.#payFromReserves(now);
  }

  #apply({ rate, burstSec, hasMinuteReserve }: BucketRates): void {
    // The target of a move has no rate until the move commits.
    assert(rate >= 0 && rate < Number.POSITIVE_INFINITY, 'bucket: the rate is finite');
    const canBurst = burstSec > 0 && rate < BURST_CEILING;
    this.#rate = rate;
    this.#msPerUnit = 1000 / rate;
    this.#burstMax = canBurst ? burstSec * rate : 0;
    this.#minuteShare = hasMinuteReserve ? MINUTE_FACTOR * rate : 0;
    const ceiling = Math.max(canBurst ? BURST_CEILING : 0, this.#minuteShare);
    this.#ceiling = ceiling === 0 ? Number.POSITIVE_INFINITY : ceiling;
  }

  #balanceMs(now: number): number {
    return Math.min(BUCKET_MS, now - this.#emptyAtMs);
  }

  /** Moves the overflow of the bucket to the burst reserve. */
  #earn(now: number): void {
    const overflowMs = now - BUCKET_MS - this.#emptyAtMs;
    if (overflowMs <= 0) return;
    this.#emptyAtMs += overflowMs;
    if (this.#burstMax > 0)
      this.#burst = Math.min(this.#burstMax, this.#burst + overflowMs / this.#msPerUnit);
  }

  #startSecond(now: number): void {
    this.#usedInSecond = 0;
    this.#secondEndMs = (Math.floor(now / 1000) + 1) * 1000;
  }

  #minuteReserve(now: number): number {
    if (this.#minuteShare > 0 && now >= this.#minuteEndMs) {
      this.#minuteLeft = this.#minuteShare;
      this.#minuteEndMs = (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS;
    }
    return this.#minuteShare > 0 ? this.#minuteLeft : 0;
  }

  #payFromReserves(now: number): void {
    let debt = (this.#emptyAtMs - now) / this.#msPerUnit;
    const fromBurst = Math.min(debt, this.#burst);
    this.#burst -= fromBurst;
    debt -= fromBurst;
    const fromMinute = Math.min(debt, this.#minuteReserve(now));
    this.#minuteLeft -= fromMinute;
    this.#emptyAtMs = now + (debt - fromMinute) * this.#msPerUnit;
  }

  /** The time after which requests are admitted. */
  #freeAtMs(now: number): number {
    // The ceiling holds for a whole second: nothing is admitted before it ends, whatever the reserves have.
    const isAtCeiling = this.#usedInSecond >= this.#ceiling && now < this.#secondEndMs;
    const earliestMs = isAtCeiling ? this.#secondEndMs - 1 : now;
    const paidMs =
      this.#minuteShare > 0 ? Math.min(this.#emptyAtMs, this.#minuteEndMs - 1) : this.#emptyAtMs;
    return this.#burst > 0 ? earliestMs : Math.max(earliestMs, paidMs);
  }

  /**
   * Moves the debt together with a clock that was set back. Otherwise the bucket would be in debt until the clock
   * catches up.
   */
  #followClock(now: number): void {
    if (now >= this.#lastMs) return;
    const stepMs = now - this.#lastMs;
    this.#lastMs = now;
    this.#emptyAtMs += stepMs;
    this.#secondEndMs += stepMs;
    this.#minuteEndMs += stepMs;
    this.#retries.clear();
  }
}

/** Whole milliseconds, within the reach of the retry schedule. A client with a larger debt is refused again. */
function waitMs(untilMs: number): number {
  return Math.min(REACH_MAX_MS, Math.floor(untilMs) + 1);
}
