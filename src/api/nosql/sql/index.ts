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
} from './conditions/conditions.ts';
export { type KeyRange, keyRanges } from './conditions/key-ranges.ts';
export type { KeyBound } from './conditions/key-sets.ts';
export { type Diagnostic, type Span, SqlError } from './errors.ts';
export {
  type FunctionEnvironment,
  findFunction,
  type SystemFunction,
} from './functions/index.ts';
export {
  type ArrayCreation,
  type Between,
  type Binary,
  type BinaryOperator,
  type Call,
  type Collection,
  chainOperands,
  type Expression,
  type Identifier,
  type In,
  type Index,
  type Like,
  type Literal,
  type ObjectCreation,
  type OrderBy,
  type OrderByItem,
  type Parameter,
  type PathStep,
  type Placeholder,
  type Property,
  type Query,
  type Select,
  type SelectItem,
  type Selection,
  type Source,
  type Subquery,
  type SubqueryForm,
  type UdfCall,
  type UnaryOperator,
  type Window,
} from './language/ast.ts';
export { autoParameterize } from './language/auto-parameterize.ts';
export { parseExpression, parseQuery } from './language/parser.ts';
export { printExpression, printQuery, printRewritten } from './language/printer.ts';
export {
  type EpkRange,
  epkRanges,
  type PlanParts,
  planParts,
  type QueryInfo,
  type QueryPlan,
  queryPlan,
} from './plan/query-plan.ts';
export type { HybridSearchQueryInfo } from './plan/query-plan-hybrid.ts';
export { type Aggregate, type AggregateName, type Fold, findAggregate } from './run/aggregates.ts';
export { newRow, type QueryParameter, runQuery } from './run/evaluate.ts';
export { type ExecutableOptions, executableQuery } from './run/executable.ts';
export { UserFunctionCalls } from './run/user-functions.ts';
export { type ValueKey, valueKey } from './run/value-key.ts';
export { isByScore } from './run/vector-order.ts';
