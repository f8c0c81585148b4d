/** The query language, for the rest of the NoSQL API. */
export * from './aggregates.ts';
export * from './ast.ts';
export type { Block, Compiled, CompiledQuery, CompiledSource, Grouping, Slots } from './block.ts';
export type { ComputedDefinition, UserFunction } from './compilation.ts';
export { type CompileOptions, compileQuery, selectNames } from './compile.ts';
export { isAggregating } from './compile-grouping.ts';
export { computerOf, parseComputed } from './computed.ts';
export {
  type ConditionOptions,
  conditionOf,
  conditionsOf,
  type QueryConditions,
} from './conditions.ts';
export { type ConstantOptions, constantFinder } from './constants.ts';
export { type Problem, type Span, SqlError } from './errors.ts';
export { newRow, type QueryParameter, runQuery } from './evaluate.ts';
export {
  type FunctionEnvironment,
  findFunction,
  type SystemFunction,
} from './functions/index.ts';
export { type KeyRange, keyRanges } from './key-ranges.ts';
export type { KeyBound } from './key-sets.ts';
export { type LiftedQuery, liftLiterals } from './lift-literals.ts';
export { likeMatcher } from './like.ts';
export { optionalAggregates } from './optional-aggregates.ts';
export { parseExpression, parseQuery } from './parser.ts';
export { printExpression, printQuery, printRewritten } from './printer.ts';
export { type ProgramOptions, programOf } from './program.ts';
export {
  type EpkRange,
  epkRanges,
  type PlanParts,
  planParts,
  type QueryInfo,
  type QueryPlan,
  type QueryPlanOptions,
  queryPlan,
} from './query-plan.ts';
export type { HybridSearchQueryInfo } from './query-plan-hybrid.ts';
export { UserFunctionCalls } from './user-functions.ts';
export { type ValueKey, valueKey } from './value-key.ts';
export { isByScore } from './vector-order.ts';
