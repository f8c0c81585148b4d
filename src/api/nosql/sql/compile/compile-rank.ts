/** ORDER BY RANK: FullTextScore, VectorDistance, and RRF over them with optional weights. */

import { diagnostics, NO_SPAN } from '../errors.ts';
import { isNearestFirst } from '../functions/vector.ts';
import type { Call, Expression, OrderBy, Query } from '../language/ast.ts';
import { sourcesOf } from '../language/ast-walk.ts';
import type { ScoreComponent } from '../run/rank.ts';
import { distanceOf, isCallOf, languageOf } from '../run/vector-order.ts';
import type { Compilation, Scope } from './compilation.ts';
import { compileExpression } from './compile-expression.ts';

export function compileRank(
  orderBy: OrderBy,
  scope: Scope,
  compilation: Compilation,
): readonly ScoreComponent[] {
  if (orderBy.items.some(({ direction }) => direction !== 'unspecified'))
    compilation.diagnostics.push(diagnostics.rankDirection());
  return orderBy.items.flatMap(({ expression }) =>
    rankComponents(expression).map(({ call, weight }): ScoreComponent => {
      if (isCallOf(call, 'FullTextScore'))
        return {
          kind: 'text',
          weight,
          language: languageOf(call, compilation.environment),
          args: call.arguments.map((arg) => compileExpression(arg, scope, compilation)),
        };
      return {
        kind: 'value',
        weight,
        value: compileExpression(call, scope, compilation),
        isAscending: isNearestFirst(distanceOf(call, compilation.environment.vectorPolicy)),
      };
    }),
  );
}

/** The rules of the clause itself: over the items of a container, in the outermost query, of scores and weights. */
export function checkRank(query: Query, isSubquery: boolean, { diagnostics: found }: Compilation) {
  const { items, span = NO_SPAN } = query.orderBy as OrderBy;
  if (isSubquery) found.push(diagnostics.rankInSubquery(span));
  const sources = sourcesOf(query.from);
  const [first, last] = [sources[0], sources.at(-1)];
  if (first && last && first !== last)
    found.push(diagnostics.rankWithJoin({ start: first.span.start, end: last.span.end }));
  for (const { kind, collection, span: sourceSpan } of sources) {
    if (kind === 'iterator') found.push(diagnostics.rankWithIterator(sourceSpan));
    if (collection.kind === 'subquery')
      found.push(diagnostics.rankOverSubquery(collection.span ?? sourceSpan));
  }
  for (const { expression } of items) {
    if (!isOfScores(expression)) found.push(diagnostics.rankFunction(span));
    else if (!isWeighted(expression)) found.push(diagnostics.rankWeights(span));
  }
}

/** A score, or RRF of two or more scores with optional weights as the last argument. */
function isOfScores(expression: Expression): boolean {
  if (expression.kind !== 'call' || !isCallOf(expression, 'RRF')) return isRankScore(expression);
  const args = expression.arguments;
  const last = args.at(-1);
  const scores = last && last.kind !== 'call' ? args.slice(0, -1) : args;
  return scores.length > 1 && scores.every(isRankScore);
}

function isRankScore(expression: Expression): boolean {
  return isCallOf(expression, 'FullTextScore') || isCallOf(expression, 'VectorDistance');
}

/** True without weights, or with one number for each score. */
function isWeighted(expression: Expression): boolean {
  const last =
    expression.kind === 'call' && isCallOf(expression, 'RRF') && expression.arguments.at(-1);
  if (!last || last.kind === 'call') return true;
  if (last.kind !== 'array' || last.items.length !== rankComponents(expression).length)
    return false;
  return last.items.every((item) => item.kind === 'literal' && typeof item.value === 'number');
}

interface RankComponent {
  readonly call: Call;
  readonly weight: number;
}

/** The scores that a rank clause fuses: one call, or the arguments of RRF, the last of which may list the weights. */
export function rankComponents(expression: Expression): readonly RankComponent[] {
  if (expression.kind !== 'call') return [];
  if (!isCallOf(expression, 'RRF')) return [{ call: expression, weight: 1 }];
  const weights = weightsOf(expression.arguments.at(-1));
  return expression.arguments
    .filter((argument) => argument.kind === 'call')
    .map((call, at) => ({ call, weight: weights?.[at] ?? 1 }));
}

export function weightsOf(expression: Expression | undefined): readonly number[] | undefined {
  if (expression?.kind !== 'array') return undefined;
  return expression.items.map((item) =>
    item.kind === 'literal' && typeof item.value === 'number' ? item.value : 1,
  );
}
