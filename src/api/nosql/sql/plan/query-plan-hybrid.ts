/**
 * The plan of ORDER BY RANK: one query for the statistics of the whole container, then one query per score, which
 * returns the best items with all their scores; the client fuses the ranks.
 */

import { rankComponents, weightsOf } from '../compile/compile-rank.ts';
import type { Call, Expression, Query } from '../language/ast.ts';
import {
  and,
  call,
  coalesce,
  list,
  literal,
  object,
  placeholder,
} from '../language/ast-builders.ts';
import { printExpression, printRewritten } from '../language/printer.ts';
import { orderedRow } from '../run/ordered-row.ts';
import { distanceOf, isCallOf } from '../run/vector-order.ts';
import type { QueryInfo } from './query-plan.ts';
import {
  countsOf,
  type PlanContext,
  payloadAndPresence,
  rootAlias,
  withOrderFilter,
} from './query-plan-rewrite.ts';

export interface HybridSearchQueryInfo {
  readonly globalStatisticsQuery: string;
  readonly componentQueryInfos: readonly QueryInfo[];
  readonly componentWithoutPayloadQueryInfos: readonly QueryInfo[];
  readonly projectionQueryInfo: QueryInfo | null;
  readonly componentWeights: readonly number[];
  readonly skip?: number | null;
  readonly take?: number | null;
  readonly requiresGlobalStatistics: boolean;
}

/** Every component query returns at least this many items, and at least twice as many as are wanted. */
const COMPONENT_ITEMS_MIN = 120;
/** The service counts in 32 bits. */
const COUNT_SPACE = 2 ** 32;

const hybridPlaceholder = (name: string) =>
  placeholder(`{documentdb-formattablehybridsearchquery-${name}}`);

interface Score {
  /** The internal function that a partition evaluates. */
  readonly expression: Expression;
  readonly isDescending: boolean;
}

export function hybridSearchPlan(query: Query, context: PlanContext): HybridSearchQueryInfo {
  const { top, offset, limit } = countsOf(query, context);
  const rank = query.orderBy?.items[0]?.expression as Call;
  const calls = rankComponents(rank).map((component) => component.call);
  const texts = calls.filter((score) => isCallOf(score, 'FullTextScore'));
  const scores = calls.map((score) => toScore(score, texts, context));
  const take = top ?? limit;
  return {
    globalStatisticsQuery: texts.length > 0 ? statisticsQuery(query, texts) : '',
    componentQueryInfos: scores.map((score) =>
      componentPlan(query, score, scores, { top, offset, limit }),
    ),
    componentWithoutPayloadQueryInfos: [],
    projectionQueryInfo: null,
    componentWeights: (isCallOf(rank, 'RRF') && weightsOf(rank.arguments.at(-1))) || [],
    ...(offset !== undefined && { skip: offset }),
    ...(take !== undefined && { take }),
    requiresGlobalStatistics: texts.length > 0,
  };
}

function toScore(score: Call, texts: readonly Call[], { vectorPolicy }: PlanContext): Score {
  const at = texts.indexOf(score);
  if (at < 0)
    return {
      expression: { ...score, name: '_VectorScore' },
      isDescending: distanceOf(score, vectorPolicy) !== 'euclidean',
    };
  const expression = call(
    '_FullTextScore',
    score.arguments[0] as Expression,
    list(phrasesOf(score)),
    hybridPlaceholder('totaldocumentcount'),
    hybridPlaceholder(`totalwordcount-${at}`),
    hybridPlaceholder(`hitcountsarray-${at}`),
  );
  return { expression, isDescending: true };
}

/** The phrases, given one by one or in one list. */
function phrasesOf(score: Call): readonly Expression[] {
  return score.arguments
    .slice(1)
    .flatMap((phrase) => (phrase.kind === 'array' ? phrase.items : [phrase]));
}

function statisticsQuery(query: Query, texts: readonly Call[]): string {
  const statistics = texts.map((score) => {
    const text = score.arguments[0] as Expression;
    return object({
      totalWordCount: call('SUM', call('_FullTextWordCount', text)),
      hitCounts: list(
        phrasesOf(score).map((phrase) => call('COUNTIF', call('FullTextContains', text, phrase))),
      ),
    });
  });
  return printRewritten({
    kind: 'query',
    select: {
      isDistinct: false,
      selection: {
        kind: 'list',
        items: [
          { expression: call('COUNT', literal(1)), alias: 'documentCount' },
          { expression: list(statistics), alias: 'fullTextStatistics' },
        ],
      },
    },
    ...(query.from && { from: query.from }),
  });
}

interface Counts {
  readonly top: number | undefined;
  readonly offset: number | undefined;
  readonly limit: number | undefined;
}

function componentPlan(
  query: Query,
  score: Score,
  scores: readonly Score[],
  { top, offset, limit }: Counts,
): QueryInfo {
  const direction = score.isDescending ? 'Descending' : 'Ascending';
  const wanted = (count: number) => Math.max(COMPONENT_ITEMS_MIN, 2 * count);
  const topItems = top === undefined ? undefined : wanted(top);
  const limitItems = limit === undefined ? undefined : wanted((offset ?? 0) + limit) % COUNT_SPACE;
  const { payload, isDefined } = payloadAndPresence(query);
  const filtered = withOrderFilter(query);
  const componentScores = list(scores.map(({ expression }) => coalesce(expression, literal(-1))));
  const rewritten: Query = {
    kind: 'query',
    select: {
      isDistinct: false,
      ...(topItems !== undefined && { top: literal(topItems) }),
      selection: orderedRow(
        rootAlias(query),
        [score.expression],
        object({ payload, componentScores }),
      ),
    },
    ...(query.from && { from: query.from }),
    where: isDefined ? and(filtered, isDefined) : filtered,
    orderBy: {
      isRank: false,
      items: [
        {
          expression: score.expression,
          direction: score.isDescending ? 'descending' : 'ascending',
        },
      ],
    },
    ...(limitItems !== undefined && { window: { offset: literal(0), limit: literal(limitItems) } }),
  };
  return {
    distinctType: 'None',
    ...(topItems !== undefined && { top: topItems % COUNT_SPACE }),
    ...(limitItems !== undefined && { offset: 0, limit: limitItems }),
    orderBy: [direction],
    orderByExpressions: [printExpression(score.expression)],
    groupByExpressions: [],
    groupByAliases: [],
    aggregates: [],
    groupByAliasToAggregateType: {},
    rewrittenQuery: printRewritten(rewritten),
    hasSelectValue: false,
    hasNonStreamingOrderBy: true,
  };
}
