/** How a call of VectorDistance measures, and which end of its scale comes first; in which language texts are. */
import type { TextLanguage } from '../../../../search/index.ts';
import type { DistanceFunction, FunctionEnvironment } from '../functions/index.ts';
import { distanceFunctionOf, isNearestFirst } from '../functions/vector.ts';
import type { Call, Expression, OrderByItem, Query } from '../language/ast.ts';

export function isCallOf(expression: Expression, name: string): boolean {
  return expression.kind === 'call' && expression.name.toLowerCase() === name.toLowerCase();
}

/** VectorDistance, or the name that hybrid plans give it: both measure as the policy says. */
export function isVectorCall(expression: Expression): boolean {
  return isCallOf(expression, 'VectorDistance') || isCallOf(expression, '_VectorScore');
}

/** Whether ORDER BY asks for a score: no index has its order, and only the first few rows are wanted. */
export function isScore(expression: Expression): boolean {
  return SCORES.some((name) => isCallOf(expression, name));
}

/** The same of a whole query. */
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

/** Vectors come nearest first, whichever way the numbers run, unless a direction is written. */
export function isDescending(
  expression: Expression,
  direction: OrderByItem['direction'],
  policy: ReadonlyMap<string, DistanceFunction>,
): boolean {
  if (direction !== 'unspecified' || expression.kind !== 'call') return direction === 'descending';
  return isCallOf(expression, 'VectorDistance') && !isNearestFirst(distanceOf(expression, policy));
}

/** The language of the text that a call looks at, as the policy says for its path. */
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
