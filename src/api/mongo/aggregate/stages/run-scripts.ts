/** Accumulators whose values come from the sandbox. */
import type { AccumulatorSpec } from '../accumulators/parse.ts';

/** Lets functions of clients accumulate what the documents gave them. */
export async function runScripts(
  specs: readonly AccumulatorSpec[],
  isLast: boolean,
): Promise<void> {
  for (const spec of specs) if (spec.runScripts !== undefined) await spec.runScripts(isLast);
}
