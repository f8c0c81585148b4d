/** Accumulators whose values come from the sandbox. */
import type { AccumulatorSpec } from '../accumulators/parse.ts';

/** Lets functions of clients accumulate what the documents gave them. */
export async function settle(specs: readonly AccumulatorSpec[], isLast: boolean): Promise<void> {
  for (const spec of specs) if (spec.settle !== undefined) await spec.settle(isLast);
}
