/** Conditions of spatial functions with a constant, as cells of the spatial index. */
import { ANYTHING, type Condition, cellCondition, NOTHING } from '../../../../query/index.ts';
import type { Call, Expression } from '../language/ast.ts';
import { type Aliases, type Analysis, valueRefOf } from './value-refs.ts';

/** Functions that are true only where the geometries have a point in common. */
const TOUCHING: ReadonlySet<string> = new Set([
  'st_within',
  '_st_within',
  'st_intersects',
  '_st_intersects',
]);
const DISTANCES: ReadonlySet<string> = new Set(['st_distance', '_st_distance']);

/** The condition for ST_WITHIN or ST_INTERSECTS to be true. */
export function touchingCondition(
  call: Call,
  aliases: Aliases,
  analysis: Analysis,
): Condition | undefined {
  return TOUCHING.has(call.name.toLowerCase())
    ? nearCondition(call, 0, aliases, analysis)
    : undefined;
}

/** The condition for ST_DISTANCE to be at most the distance. */
export function distanceCondition(
  expression: Expression,
  distance: number,
  aliases: Aliases,
  analysis: Analysis,
): Condition | undefined {
  if (expression.kind !== 'call' || !DISTANCES.has(expression.name.toLowerCase())) return undefined;
  return nearCondition(expression, distance, aliases, analysis);
}

function nearCondition(
  { arguments: [first, second] }: Call,
  distance: number,
  aliases: Aliases,
  analysis: Analysis,
): Condition | undefined {
  if (!first || !second) return undefined;
  const isFirst = analysis.findConstant(first) !== undefined;
  const constant = analysis.findConstant(isFirst ? first : second);
  const valueRef = valueRefOf(isFirst ? second : first, aliases, analysis);
  const grid = valueRef && constant && analysis.gridOf(valueRef.path);
  if (!grid || distance < 0) return undefined;
  const cells = grid.cellsNear(constant.value, distance);
  if (cells === undefined) return NOTHING;
  return cells === 'everywhere' ? ANYTHING : cellCondition(valueRef.path, cells);
}
