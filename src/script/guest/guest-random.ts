/** Inside the sandbox: `Math.random`, from a seed that is new for every script. */

/** xoshiro128+, which is as good as what the language promises. */
export function makeRandom(seed: readonly number[]): () => number {
  const state = Uint32Array.from(seed);
  const next = (): number => {
    const [a, b, c, d] = state as unknown as [number, number, number, number];
    const result = (a + d) >>> 0;
    state[2] = c ^ a;
    state[3] = d ^ b;
    state[1] = b ^ (state[2] as number);
    state[0] = a ^ (state[3] as number);
    state[2] = (state[2] as number) ^ (b << 9);
    const last = state[3] as number;
    state[3] = (last << 11) | (last >>> 21);
    return result;
  };
  return () => ((next() >>> 5) * 67_108_864 + (next() >>> 6)) / 9_007_199_254_740_992;
}
