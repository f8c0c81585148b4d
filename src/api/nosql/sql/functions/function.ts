/** The type of system functions, and helpers to define them. */
import type { Clock, Random } from '../../../../base/index.ts';
import type { TextLanguage } from '../../../../search/index.ts';
import type { Value } from '../../../../value/index.ts';

export interface SystemFunction {
  /** The spelling in messages of the service; lookup ignores case. */
  readonly name: string;
  readonly argumentsMin: number;
  /** Infinity for a function of any number of arguments. */
  readonly argumentsMax: number;
  /** Whether evaluate handles undefined arguments; otherwise one of them makes the result undefined. */
  readonly takesUndefined: boolean;
  /** Whether equal arguments always give equal results, so that a constant call can be computed once. */
  readonly isDeterministic: boolean;
  readonly evaluate: Evaluate;
}

/** Gets the arguments in the order of the query, between argumentsMin and argumentsMax of them. */
type Evaluate = (...args: readonly Value[]) => Value;

/** The measure of vectors: angle, distance or product. */
export type DistanceFunction = 'cosine' | 'euclidean' | 'dotproduct';

export interface FunctionEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  /** Coordinates on the Earth or in a plane, from the container's geospatial configuration. */
  readonly geospatial: 'geography' | 'geometry';
  /** Distance functions of vectors by path, such as /embedding. */
  readonly vectorPolicy: ReadonlyMap<string, DistanceFunction>;
  /** Languages of texts by path; the empty path has the default language. */
  readonly textLanguages: ReadonlyMap<string, TextLanguage>;
}

type Counts = number | readonly [min: number, max: number];

/** A function that is undefined when an argument is. */
export function define(name: string, counts: Counts, evaluate: Evaluate): SystemFunction {
  return entry(name, counts, evaluate, {});
}

/** A function that handles undefined arguments. */
export function defineTotal(name: string, counts: Counts, evaluate: Evaluate): SystemFunction {
  return entry(name, counts, evaluate, { takesUndefined: true });
}

/** A function that depends on time or randomness. */
export function defineVolatile(name: string, counts: Counts, evaluate: Evaluate): SystemFunction {
  return entry(name, counts, evaluate, { isDeterministic: false });
}

function entry(
  name: string,
  counts: Counts,
  evaluate: Evaluate,
  traits: { readonly takesUndefined?: boolean; readonly isDeterministic?: boolean },
): SystemFunction {
  const [argumentsMin, argumentsMax] = typeof counts === 'number' ? [counts, counts] : counts;
  return {
    name,
    argumentsMin,
    argumentsMax,
    takesUndefined: traits.takesUndefined ?? false,
    isDeterministic: traits.isDeterministic ?? true,
    evaluate,
  };
}

/** True if the test holds for any value, else undefined if it is undefined for one, else false: a chain of OR. */
export function anyOf(values: readonly Value[], test: (value: Value) => Value): Value {
  let result: Value = false;
  for (const value of values) {
    const holds = test(value);
    if (holds === true) return true;
    if (holds !== false) result = undefined;
  }
  return result;
}

/** False if the test fails for any value, else undefined if it is undefined for one, else true: a chain of AND. */
export function everyOf(values: readonly Value[], test: (value: Value) => Value): Value {
  let result: Value = true;
  for (const value of values) {
    const holds = test(value);
    if (holds === false) return false;
    if (holds !== true) result = undefined;
  }
  return result;
}

/** Infinities and NaN are no values of the language. */
export function finite(value: number): Value {
  return Number.isFinite(value) ? value : undefined;
}
