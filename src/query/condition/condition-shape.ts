/** A condition without its values: the same for all queries that differ only in what they compare with. */
import { printPath } from '../../value/index.ts';
import type { Condition } from './condition.ts';

export function conditionShape(condition: Condition): string {
  switch (condition.kind) {
    case 'anything':
      return 'any item';
    case 'nothing':
      return 'no item';
    case 'declared':
    case 'term': {
      const { path, ranges } = condition;
      const arePoints = ranges.every(({ isPoint }) => isPoint);
      return `${printPath(path)} ${arePoints ? (ranges.length === 1 ? '= ?' : 'IN (?)') : 'in a range'}`;
    }
    case 'text':
      return `${printPath(condition.path)} holds ?`;
    case 'all':
      return joined(condition.of, ' AND ');
    case 'any':
      return joined(condition.of, ' OR ');
  }
}

/** The same part is named once, however often it is there. */
function joined(of: readonly Condition[], word: string): string {
  const parts = of.map((part) =>
    part.kind === 'all' || part.kind === 'any' ? `(${conditionShape(part)})` : conditionShape(part),
  );
  return [...new Set(parts)].join(word);
}

/** Paths that must equal one value each: what a partition key could be. */
export function equalityPaths(condition: Condition): readonly string[] {
  if (condition.kind === 'all') return [...new Set(condition.of.flatMap(equalityPaths))];
  if (condition.kind !== 'term' && condition.kind !== 'declared') return [];
  const [range, ...others] = condition.ranges;
  return range?.isPoint === true && others.length === 0 ? [printPath(condition.path)] : [];
}
