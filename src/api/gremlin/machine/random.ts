/**
 * Chance for coin(), sample() and shuffled orders. With a seed every step has a generator of its own, by the linear
 * congruence that the Java library documents: seeds give the results that the language's own suite expects.
 */

export interface Chance {
  /** From 0 to below 1. */
  fraction(): number;
  /** A whole number from 0 to below the bound. */
  below(bound: number): number;
}

const SYSTEM_CHANCE: Chance = {
  fraction: Math.random,
  below: (bound) => Math.floor(Math.random() * bound),
};

/** The state has 48 bits, in two halves whose products are exact. */
const HALF = 2 ** 24;
const MULTIPLIER = { high: 0x5de, low: 0xece66d };
const SCRAMBLE = 0x5deece66dn;
const INCREMENT = 11;

export class SeededChance implements Chance {
  #high: number;
  #low: number;

  constructor(seed: number) {
    const state = BigInt.asUintN(48, BigInt(Math.trunc(seed)) ^ SCRAMBLE);
    this.#high = Number(state >> 24n);
    this.#low = Number(state & 0xffffffn);
  }

  /** So many of the highest bits of the next state, 31 at most. */
  #next(bits: number): number {
    const product = this.#low * MULTIPLIER.low + INCREMENT;
    const carry = Math.floor(product / HALF);
    const high = this.#high * MULTIPLIER.low + this.#low * MULTIPLIER.high + carry;
    this.#low = product % HALF;
    this.#high = high % HALF;
    return Math.floor((this.#high * HALF + this.#low) / 2 ** (48 - bits));
  }

  fraction(): number {
    const upper = this.#next(26) * 2 ** 27;
    return (upper + this.#next(27)) / 2 ** 53;
  }

  below(bound: number): number {
    const isPowerOfTwo = Number.isInteger(Math.log2(bound));
    if (isPowerOfTwo) return Math.floor((bound * this.#next(31)) / 2 ** 31);
    for (;;) {
      const drawn = this.#next(31);
      const value = drawn % bound;
      // The last numbers do not make a whole range: they would favour small values.
      if (drawn - value + bound - 1 < 2 ** 31) return value;
    }
  }
}

/** The generators of the steps of one execution. */
export function chances(seed: number | undefined): (step: object) => Chance {
  if (seed === undefined) return () => SYSTEM_CHANCE;
  const known = new WeakMap<object, Chance>();
  return (step) => {
    const chance = known.get(step) ?? new SeededChance(seed);
    known.set(step, chance);
    return chance;
  };
}

/** The list in a random order: the last gets one of all, the next to last one of the others, and so on. */
export function shuffled<T>(list: readonly T[], chance: Chance): T[] {
  const next = [...list];
  for (let at = next.length; at > 1; at--) {
    const other = chance.below(at);
    const last = next[at - 1] as T;
    next[at - 1] = next[other] as T;
    next[other] = last;
  }
  return next;
}
