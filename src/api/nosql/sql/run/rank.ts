/** ORDER BY RANK: ranks items by each score and fuses the ranks by their reciprocals (RRF). */
import { spend } from '../../../../base/index.ts';
import type { TextLanguage } from '../../../../search/index.ts';
import { compareValues, type Value } from '../../../../value/index.ts';
import type { Compiled, Slots } from '../compile/block.ts';
import { contentWords, fullTextScore, phraseList } from '../functions/full-text.ts';

/** One score of an item. Text scores need the statistics of all items, so they are computed at the end. */
export type ScoreComponent =
  | {
      readonly kind: 'text';
      readonly weight: number;
      readonly args: readonly Compiled[];
      readonly language: TextLanguage;
    }
  | {
      readonly kind: 'value';
      readonly weight: number;
      readonly value: Compiled;
      /** Distances rank from the smallest, similarities from the largest. */
      readonly isAscending: boolean;
    };

/** The RRF constant of all clients of the service; it damps the first ranks. */
const RANK_CONSTANT = 60;

/** The values of a row that its scores are computed from. */
export function scoreInputs(components: readonly ScoreComponent[], row: Slots): readonly Value[] {
  return components.map((component) =>
    component.kind === 'text' ? component.args.map((arg) => arg(row)) : component.value(row),
  );
}

/** The fused score of every row, in the order of the rows; higher comes first. */
export function fuseScores(
  components: readonly ScoreComponent[],
  inputs: readonly (readonly Value[])[],
): readonly number[] {
  const fused = inputs.map(() => 0);
  for (const [at, component] of components.entries()) {
    const column = inputs.map((row) => row[at]);
    const scores = component.kind === 'text' ? textScores(column, component.language) : column;
    const sign = component.kind === 'value' && component.isAscending ? 1 : -1;
    for (const [row, rank] of ranksOf(scores, sign).entries())
      fused[row] = (fused[row] as number) + component.weight / (RANK_CONSTANT + rank);
  }
  return fused;
}

/** Rank 1 for the best; equal scores share a rank, and rows without a score come last. */
function ranksOf(scores: readonly Value[], sign: 1 | -1): readonly number[] {
  const order = scores.map((_, row) => row);
  const compare = (a: Value, b: Value): number => {
    spend(10);
    if (a === undefined || b === undefined)
      return Number(a === undefined) - Number(b === undefined);
    return sign * compareValues(a, b);
  };
  order.sort((a, b) => compare(scores[a], scores[b]));
  const ranks = scores.map(() => 0);
  let rank = 0;
  for (const [at, row] of order.entries()) {
    const previous = order[at - 1];
    if (previous === undefined || compare(scores[previous], scores[row]) !== 0) rank++;
    ranks[row] = rank;
  }
  return ranks;
}

function textScores(column: readonly Value[], language: TextLanguage): readonly Value[] {
  const texts = column.map((args) => (args as readonly Value[])[0]);
  const phrases = phraseList(((column[0] ?? []) as readonly Value[]).slice(1)) ?? [];
  const words = texts.map((text) => (typeof text === 'string' ? contentWords(text, language) : 0));
  const statistics = {
    documentCount: texts.length,
    wordCount: words.reduce((total, count) => total + count, 0),
    hitCounts: phrases.map(
      (phrase) =>
        texts.filter((text) => Number(fullTextScore(text, [phrase], undefined, language)) > 0)
          .length,
    ),
  };
  return texts.map((text) => fullTextScore(text, phrases, statistics, language));
}
