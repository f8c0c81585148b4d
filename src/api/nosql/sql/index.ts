/** The query language, for the rest of the NoSQL API. */

export type { CompiledQuery } from './compile/block.ts';
export type { ComputedDefinition, UserFunction } from './compile/compilation.ts';
export { compileQuery } from './compile/compile.ts';
export { isAggregating } from './compile/compile-grouping.ts';
export { computerOf, parseComputed } from './compile/computed.ts';
export { constantFinder } from './compile/constants.ts';
export { isOptionalValue, optionalAggregates } from './compile/optional-aggregates.ts';
export { type KeyRange, keyRanges } from './conditions/key-ranges.ts';
export { type Diagnostic, SqlError } from './errors.ts';
export type { FunctionEnvironment } from './functions/index.ts';
export type { Query } from './language/ast.ts';
export { autoParameterize } from './language/auto-parameterize.ts';
export { parseQuery } from './language/parser.ts';
export { type EpkRange, epkRanges, type QueryPlan, queryPlan } from './plan/query-plan.ts';
export { type QueryParameter, runQuery } from './run/evaluate.ts';
export { executableQuery } from './run/executable.ts';
export { UserFunctionCalls } from './run/user-functions.ts';
export { isByScore } from './run/vector-order.ts';
