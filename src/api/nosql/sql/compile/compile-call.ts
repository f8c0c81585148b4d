/** Calls of system functions → closures. */

import { diagnostics } from '../errors.ts';
import {
  findFunction,
  findTextFunction,
  type SystemFunction,
  staticClockFunctions,
} from '../functions/index.ts';
import { vectorDistanceFunction } from '../functions/vector.ts';
import type { Call, Expression } from '../language/ast.ts';
import { distanceOf, isCallOf, isVectorCall, languageOf } from '../run/vector-order.ts';
import { type Compiled, START_SLOT } from './block.ts';
import {
  type Compilable,
  type Compilation,
  constantFolded,
  constantOf,
  varying,
} from './compilation.ts';

/** Names of numbers that are no values of the language: undefined, except that ToString prints them. */
export const NOT_FINITE: ReadonlySet<string> = new Set(['NaN', 'Infinity']);

export function compileCall(
  expression: Call,
  inner: (part: Expression) => Compilable,
  compilation: Compilation,
): Compilable {
  const { name } = expression;
  const fromStart = staticClockFunctions.get(name.toLowerCase());
  if (fromStart && expression.arguments.length === 0 && compilation.startMs !== undefined)
    return constantOf(fromStart(compilation.startMs));
  if (fromStart && expression.arguments.length === 0)
    return varying((row) => fromStart(row[START_SLOT] as number));
  if (isCallOf(expression, 'FullTextScore'))
    return scoreOutsideRank(expression, inner, compilation);
  checkSearchListSize(expression, compilation);
  const found = isVectorCall(expression)
    ? vectorDistanceFunction(name, distanceOf(expression, compilation.environment.vectorPolicy))
    : (findTextFunction(name, languageOf(expression, compilation.environment)) ??
      findFunction(name, compilation.environment));
  const args = expression.arguments.map(inner);
  if (!found) {
    compilation.diagnostics.push(diagnostics.unknownFunction(name, expression.nameSpan));
    return constantOf(undefined);
  }
  if (args.length < found.argumentsMin || args.length > found.argumentsMax) {
    compilation.diagnostics.push(
      diagnostics.argumentCount(found.name, argumentCounts(found), expression.span),
    );
    return constantOf(undefined);
  }
  const [only] = expression.arguments;
  if (found.name === 'ToString' && only?.kind === 'identifier' && NOT_FINITE.has(only.name))
    if (args[0]?.constant) return constantOf(only.name);
  const run = callOf(
    found,
    args.map((arg) => arg.run),
  );
  return found.isDeterministic ? constantFolded(run, ...args) : varying(run);
}

/** A score outside ORDER BY RANK is an error; the rank clause does not compile its scores here. */
function scoreOutsideRank(
  expression: Call,
  inner: (part: Expression) => Compilable,
  compilation: Compilation,
): Compilable {
  for (const argument of expression.arguments) inner(argument);
  compilation.diagnostics.push(diagnostics.scorePlace(expression.span));
  return constantOf(undefined);
}

/** The documented range of the factor between candidates and results of a search. */
const SEARCH_LIST_SIZE = { min: 1, max: 100 } as const;

function checkSearchListSize(expression: Call, { diagnostics: found }: Compilation): void {
  const options = isVectorCall(expression) ? expression.arguments[3] : undefined;
  if (options?.kind !== 'object') return;
  const size = options.properties.find(({ name }) => name === 'searchListSizeMultiplier')?.value;
  if (size?.kind !== 'literal' || typeof size.value !== 'number') return;
  const { min, max } = SEARCH_LIST_SIZE;
  if (size.value < min || size.value > max)
    found.push(diagnostics.searchListSize(size.value, options.span));
}

function argumentCounts({
  argumentsMin,
  argumentsMax,
}: Pick<SystemFunction, 'argumentsMin' | 'argumentsMax'>): string {
  if (argumentsMin === argumentsMax) return String(argumentsMin);
  return Number.isFinite(argumentsMax)
    ? `${argumentsMin} to ${argumentsMax}`
    : `at least ${argumentsMin}`;
}

/** Up to three arguments are passed directly; an array per row would cost more than most functions. */
function callOf({ evaluate, takesUndefined }: SystemFunction, args: readonly Compiled[]): Compiled {
  const [first, second, third] = args;
  if (takesUndefined) {
    if (first && args.length === 1) return (row) => evaluate(first(row));
    return (row) => evaluate(...args.map((arg) => arg(row)));
  }
  if (first && args.length === 1)
    return (row) => {
      const a = first(row);
      return a === undefined ? undefined : evaluate(a);
    };
  if (first && second && args.length === 2)
    return (row) => {
      const a = first(row);
      const b = second(row);
      return a === undefined || b === undefined ? undefined : evaluate(a, b);
    };
  if (first && second && third && args.length === 3)
    return (row) => {
      const a = first(row);
      const b = second(row);
      const c = third(row);
      return a === undefined || b === undefined || c === undefined ? undefined : evaluate(a, b, c);
    };
  return (row) => {
    const values = args.map((arg) => arg(row));
    return values.includes(undefined) ? undefined : evaluate(...values);
  };
}
