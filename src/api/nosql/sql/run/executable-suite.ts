/** For tests: the simplest possible executor of executable queries. */
import {
  type ExecutableQuery,
  looseItem,
  type PendingItem,
  type ResultRow,
  type Row,
} from '../../../../query/index.ts';
import { compareValues, type Value } from '../../../../value/index.ts';
import { isMet } from '../conditions/conditions-suite.ts';

export function itemOf(document: Value): PendingItem {
  return looseItem({ value: () => document });
}

export function rowValue({ item, value }: ResultRow): Value {
  return item === undefined ? value : item.value();
}

/** The results over the documents in their order, without those that the condition excludes. */
export function runExecutable(
  { condition, shape }: ExecutableQuery,
  documents: readonly Value[],
): Value[] {
  const candidates = documents.filter((document) => isMet(condition, document));
  if (shape.kind === 'blocking') {
    const fold = shape.start();
    candidates.every((document) => fold.add(itemOf(document)));
    return [...fold.finish()];
  }
  const { order, skip, take } = shape;
  const rows: Row[] = candidates.flatMap((document) => shape.rowsOf(itemOf(document)));
  if (order)
    rows.sort((a, b) => {
      for (const [at, { isDescending }] of order.parts.entries()) {
        const difference = compareValues(a.keys[at], b.keys[at]);
        if (difference !== 0) return isDescending ? -difference : difference;
      }
      return 0;
    });
  return rows.slice(skip, skip + take).map(rowValue);
}
