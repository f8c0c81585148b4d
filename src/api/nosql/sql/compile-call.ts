/** Calls of system functions → closures. */
import type { Call, Expression } from './ast.ts';
import { type Compiled, START_SLOT } from './block.ts';
import { type Compilable, type Compilation, constantOf, folded, varying } from './compilation.ts';
import { problems } from './errors.ts';
import {
  findFunction,
  findTextFunction,
  type SystemFunction,
  staticClockFunctions,
} from './functions/index.ts';
import { vectorDistanceFunction } from './functions/vector.ts';
import { distanceOf, isCallOf, languageOf } from './vector-order.ts';

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
  const found = isCallOf(expression, 'VectorDistance')
    ? vectorDistanceFunction(distanceOf(expression, compilation.environment.vectorPolicy))
    : (findTextFunction(name, languageOf(expression, compilation.environment)) ??
      findFunction(name, compilation.environment));
  const args = expression.arguments.map(inner);
  if (!found) {
    compilation.problems.push(problems.unknownFunction(name, expression.nameSpan));
    return constantOf(undefined);
  }
  if (args.length < found.argumentsMin || args.length > found.argumentsMax) {
    compilation.problems.push(
      problems.argumentCount(found.name, argumentCounts(found), expression.span),
    );
    return constantOf(undefined);
  }
  const run = callOf(
    found,
    args.map((arg) => arg.run),
  );
  return found.isDeterministic ? folded(run, ...args) : varying(run);
}

export function argumentCounts({
  argumentsMin,
  argumentsMax,
}: Pick<SystemFunction, 'argumentsMin' | 'argumentsMax'>): string {
  if (argumentsMin === argumentsMax) return String(argumentsMin);
  return Number.isFinite(argumentsMax)
    ? `${argumentsMin} to ${argumentsMax}`
    : `at least ${argumentsMin}`;
}

/** Calls of one, two and three arguments pass them directly; an array per row would cost more than most functions. */
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
