/** Properties of scoring calls: distance function and direction of VectorDistance, language of full text calls. */
import type { TextLanguage } from '../../../../search/index.ts';
import type { DistanceFunction, FunctionEnvironment } from '../functions/index.ts';
import { distanceFunctionOf, isNearestFirst } from '../functions/vector.ts';
import type { Call, Expression, OrderByItem, Query } from '../language/ast.ts';

export function isCallOf(expression: Expression, name: string): boolean {
  return expression.kind === 'call' && expression.name.toLowerCase() === name.toLowerCase();
}

/** VectorDistance, or the name that hybrid plans give it: both use the distance function of the policy. */
export function isVectorCall(expression: Expression): boolean {
  return isCallOf(expression, 'VectorDistance') || isCallOf(expression, '_VectorScore');
}

/** Whether an ORDER BY item is a score, which no index has in order. */
export function isScore(expression: Expression): boolean {
  return SCORES.some((name) => isCallOf(expression, name));
}

/** Whether the query is ordered by a score. */
export function isByScore({ orderBy }: Query): boolean {
  return (orderBy?.items ?? []).some(({ expression }) => isScore(expression));
}

const SCORES = ['VectorDistance', '_VectorScore', '_FullTextScore'];

/** The distance function that the call itself names, else that of the policy for the path, else cosine. */
export function distanceOf(
  call: Call,
  policy: ReadonlyMap<string, DistanceFunction>,
): DistanceFunction {
  const options = call.arguments[3];
  const properties = options?.kind === 'object' ? options.properties : [];
  const named = properties.find(({ name }) => name === 'distanceFunction')?.value;
  const chosen = named?.kind === 'literal' ? distanceFunctionOf(named.value) : undefined;
  if (chosen) return chosen;
  const paths = call.arguments.slice(0, 2).map(pathText);
  return paths.map((path) => policy.get(path)).find((found) => found !== undefined) ?? 'cosine';
}

/** Nearest vectors come first, whatever the distance function, unless a direction is written. */
export function isDescending(
  expression: Expression,
  direction: OrderByItem['direction'],
  policy: ReadonlyMap<string, DistanceFunction>,
): boolean {
  if (direction !== 'unspecified' || expression.kind !== 'call') return direction === 'descending';
  return isCallOf(expression, 'VectorDistance') && !isNearestFirst(distanceOf(expression, policy));
}

/** The language of the text argument of a call, by the policy for its path. */
export function languageOf(
  { arguments: [text] }: Call,
  { textLanguages }: Pick<FunctionEnvironment, 'textLanguages'>,
): TextLanguage {
  const named = text && textLanguages.get(pathText(text));
  return named ?? textLanguages.get('') ?? 'en';
}

/** `c.a["b"]` as /a/b. */
function pathText(expression: Expression): string {
  if (expression.kind === 'property') return `${pathText(expression.base)}/${expression.name}`;
  if (expression.kind === 'index' && expression.index.kind === 'literal')
    return `${pathText(expression.base)}/${expression.index.value}`;
  return '';
}
