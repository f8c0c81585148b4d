/** For tests: the plainest executor of programs that there can be. */
import type { ExecutableQuery, Row } from '../../../../query/index.ts';
import { compareValues, type Value } from '../../../../value/index.ts';
import { isMet } from '../conditions/conditions-suite.ts';

/** The results of the program over the documents in their order, those left out that the condition rules out. */
export function runExecutable(
  { condition, shape }: ExecutableQuery,
  documents: readonly Value[],
): Value[] {
  const candidates = documents.filter((document) => isMet(condition, document));
  if (shape.kind === 'folding') {
    const fold = shape.start();
    candidates.every((document) => fold.add(document));
    return [...fold.finish()];
  }
  const { order, skip, take } = shape;
  const rows: Row[] = candidates.flatMap((document) => shape.rowsOf(document));
  if (order)
    rows.sort((a, b) => {
      for (const [at, { isDescending }] of order.parts.entries()) {
        const difference = compareValues(a.keys[at], b.keys[at]);
        if (difference !== 0) return isDescending ? -difference : difference;
      }
      return 0;
    });
  return rows.slice(skip, skip + take).map((row) => row.value);
}
