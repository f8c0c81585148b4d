/**
 * A sum of doubles in two doubles: the nearest one, and the rest that it leaves. Sums of integers are exact up to 106
 * bits. Clients see the last digit, so the steps are those of MongoDB: 2Sum for the sum, Fast2Sum for the rest.
 */
import { addDecimals, exactDecimalOfDouble } from './decimal.ts';

/** A long is added in two halves that are exact as doubles. */
const HALF = 2n ** 32n;
const INT64_LIMIT = 2 ** 63;

export class DoubleDouble {
  #sum = 0;
  #rest = 0;
  /** What a plain sum would be, for infinities that cancel out to NaN above. */
  #plain = 0;

  add(value: number): void {
    this.#plain += value;
    const small = value + this.#rest;
    this.#rest = this.#rest - (small - value);
    const sum = this.#sum + small;
    const before = sum - small;
    const lost = this.#sum - before + (small - (sum - before));
    this.#sum = sum;
    this.#rest += lost;
  }

  addLong(value: bigint): void {
    const high = (value / HALF) * HALF;
    this.add(Number(value - high));
    this.add(Number(high));
  }

  get double(): number {
    return Number.isNaN(this.#sum) ? this.#plain : this.#sum;
  }

  /** The sum of integers; undefined beyond the range of an int64. */
  get long(): bigint | undefined {
    if (!(Math.abs(this.#sum) <= INT64_LIMIT)) return undefined;
    const exact = BigInt(this.#sum) + BigInt(Math.round(this.#rest));
    return exact >= -(2n ** 63n) && exact < 2n ** 63n ? exact : undefined;
  }

  get decimal(): string {
    if (!Number.isFinite(this.#sum)) return exactDecimalOfDouble(this.#plain);
    return addDecimals(exactDecimalOfDouble(this.#sum), exactDecimalOfDouble(this.#rest));
  }
}
