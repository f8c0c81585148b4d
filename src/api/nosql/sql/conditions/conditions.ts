/**
 * Derives a condition from a query: ranges of values under paths, which every item that gives rows must meet. It may
 * allow too much, since every candidate is checked, but never too little. An expression that is not understood gives
 * `anything`.
 *
 * A filter keeps a row only where it is true, and NOT turns only false into true. So every expression has a condition for
 * true and one for false; neither covers undefined. Expressions that exclude little, such as !=, give `anything`.
 */
import { ANYTHING, type Condition, everyValue, NOTHING, ofType } from '../../../../query/index.ts';
import { ARRAY_ELEMENT, type Path, type SpatialGrid } from '../../../../value/index.ts';
import { type ConstantOptions, compilerOver, constantFinder } from '../compile/constants.ts';
import type { Expression, Query, Source } from '../language/ast.ts';
import { sourcesOf } from '../language/ast-walk.ts';
import type { QueryParameter } from '../run/evaluate.ts';
import { conditionFor } from './conditions-for.ts';
import { intersectionOf, termFor, type ValueRef } from './conditions-ranges.ts';
import { derivedValue, rowCondition } from './conditions-subqueries.ts';
import {
  type Aliases,
  type Analysis,
  type Binding,
  pathExpression,
  ROOT,
  type Rows,
  someElementOf,
  valueRefOf,
} from './value-refs.ts';

export interface ConditionOptions extends ConstantOptions {
  readonly parameters?: readonly QueryParameter[];
  /** The grid of the spatial index at a path, where there is one. */
  readonly gridOf?: ((path: Path) => SpatialGrid | undefined) | undefined;
}

/** The condition of a query, and the paths of its sort keys. */
interface QueryConditions {
  readonly condition: Condition;
  /** Per item of ORDER BY; undefined for anything but a property of the item. */
  readonly orderPaths: readonly (Path | undefined)[];
  /** The path of a property of the item; undefined for any other expression. */
  pathOf(expression: Expression): Path | undefined;
}

/** A bound on expressions, some tenths of a second; beyond it every expression gives `anything`. */
const STEPS_MAX = 20_000;

export function conditionOf(query: Query, options: ConditionOptions = {}): Condition {
  return conditionsOf(query, options).condition;
}

export function conditionsOf(query: Query, options: ConditionOptions = {}): QueryConditions {
  const parameters = options.parameters ?? [];
  let number = 0;
  let steps = 0;
  const analysis: Analysis = {
    findConstant: constantFinder(parameters, options),
    compileOver: compilerOver(parameters, options),
    gridOf: options.gridOf ?? (() => undefined),
    nextNumber: () => number++,
    takeStep: () => ++steps <= STEPS_MAX,
    rowsOf: (subquery, aliases) => rowsOf(subquery, aliases, analysis, false),
  };
  const { condition, aliases } = rowsOf(query, new Map(), analysis, true);
  const pathOf = (expression: Expression) => {
    const path = valueRefOf(expression, aliases, analysis)?.path;
    return path && path.length > 0 && !path.includes(ARRAY_ELEMENT) ? path : undefined;
  };
  const orderPaths = (query.orderBy?.items ?? []).map(({ expression }) => pathOf(expression));
  return { condition, orderPaths, pathOf };
}

function rowsOf(query: Query, outer: Aliases, analysis: Analysis, isOutermost: boolean): Rows {
  if (isOutermost && !query.from) return { condition: NOTHING, aliases: outer };
  const aliases = new Map(outer);
  const conditions: Condition[] = [];
  for (const [at, source] of sourcesOf(query.from).entries()) {
    const { binding, name, condition } = bindSource(
      source,
      aliases,
      analysis,
      isOutermost && at === 0,
    );
    if (name !== undefined) aliases.set(name, binding);
    conditions.push(condition);
  }
  const filter = query.where ? conditionFor(true, query.where, aliases, analysis) : ANYTHING;
  const needed = conditions.filter(
    (condition) => condition.kind !== 'anything' && !isImplied(condition, filter),
  );
  return { condition: intersectionOf([filter, ...needed]), aliases };
}

/** A condition that a path exists is implied by one on a longer path. */
function isImplied(condition: Condition, filter: Condition): boolean {
  if (condition.kind !== 'term') return false;
  const { path } = condition;
  const others = filter.kind === 'all' ? filter.of : [filter];
  return others.some(
    (other) =>
      other.kind === 'term' &&
      other.path.length > path.length &&
      path.every((step, at) => step === other.path[at]),
  );
}

interface BoundSource {
  readonly name: string | undefined;
  readonly binding: Binding;
  /** The condition for the source to give a row. */
  readonly condition: Condition;
}

const UNKNOWN: Binding = { kind: 'unknown' };
const CONTAINER: Binding = { kind: 'valueRef', ...ROOT };

function bindSource(
  source: Exclude<Source, { kind: 'join' }>,
  aliases: Aliases,
  analysis: Analysis,
  mayReadContainer: boolean,
): BoundSource {
  const { collection } = source;
  const isIterated = source.kind === 'iterator';
  if (collection.kind === 'path') {
    const { root, steps } = collection;
    const isContainer = mayReadContainer && !aliases.has(root);
    const inSight = isContainer ? new Map(aliases).set(root, CONTAINER) : aliases;
    const valueRef = valueRefOf(pathExpression(collection), inSight, analysis);
    const lastName = steps.findLast((step) => step.kind !== 'number')?.name ?? root;
    const name = isIterated ? source.name : (source.alias ?? lastName);
    if (!valueRef) return { name, binding: UNKNOWN, condition: ANYTHING };
    return { name, ...boundValueRef(valueRef, isIterated, steps.length > 0, analysis) };
  }
  const name = isIterated ? source.name : source.alias;
  const inner = rowsOf(collection.query, aliases, analysis, mayReadContainer);
  // A subquery over the container may depend on items that the rest of the query drops, so its rows stay unknown.
  if (mayReadContainer) return { name, binding: UNKNOWN, condition: inner.condition };
  const value = derivedValue(collection.query, inner.aliases);
  if (!value) return { name, binding: UNKNOWN, condition: rowCondition(collection.query, inner) };
  if (!isIterated)
    return {
      name,
      binding: { kind: 'derived', ...value, condition: inner.condition },
      condition: inner.condition,
    };
  const valueRef = valueRefOf(value.expression, value.aliases, analysis);
  if (!valueRef) return { name, binding: UNKNOWN, condition: inner.condition };
  const { binding, condition } = boundValueRef(valueRef, true, true, analysis);
  return { name, binding, condition: intersectionOf([inner.condition, condition]) };
}

function boundValueRef(
  valueRef: ValueRef,
  isIterated: boolean,
  isFurther: boolean,
  analysis: Analysis,
): Pick<BoundSource, 'binding' | 'condition'> {
  if (isIterated)
    return {
      binding: { kind: 'valueRef', ...someElementOf(valueRef, analysis) },
      condition: termFor(valueRef, [ofType([])]),
    };
  const condition = isFurther ? termFor(valueRef, [everyValue()]) : ANYTHING;
  return { binding: { kind: 'valueRef', ...valueRef }, condition };
}
