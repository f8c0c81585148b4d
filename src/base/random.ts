/** Randomness comes in as an argument: real in the server, seeded in tests, where the seed replays the run. */
export interface Random {
  /** A whole number, 0 <= n < bound; bound at most 2^32. */
  below(bound: number): number;
}

export const systemRandom: Random = { below: (bound) => Math.floor(Math.random() * bound) };

/** mulberry32: small, fast, good enough to drive tests. Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    below(bound) {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
    },
  };
}
