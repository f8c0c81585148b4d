/** Sums, averages and deviations of numbers of four kinds; other values are skipped. */
import { type Bson, Double } from '../../../../value/index.ts';
import { decimal, digitsOf, doubleOf, isDecimal, isNumber } from '../../bson/arithmetic.ts';
import { addDecimals, divideDecimals } from '../../bson/decimal.ts';
import { DoubleDouble } from '../../bson/double-double.ts';

export interface Accumulator {
  /** Undefined is a missing value. */
  add(value: Bson | undefined): void;
  /** Undefined leaves the field out. */
  result(): Bson | undefined;
}

/** Integers that a double adds exactly. */
const EXACT_MAX = 2 ** 52;

/** A sum that is exact for integers and has twice the digits of a double for doubles; decimals are added on their own. */
export class NumberSum {
  count = 0;
  /** Int32s that are not in the sum yet. */
  #small = 0;
  readonly #sum = new DoubleDouble();
  #decimal: string | undefined;
  #hasLong = false;
  #hasDouble = false;

  add(value: Bson | undefined): void {
    if (typeof value === 'number') {
      this.#small += value;
      if (this.#small > EXACT_MAX || this.#small < -EXACT_MAX) this.#carry();
    } else if (value instanceof Double) {
      this.#hasDouble = true;
      this.#sum.add(value.value);
    } else if (typeof value === 'bigint') {
      this.#hasLong = true;
      this.#sum.addLong(value);
    } else if (isDecimal(value)) {
      this.#decimal = addDecimals(this.#decimal ?? '0', digitsOf(value as Bson));
    } else return;
    this.count += 1;
  }

  #carry(): void {
    if (this.#small !== 0) this.#sum.add(this.#small);
    this.#small = 0;
  }

  total(): Bson {
    this.#carry();
    if (this.#decimal !== undefined) return decimal(addDecimals(this.#decimal, this.#sum.decimal));
    const exact = this.#hasDouble ? undefined : this.#sum.long;
    if (exact === undefined) return new Double(this.#sum.double);
    const isNarrow = !this.#hasLong && exact >= -(2n ** 31n) && exact < 2n ** 31n;
    return isNarrow ? Number(exact) : exact;
  }

  /** @param isExact - integers are divided as they are, and not as the nearest double of their sum */
  average(isExact: boolean): Bson {
    if (this.count === 0) return null;
    this.#carry();
    if (this.#decimal !== undefined)
      return decimal(
        divideDecimals(addDecimals(this.#decimal, this.#sum.decimal), String(this.count)),
      );
    const exact = isExact && !this.#hasDouble ? this.#sum.long : undefined;
    return new Double((exact === undefined ? this.#sum.double : Number(exact)) / this.count);
  }
}

export function newSum(): Accumulator {
  const sum = new NumberSum();
  return { add: (value) => sum.add(value), result: () => sum.total() };
}

/** @param isExact - as in groups; the expression divides the nearest double of the sum */
export function newAverage(isExact: boolean): Accumulator {
  const sum = new NumberSum();
  return { add: (value) => sum.add(value), result: () => sum.average(isExact) };
}

/**
 * Welford's method: one pass, without the difference of two large sums.
 *
 * @param keepsNaN - false answers null for numbers that are not finite
 */
export function newDeviation(isSample: boolean, keepsNaN = false): Accumulator {
  let count = 0;
  let mean = 0;
  let squares = 0;
  return {
    add(value) {
      if (!isNumber(value)) return;
      const number = doubleOf(value as Bson);
      count += 1;
      const gap = number - mean;
      if (gap === 0) return;
      mean += gap / count;
      squares += gap * (number - mean);
    },
    result() {
      const divisor = isSample ? count - 1 : count;
      if (divisor <= 0) return null;
      const deviation = Math.sqrt(squares / divisor);
      return keepsNaN || Number.isFinite(deviation) ? new Double(deviation) : null;
    },
  };
}
