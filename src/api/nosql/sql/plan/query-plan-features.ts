/** The features that a client needs to run a plan, by their names in the request header. */
import type { QueryPlan } from './query-plan.ts';

export function requiredFeatures({
  queryInfo,
  hybridSearchQueryInfo,
}: QueryPlan): readonly string[] {
  const features = new Set<string>();
  if (hybridSearchQueryInfo) {
    features.add('HybridSearch');
    if (hybridSearchQueryInfo.componentWeights.length > 0) features.add('WeightedRankFusion');
  }
  if (!queryInfo) return [...features];
  const byAlias = Object.values(queryInfo.groupByAliasToAggregateType).filter(
    (name) => name !== null,
  );
  const aggregates = [...queryInfo.aggregates, ...byAlias];
  if (queryInfo.aggregates.length > 0) features.add('Aggregate');
  if (byAlias.length > 0) features.add('NonValueAggregate');
  if (aggregates.length > 1) features.add('MultipleAggregates');
  if (aggregates.includes('MakeList') || aggregates.includes('MakeSet'))
    features.add('ListAndSetAggregate');
  if (aggregates.includes('CountIf')) features.add('CountIf');
  if (queryInfo.distinctType !== 'None') features.add('Distinct');
  if (queryInfo.groupByExpressions.length > 0) features.add('GroupBy');
  if (queryInfo.orderBy.length > 0) features.add('OrderBy');
  if (queryInfo.orderBy.length > 1) features.add('MultipleOrderBy');
  if (queryInfo.hasNonStreamingOrderBy) features.add('NonStreamingOrderBy');
  if (queryInfo.top !== undefined) features.add('Top');
  if (queryInfo.offset !== undefined) features.add('OffsetAndLimit');
  if (queryInfo.dCountInfo) features.add('DCount');
  return [...features];
}
