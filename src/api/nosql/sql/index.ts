/** The query language, for the rest of the NoSQL API. */

export type {
  Block,
  Compiled,
  CompiledQuery,
  CompiledSource,
  Grouping,
  Slots,
} from './compile/block.ts';
export type { ComputedDefinition, UserFunction } from './compile/compilation.ts';
export { type CompileOptions, compileQuery, selectNames } from './compile/compile.ts';
export { isAggregating } from './compile/compile-grouping.ts';
export { computerOf, parseComputed } from './compile/computed.ts';
export { type ConstantOptions, constantFinder } from './compile/constants.ts';
export { likeMatcher } from './compile/like.ts';
export { optionalAggregates } from './compile/optional-aggregates.ts';
export {
  type ConditionOptions,
  conditionOf,
  conditionsOf,
  type QueryConditions,
} from './conditions/conditions.ts';
export { type KeyRange, keyRanges } from './conditions/key-ranges.ts';
export type { KeyBound } from './conditions/key-sets.ts';
export { type Diagnostic, type Span, SqlError } from './errors.ts';
export {
  type FunctionEnvironment,
  findFunction,
  type SystemFunction,
} from './functions/index.ts';
export * from './language/ast.ts';
export {
  autoParameterize,
  type ParameterizedQuery,
} from './language/auto-parameterize.ts';
export { parseExpression, parseQuery } from './language/parser.ts';
export { printExpression, printQuery, printRewritten } from './language/printer.ts';
export {
  type EpkRange,
  epkRanges,
  type PlanParts,
  planParts,
  type QueryInfo,
  type QueryPlan,
  type QueryPlanOptions,
  queryPlan,
} from './plan/query-plan.ts';
export type { HybridSearchQueryInfo } from './plan/query-plan-hybrid.ts';
export * from './run/aggregates.ts';
export { newRow, type QueryParameter, runQuery } from './run/evaluate.ts';
export { type ExecutableOptions, executableQuery } from './run/executable.ts';
export { UserFunctionCalls } from './run/user-functions.ts';
export { type ValueKey, valueKey } from './run/value-key.ts';
export { isByScore } from './run/vector-order.ts';
