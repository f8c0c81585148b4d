// Goal: whatever a query calls, with whatever values, it ends with rows or with a refusal, and a budget changes no answer.
// Method: random queries over random documents by seed, each under several limits; longer with MESOCOSM_LONG=1.
import { describe, expect, test } from 'vitest';
import {
  DomainError,
  type EvaluationLimits,
  EvaluationTooLong,
  FIXED_EVALUATION,
  MOVABLE_EVALUATION,
  seededRandom,
  threadEvaluation,
} from '../../../base/index.ts';
import type { Value } from '../../../value/index.ts';
import { HostileQueries } from './hostile-queries-suite.ts';
import { parseQuery } from './language/parser.ts';
import { executableQuery } from './run/executable.ts';
import { itemOf, rowValue } from './run/executable-suite.ts';

const SEEDS = process.env.MESOCOSM_LONG === undefined ? 6 : 3000;
const QUERIES_PER_SEED = 60;
const SIZES = [10, 1000, 30_000];

/** How it ended: rows, a refusal, or to be done elsewhere. Anything else is thrown. */
type Outcome = readonly Value[] | 'refused' | 'elsewhere';

function outcomeOf(text: string, document: Value, limits: EvaluationLimits): Outcome {
  try {
    const { shape } = executableQuery(parseQuery(text), { startMs: 0, limits });
    if (shape.kind === 'streaming') return shape.rowsOf(itemOf(document)).map(rowValue);
    const fold = shape.start();
    fold.add(itemOf(document));
    return [...fold.finish()];
  } catch (error) {
    if (error instanceof EvaluationTooLong) return 'elsewhere';
    if (error instanceof DomainError) return 'refused';
    throw error;
  }
}

/** No text and no list that was made is larger than what may be made. */
function checkSizes(rows: Outcome, { bytes }: EvaluationLimits): void {
  if (typeof rows === 'string') return;
  for (const row of rows) {
    if (typeof row === 'string') expect(row.length).toBeLessThanOrEqual(bytes);
    if (Array.isArray(row)) expect(8 * row.length).toBeLessThanOrEqual(bytes);
  }
}

/** A seed takes about a second; a loaded machine may take many times as long. */
const SEED_TIMEOUT_MS = 120_000;

describe('random queries end well', () => {
  test.each(Array.from({ length: SEEDS }, (_, at) => at + 1))(
    'seed %i',
    (seed) => {
      const random = seededRandom(seed);
      const queries = new HostileQueries(random);
      for (const size of SIZES) {
        const document = queries.document(size);
        for (let at = 0; at < QUERIES_PER_SEED / SIZES.length; at++) {
          const isStable = random.below(4) > 0;
          const text = queries.query(isStable);
          const here = outcomeOf(text, document, MOVABLE_EVALUATION);
          const fixed = outcomeOf(text, document, FIXED_EVALUATION);
          const elsewhere = outcomeOf(text, document, {
            ...threadEvaluation(200),
            regexTimeoutMs: 20,
          });
          checkSizes(here, MOVABLE_EVALUATION);
          checkSizes(fixed, FIXED_EVALUATION);
          const answers = [here, fixed, elsewhere].filter((rows) => typeof rows !== 'string');
          if (!isStable || answers.length < 2) continue;
          for (const answer of answers) expect(answer, text).toEqual(answers[0]);
        }
      }
    },
    SEED_TIMEOUT_MS,
  );
});
