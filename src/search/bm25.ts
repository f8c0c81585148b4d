/** The BM25 score of a text for phrases. Every part of the system computes it here. */

/** The usual constants of BM25: how fast repetition saturates, and how much length counts. */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;

/** Statistics of all texts: their number, their words together, and the number of texts with each phrase. */
export interface TextStatistics {
  readonly documentCount: number;
  readonly wordCount: number;
  readonly hitCounts: readonly number[];
}

/** Without statistics every phrase has the same weight and every text has the average length. */
export function bm25(
  frequencies: readonly number[],
  length: number,
  statistics: TextStatistics | undefined,
): number {
  let score = 0;
  for (const [at, frequency] of frequencies.entries())
    score += bm25Part(statistics, at)(frequency, length);
  return score;
}

/** The part of one phrase in the score of a text, by its frequency. Computed in one place, so that sums are equal. */
export function bm25Part(
  statistics: TextStatistics | undefined,
  at: number,
): (frequency: number, length: number) => number {
  const weight = statistics ? inverseFrequency(statistics, at) : 1;
  const average = statistics && statistics.wordCount / statistics.documentCount;
  return (frequency, length) => {
    const mean = average ?? length;
    const lengthRatio = mean > 0 ? length / mean : 1;
    return (
      (weight * frequency * (SATURATION + 1)) /
      (frequency + SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengthRatio))
    );
  };
}

function inverseFrequency({ documentCount, hitCounts }: TextStatistics, at: number): number {
  const hits = hitCounts[at] ?? 0;
  return Math.log(1 + (documentCount - hits + 0.5) / (hits + 0.5));
}
