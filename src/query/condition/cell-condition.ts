/** Geometries that may lie where some cells are, found by theirs (value/geo). */
import { CELLS, namesAround, type Path } from '../../value/index.ts';
import { type Condition, equalTo, startingWith, term } from './condition.ts';

/** Some geometry under the path has a cell that is one of these, lies in one of them or holds one of them. */
export function cellCondition(path: Path, cells: readonly string[]): Condition {
  const around = new Set(cells.flatMap(namesAround));
  return term(
    [...path, CELLS],
    [...cells.map((cell) => startingWith(cell)), ...[...around].map((cell) => equalTo(cell))],
  );
}
