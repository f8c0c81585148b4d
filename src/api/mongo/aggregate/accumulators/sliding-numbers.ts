/**
 * Sums, deviations and covariances of frames that move: a number that leaves is taken away again. Infinities and NaN are
 * counted beside the sum, which they would spoil for good.
 */
import { type Bson, Double, isArray } from '../../../../value/index.ts';
import {
  combineWidening,
  decimal,
  digitsOf,
  divide,
  doubleOf,
  integer,
  isDecimal,
  isNaNumber,
  isNumber,
  subtract,
} from '../../bson/arithmetic.ts';
import { integerOfDecimal, negateDecimal } from '../../bson/decimal.ts';
import { type Accumulator, NumberSum } from './numbers.ts';

/** An accumulator of a frame that moves: what was added first is removed first. */
export interface Sliding extends Accumulator {
  remove(value: Bson | undefined): void;
}

const LONG_LIMIT = 2 ** 63;

/** The kinds of numbers that no finite sum holds. */
type Special = 'nan' | 'positive' | 'negative';

function specialOf(value: Bson): Special | undefined {
  if (isNaNumber(value)) return 'nan';
  if (typeof value === 'number' || typeof value === 'bigint') return undefined;
  if (isDecimal(value)) {
    const digits = digitsOf(value);
    if (!digits.endsWith('y')) return undefined;
    return digits.startsWith('-') ? 'negative' : 'positive';
  }
  const double = doubleOf(value);
  if (Number.isFinite(double)) return undefined;
  return double > 0 ? 'positive' : 'negative';
}

function negated(value: Bson): Bson {
  if (typeof value === 'number') return value === -(2 ** 31) ? 2n ** 31n : 0 - value;
  if (typeof value === 'bigint') return -value;
  if (isDecimal(value)) return decimal(negateDecimal(digitsOf(value)));
  return new Double(-doubleOf(value));
}

/** A sum whose numbers can be taken away; the kind of the result is that of the numbers in the frame. */
export class RemovableSum {
  count = 0;
  #sum = new NumberSum();
  readonly #specials = { nan: 0, positive: 0, negative: 0 };
  #doubles = 0;
  #decimals = 0;

  add(value: Bson | undefined): void {
    this.#update(value, 1);
  }

  remove(value: Bson | undefined): void {
    this.#update(value, -1);
  }

  #update(value: Bson | undefined, by: 1 | -1): void {
    if (!isNumber(value)) return;
    const number = value as Bson;
    this.count += by;
    if (isDecimal(number)) this.#decimals += by;
    else if (number instanceof Double) this.#doubles += by;
    const special = specialOf(number);
    if (special !== undefined) this.#specials[special] += by;
    else this.#sum.add(by === 1 ? number : negated(number));
  }

  total(): Bson {
    const { nan, positive, negative } = this.#specials;
    if (nan > 0 || (positive > 0 && negative > 0)) return this.#special('NaN');
    if (positive > 0) return this.#special('Infinity');
    if (negative > 0) return this.#special('-Infinity');
    return this.#narrowed(this.#sum.total());
  }

  #special(digits: string): Bson {
    return this.#decimals > 0 ? decimal(digits) : new Double(Number(digits));
  }

  /** Kinds of numbers that have left the frame leave the result. */
  #narrowed(sum: Bson): Bson {
    if (typeof sum === 'bigint') return integer(sum);
    if (isDecimal(sum) && this.#decimals === 0) {
      const double = doubleOf(sum);
      if (this.#doubles > 0 || !Number.isInteger(double) || Math.abs(double) >= LONG_LIMIT)
        return new Double(double);
      return integer(integerOfDecimal(digitsOf(sum), 'zero') as bigint);
    }
    if (!(sum instanceof Double) || this.#doubles > 0 || Math.abs(sum.value) >= LONG_LIMIT)
      return sum;
    return integer(BigInt(Math.sign(sum.value) * Math.round(Math.abs(sum.value))));
  }

  average(): Bson {
    if (this.count === 0) return null;
    const sum = this.total();
    if (specialOf(sum) !== undefined) return sum;
    return isDecimal(sum) ? divide(sum, this.count) : new Double(doubleOf(sum) / this.count);
  }
}

export function slidingSum(): Sliding {
  const sum = new RemovableSum();
  return {
    add: (value) => sum.add(value),
    remove: (value) => sum.remove(value),
    result: () => sum.total(),
  };
}

export function slidingAverage(): Sliding {
  const sum = new RemovableSum();
  return {
    add: (value) => sum.add(value),
    remove: (value) => sum.remove(value),
    result: () => sum.average(),
  };
}

/** The sum of squared gaps, kept up by what each number changes. Frames with numbers that are not finite have none. */
class Deviation {
  readonly #isSample: boolean;
  #sum = new NumberSum();
  #squares = new NumberSum();
  #count = 0;
  #specials = 0;

  constructor(isSample: boolean) {
    this.#isSample = isSample;
  }

  update(value: Bson | undefined, by: 1 | -1): void {
    if (!isNumber(value)) return;
    const number = value as Bson;
    if (specialOf(number) !== undefined) {
      this.#specials += by;
      return;
    }
    if (this.#count === 0) {
      this.#count = 1;
      this.#sum.add(number);
      return;
    }
    if (this.#count + by === 0) {
      this.#reset();
      return;
    }
    const gap = this.#count * doubleOf(number) - doubleOf(this.#sum.total());
    this.#count += by;
    this.#sum.add(new Double(doubleOf(number) * by));
    this.#squares.add(new Double((gap * gap * by) / (this.#count * (this.#count - by))));
  }

  #reset(): void {
    this.#sum = new NumberSum();
    this.#squares = new NumberSum();
    this.#count = 0;
  }

  result(): Bson {
    const divisor = this.#isSample ? this.#count - 1 : this.#count;
    if (this.#specials > 0 || divisor <= 0) return null;
    const squares = doubleOf(this.#squares.total());
    if (squares < 0 || (!this.#isSample && this.#count === 1)) {
      this.#squares = new NumberSum();
      return 0;
    }
    return new Double(Math.sqrt(squares / divisor));
  }
}

export function slidingDeviation(isSample: boolean): Sliding {
  const deviation = new Deviation(isSample);
  return {
    add: (value) => deviation.update(value, 1),
    remove: (value) => deviation.update(value, -1),
    result: () => deviation.result(),
  };
}

/** Welford's method for pairs: means, and the sum of products of gaps. */
class Covariance {
  readonly #isSample: boolean;
  #x = new RemovableSum();
  #y = new RemovableSum();
  #products = new RemovableSum();
  #count = 0;

  constructor(isSample: boolean) {
    this.#isSample = isSample;
  }

  add(value: Bson | undefined): void {
    const pair = pairOf(value);
    if (pair === undefined) return;
    const special = specialPair(pair);
    if (special !== undefined) {
      this.#products.add(special);
      return;
    }
    const [x, y] = pair;
    const gap = this.#count === 0 ? undefined : subtract(x, this.#x.average());
    this.#count += 1;
    this.#x.add(x);
    this.#y.add(y);
    if (gap !== undefined)
      this.#products.add(combineWidening('multiply', gap, subtract(y, this.#y.average())));
  }

  remove(value: Bson | undefined): void {
    const pair = pairOf(value);
    if (pair === undefined) return;
    const special = specialPair(pair);
    if (special !== undefined) {
      this.#products.remove(special);
      return;
    }
    this.#count -= 1;
    if (this.#count === 0) {
      this.#reset();
      return;
    }
    const [x, y] = pair;
    this.#x.remove(x);
    const gapX = subtract(x, this.#x.average());
    const gapY = subtract(y, this.#y.average());
    this.#products.remove(combineWidening('multiply', gapX, gapY));
    this.#y.remove(y);
  }

  #reset(): void {
    this.#x = new RemovableSum();
    this.#y = new RemovableSum();
    this.#products = new RemovableSum();
  }

  result(): Bson {
    if (this.#count === 1 && !this.#isSample) return new Double(0);
    const divisor = this.#isSample ? this.#count - 1 : this.#count;
    if (divisor <= 0) return null;
    const products = this.#products.total();
    if (isDecimal(products)) return divide(products, new Double(divisor));
    return new Double(doubleOf(products) / divisor);
  }
}

/** A pair with anything but two numbers is skipped. */
function pairOf(value: Bson | undefined): readonly [Bson, Bson] | undefined {
  if (!isArray(value) || value.length !== 2 || !value.every(isNumber)) return undefined;
  return value as readonly [Bson, Bson];
}

/** The one value that a pair with infinities or NaN counts as. */
function specialPair(pair: readonly [Bson, Bson]): Bson | undefined {
  const specials = pair.map(specialOf);
  if (specials.every((special) => special === undefined)) return undefined;
  const isMixed = specials.includes('positive') && specials.includes('negative');
  const digits =
    specials.includes('nan') || isMixed
      ? 'NaN'
      : specials.includes('positive')
        ? 'Infinity'
        : '-Infinity';
  const isWide = pair.some((value) => isDecimal(value) && !isNaNumber(value));
  return isWide ? decimal(digits) : new Double(Number(digits));
}

export function slidingCovariance(isSample: boolean): Sliding {
  const covariance = new Covariance(isSample);
  return {
    add: (value) => covariance.add(value),
    remove: (value) => covariance.remove(value),
    result: () => covariance.result(),
  };
}
