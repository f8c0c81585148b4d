/** Random rounds of one test on every engine, each with a seed that repeats it. */
import { expect, test } from 'vitest';
import { seededRandom } from '../../../../src/base/index.ts';
import { type Account, ENGINES, startAccount } from '../harness.ts';

export const SEED = Number(process.env.MESOCOSM_SEED ?? 20_261_119);

export function roundsOr(count: number): number {
  return Number(process.env.MESOCOSM_ROUNDS ?? count);
}

export class Dice {
  readonly #random: ReturnType<typeof seededRandom>;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  below(count: number): number {
    return this.#random.below(count);
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** Between the bounds, with few digits. */
  number(low: number, high: number): number {
    return low + (this.below(10_001) / 10_000) * (high - low);
  }
}

interface Rounds {
  readonly title: string;
  /** Where MESOCOSM_ROUNDS says nothing. */
  readonly count: number;
  readonly timeoutMs: number;
  run(account: Account, seed: number): Promise<void>;
}

export function testRounds({ title, count, timeoutMs, run }: Rounds): void {
  test.each(ENGINES)(
    `on %s, ${title} (MESOCOSM_SEED=${SEED})`,
    async (engine) => {
      const account = await startAccount({ engine });
      try {
        for (let seed = SEED; seed < SEED + roundsOr(count); seed++)
          await run(account, seed).catch((error) => {
            throw new Error(`MESOCOSM_SEED=${seed} MESOCOSM_ROUNDS=1: ${error.message}`, {
              cause: error,
            });
          });
        expect(account.failures).toEqual([]);
      } finally {
        await account.close();
      }
    },
    timeoutMs,
  );
}
