/** The condition of spatial filters: geometries are found by the cells of the grid that cover them (value/geo). */
import { CELLS, namesAround, type Path } from '../../value/index.ts';
import { type Condition, term } from './condition.ts';
import { equalTo, startingWith, type ValueRange } from './value-ranges.ts';

/** The ranges of cell names within which geometries near these cells have one. */
export function cellRanges(cells: readonly string[]): readonly ValueRange[] {
  const around = new Set(cells.flatMap(namesAround));
  return [...cells.map((cell) => startingWith(cell)), ...[...around].map((cell) => equalTo(cell))];
}

/** A geometry under the path has a cell that is one of these, lies in one of them or contains one of them. */
export function cellCondition(path: Path, cells: readonly string[]): Condition {
  return term([...path, CELLS], cellRanges(cells));
}
