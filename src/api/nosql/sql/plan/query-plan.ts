/**
 * The query plan: how the client merges the results of the partitions (order, aggregates, groups, duplicates, window),
 * the text to send to each, and the partition keys that can match.
 */
import { compareBytes } from '../../../../base/index.ts';
import {
  EPK_MAX,
  effectivePartitionKey,
  epkRangeOfPrefix,
  epkToHex,
  type PartitionKeyDefinition,
  type Value,
} from '../../../../value/index.ts';
import { type CompileOptions, compileQuery } from '../compile/compile.ts';
import { constantFinder } from '../compile/constants.ts';
import { type KeyRange, keyRanges } from '../conditions/key-ranges.ts';
import type { KeyBound } from '../conditions/key-sets.ts';
import { diagnostics, SqlError } from '../errors.ts';
import type { Query } from '../language/ast.ts';
import { withMemberNames } from '../language/member-names.ts';
import { parseQuery } from '../language/parser.ts';
import type { AggregateName } from '../run/aggregates.ts';
import type { QueryParameter } from '../run/evaluate.ts';
import { requiredFeatures } from './query-plan-features.ts';
import { type HybridSearchQueryInfo, hybridSearchPlan } from './query-plan-hybrid.ts';
import { planQuery } from './query-plan-rewrite.ts';

export interface QueryInfo {
  readonly distinctType: 'None' | 'Ordered' | 'Unordered';
  readonly top?: number;
  readonly offset?: number;
  readonly limit?: number;
  readonly orderBy: readonly ('Ascending' | 'Descending')[];
  readonly orderByExpressions: readonly string[];
  readonly groupByExpressions: readonly string[];
  readonly groupByAliases: readonly string[];
  readonly aggregates: readonly AggregateName[];
  readonly groupByAliasToAggregateType: Readonly<Record<string, AggregateName | null>>;
  /** Empty when the client may send the query as it is. */
  readonly rewrittenQuery: string;
  readonly hasSelectValue: boolean;
  readonly hasNonStreamingOrderBy: boolean;
  readonly dCountInfo?: { readonly dCountAlias: string };
}

/** A range of effective partition keys in upper-case hexadecimal. */
export interface EpkRange {
  readonly min: string;
  readonly max: string;
  readonly isMinInclusive: boolean;
  readonly isMaxInclusive: boolean;
}

export interface QueryPlan {
  readonly partitionedQueryExecutionInfoVersion: 2;
  /** Absent when hybridSearchQueryInfo is there. */
  readonly queryInfo?: QueryInfo;
  readonly queryRanges: readonly EpkRange[];
  readonly hybridSearchQueryInfo?: HybridSearchQueryInfo;
}

interface QueryPlanOptions extends CompileOptions {
  readonly parameters?: readonly QueryParameter[];
  /** The features of the client; a plan that needs more is refused. Absent: all features. */
  readonly features?: readonly string[];
}

/** Throws SqlError for a query that is invalid, or that cannot be split over partitions. */
export function queryPlan(
  sql: string | Query,
  partitionKey: PartitionKeyDefinition,
  options: QueryPlanOptions = {},
): QueryPlan {
  const { info, hybrid, ranges } = planParts(
    typeof sql === 'string' ? parseQuery(sql) : sql,
    partitionKey,
    options,
  );
  const plan: QueryPlan = {
    partitionedQueryExecutionInfoVersion: 2,
    ...(info && { queryInfo: info }),
    queryRanges: epkRanges(ranges, partitionKey),
    ...(hybrid && { hybridSearchQueryInfo: hybrid }),
  };
  if (options.features) requireFeatures(plan, options.features);
  return plan;
}

export interface PlanParts {
  readonly info: QueryInfo | undefined;
  readonly hybrid: HybridSearchQueryInfo | undefined;
  /** Before hashing: ranges of partition key values. */
  readonly ranges: readonly KeyRange[];
}

/** The plan with its ranges still in partition key values. */
export function planParts(
  parsed: Query,
  partitionKey: PartitionKeyDefinition,
  options: QueryPlanOptions = {},
): PlanParts {
  const parameters = options.parameters ?? [];
  const query = withMemberNames(parsed, parameters);
  // Compilation finds errors; user defined functions are looked up where the query runs.
  compileQuery(query, { ...options, findUdf: () => () => undefined });
  const findConstant = constantFinder(parameters, options);
  const ranges = keyRanges(query, partitionKey, findConstant);
  const context = {
    findConstant,
    vectorPolicy: options.environment?.vectorPolicy ?? new Map(),
    isSingleKey: ranges.length === 1 && ranges[0]?.kind === 'range',
    allowsDistinctCount: options.features?.includes('DCount') ?? false,
    deduplicates: options.features?.includes('Distinct') ?? false,
  };
  if (query.orderBy?.isRank)
    return { info: undefined, hybrid: hybridSearchPlan(query, context), ranges };
  return { info: planQuery(query, context), hybrid: undefined, ranges };
}

/** Hashed and sorted; a prefix of a hierarchical key is the range of all keys below it. */
export function epkRanges(
  ranges: readonly KeyRange[],
  partitionKey: PartitionKeyDefinition,
): readonly EpkRange[] {
  const hashed = ranges.map((range) => {
    if (range.kind === 'all') return { min: new Uint8Array(), max: EPK_MAX, isPoint: false };
    const components = range.kind === 'none' ? [] : range.low.map(boundValue);
    const isPrefix =
      range.kind === 'range' &&
      partitionKey.kind === 'MultiHash' &&
      components.length < partitionKey.paths.length;
    if (isPrefix) return { ...epkRangeOfPrefix(components, partitionKey), isPoint: false };
    const min = effectivePartitionKey(components, partitionKey);
    return { min, max: min, isPoint: true };
  });
  return hashed
    .sort((a, b) => compareBytes(a.min, b.min))
    .map(({ min, max, isPoint }) => ({
      min: epkToHex(min),
      max: epkToHex(max),
      isMinInclusive: true,
      isMaxInclusive: isPoint,
    }));
}

function boundValue(bound: KeyBound): Value {
  return bound.kind === 'value' ? bound.value : undefined;
}

function requireFeatures(plan: QueryPlan, supported: readonly string[]): void {
  const missing = requiredFeatures(plan).filter((name) => !supported.includes(name));
  if (missing.length > 0) throw new SqlError(diagnostics.features(missing));
}
