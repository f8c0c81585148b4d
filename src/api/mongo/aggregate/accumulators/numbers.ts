/** Sums, averages and deviations of numbers of four kinds; other values are skipped. */
import { type Bson, Double } from '../../../../value/index.ts';
import {
  combine,
  decimal,
  digitsOf,
  doubleOf,
  fitsInt64,
  isDecimal,
  isNumber,
} from '../../bson/arithmetic.ts';
import { addDecimals, divideDecimals, exactDecimalOfDouble } from '../../bson/decimal.ts';

export interface Accumulator {
  /** Undefined is a missing value. */
  add(value: Bson | undefined): void;
  /** Undefined leaves the field out. */
  result(): Bson | undefined;
}

/** Integers that a double adds exactly. */
const EXACT_MAX = 2 ** 52;

/**
 * A sum that is exact for integers and has twice the digits of a double for doubles, so that the order of documents
 * does not matter.
 */
class NumberSum {
  count = 0;
  #small = 0;
  #large = 0n;
  /** The int64s as doubles, which is what an average adds. */
  #longs = 0;
  #double = 0;
  #error = 0;
  #special = 0;
  #decimal: string | undefined;
  #hasLong = false;
  #hasDouble = false;

  add(value: Bson | undefined): void {
    if (typeof value === 'number') {
      this.#small += value;
      if (this.#small > EXACT_MAX || this.#small < -EXACT_MAX) this.#carry();
    } else if (value instanceof Double) {
      this.#hasDouble = true;
      this.#addDouble(value.value);
    } else if (typeof value === 'bigint') {
      this.#hasLong = true;
      this.#large += value;
      this.#longs += Number(value);
    } else if (isDecimal(value)) {
      const digits = digitsOf(value as Bson);
      this.#decimal = this.#decimal === undefined ? digits : addDecimals(this.#decimal, digits);
    } else return;
    this.count += 1;
  }

  #carry(): void {
    this.#large += BigInt(this.#small);
    this.#small = 0;
  }

  /** The rest that each addition loses is kept beside the sum. */
  #addDouble(value: number): void {
    if (!Number.isFinite(value)) {
      this.#special += value;
      return;
    }
    const sum = this.#double + value;
    if (!Number.isFinite(sum)) {
      this.#special += sum;
      return;
    }
    const other = sum - this.#double;
    this.#error += this.#double - (sum - other) + (value - other);
    this.#double = sum;
  }

  #integers(): bigint {
    return this.#large + BigInt(this.#small);
  }

  #doubles(): number {
    if (this.#special !== 0) return this.#special;
    const integers = this.#integers();
    const own = this.#double + this.#error;
    if (integers === 0n) return own;
    const whole = Number(integers);
    const rest = Number(integers - BigInt(whole));
    return own + whole + rest;
  }

  get isDecimal(): boolean {
    return this.#decimal !== undefined;
  }

  total(): Bson {
    if (this.#decimal !== undefined) return decimal(this.#decimals());
    if (this.#hasDouble) return new Double(this.#doubles());
    const exact = this.#integers();
    if (!fitsInt64(exact)) return new Double(Number(exact));
    const isNarrow = !this.#hasLong && exact >= -(2n ** 31n) && exact < 2n ** 31n;
    return isNarrow ? Number(exact) : exact;
  }

  #decimals(): string {
    let sum = this.#decimal as string;
    const integers = this.#integers();
    sum = addDecimals(sum, integers.toString());
    if (this.#hasDouble && Number.isNaN(this.#special)) return 'NaN';
    if (this.#hasDouble)
      sum = addDecimals(sum, exactDecimalOfDouble(this.#special || this.#double + this.#error));
    return sum;
  }

  average(): Bson {
    if (this.count === 0) return null;
    if (this.#decimal !== undefined)
      return decimal(divideDecimals(this.#decimals(), String(this.count)));
    if (!this.#hasLong) return new Double(this.#doubles() / this.count);
    const own = this.#special !== 0 ? this.#special : this.#double + this.#error;
    return new Double((own + this.#small + this.#longs) / this.count);
  }
}

export function newSum(): Accumulator {
  const sum = new NumberSum();
  return { add: (value) => sum.add(value), result: () => sum.total() };
}

export function newAverage(): Accumulator {
  const sum = new NumberSum();
  return { add: (value) => sum.add(value), result: () => sum.average() };
}

/** Welford's method: one pass, without the difference of two large sums. */
export function newDeviation(isSample: boolean): Accumulator {
  let count = 0;
  let mean = 0;
  let squares = 0;
  return {
    add(value) {
      if (!isNumber(value)) return;
      const number = doubleOf(value as Bson);
      count += 1;
      const gap = number - mean;
      mean += gap / count;
      squares += gap * (number - mean);
    },
    result() {
      const divisor = isSample ? count - 1 : count;
      if (divisor <= 0) return null;
      const deviation = Math.sqrt(squares / divisor);
      return Number.isFinite(deviation) ? new Double(deviation) : null;
    },
  };
}

/** Pairs of numbers; a pair with anything else is skipped. */
export function newCovariance(isSample: boolean): Accumulator {
  const sums = { x: 0 as Bson, y: 0 as Bson, products: 0 as Bson };
  let count = 0;
  return {
    add(value) {
      const [x, y] = Array.isArray(value) ? (value as readonly Bson[]) : [];
      if (!isNumber(x) || !isNumber(y)) return;
      count += 1;
      sums.x = plus(sums.x, x as Bson);
      sums.y = plus(sums.y, y as Bson);
      sums.products = plus(sums.products, times(x as Bson, y as Bson));
    },
    result() {
      const divisor = isSample ? count - 1 : count;
      if (divisor <= 0) return null;
      if (isDecimal(sums.products)) {
        const cross = divideDecimals(digitsOf(times(sums.x, sums.y)), String(count));
        const gap = plus(sums.products, times(decimal(cross), -1));
        return decimal(divideDecimals(digitsOf(gap), String(divisor)));
      }
      const cross = (doubleOf(sums.x) * doubleOf(sums.y)) / count;
      return new Double((doubleOf(sums.products) - cross) / divisor);
    },
  };
}

function plus(a: Bson, b: Bson): Bson {
  return combine('add', a, b) ?? new Double(doubleOf(a) + doubleOf(b));
}

function times(a: Bson, b: Bson): Bson {
  return combine('multiply', a, b) ?? new Double(doubleOf(a) * doubleOf(b));
}
