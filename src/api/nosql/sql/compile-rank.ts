/** ORDER BY RANK: FullTextScore, VectorDistance, and RRF over them with optional weights. */
import type { Call, Expression, OrderBy } from './ast.ts';
import type { Compilation, Scope } from './compilation.ts';
import { compileExpression } from './compile-expression.ts';
import { problems } from './errors.ts';
import { isNearestFirst } from './functions/vector.ts';
import type { ScoreComponent } from './rank.ts';
import { distanceOf, isCallOf, languageOf } from './vector-order.ts';

export function compileRank(
  orderBy: OrderBy,
  scope: Scope,
  compilation: Compilation,
): readonly ScoreComponent[] {
  if (orderBy.items.some(({ direction }) => direction !== 'unspecified'))
    compilation.problems.push(problems.rankDirection());
  for (const { expression } of orderBy.items) checkWeights(expression, compilation);
  return orderBy.items.flatMap(({ expression }) =>
    rankComponents(expression).map(({ call, weight }): ScoreComponent => {
      if (isCallOf(call, 'FullTextScore'))
        return {
          kind: 'text',
          weight,
          language: languageOf(call, compilation.environment),
          args: call.arguments.map((arg) => compileExpression(arg, scope, compilation)),
        };
      if (!isCallOf(call, 'VectorDistance'))
        compilation.problems.push(problems.syntax(call.name, call.nameSpan));
      return {
        kind: 'value',
        weight,
        value: compileExpression(call, scope, compilation),
        isAscending: isNearestFirst(distanceOf(call, compilation.environment.vectorPolicy)),
      };
    }),
  );
}

/** One weight for each score that RRF fuses, where it has any. */
function checkWeights(expression: Expression, compilation: Compilation): void {
  if (expression.kind !== 'call' || !isCallOf(expression, 'RRF')) return;
  const weights = weightsOf(expression.arguments.at(-1));
  const scores = rankComponents(expression).length;
  if (weights !== undefined && weights.length !== scores)
    compilation.problems.push(problems.weightCount(weights.length, scores));
}

export interface RankComponent {
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
