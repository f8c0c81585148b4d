/** ORDER BY RANK: FullTextScore, VectorDistance, and RRF over them with optional weights. */
import type { Call, Expression, OrderBy } from './ast.ts';
import { type Compilation, compileExpression, type Scope } from './compile-expression.ts';
import { problems } from './errors.ts';
import { distanceFunctionOf, isNearestFirst } from './functions/vector.ts';
import type { ScoreComponent } from './rank.ts';

export function compileRank(
  orderBy: OrderBy,
  scope: Scope,
  compilation: Compilation,
): readonly ScoreComponent[] {
  return orderBy.items.flatMap(({ expression }) =>
    rankComponents(expression).map(({ call, weight }): ScoreComponent => {
      if (isCallOf(call, 'FullTextScore'))
        return {
          kind: 'text',
          weight,
          args: call.arguments.map((arg) => compileExpression(arg, scope, compilation)),
        };
      if (!isCallOf(call, 'VectorDistance'))
        compilation.problems.push(problems.syntax(call.name, call.nameSpan));
      return {
        kind: 'value',
        weight,
        value: compileExpression(call, scope, compilation),
        isAscending: isNearestFirst(distanceOf(call)),
      };
    }),
  );
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

export function isCallOf(expression: Expression, name: string): boolean {
  return expression.kind === 'call' && expression.name.toLowerCase() === name.toLowerCase();
}

/** The distance function that the call itself names; cosine otherwise. */
export function distanceOf(call: Call): 'cosine' | 'euclidean' | 'dotproduct' {
  const options = call.arguments[3];
  if (options?.kind !== 'object') return 'cosine';
  const named = options.properties.find(({ name }) => name === 'distanceFunction')?.value;
  return (named?.kind === 'literal' ? distanceFunctionOf(named.value) : undefined) ?? 'cosine';
}
