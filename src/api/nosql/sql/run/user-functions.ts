/**
 * Calls of user defined functions, which run in another thread. Closures are synchronous, so an evaluation is tried: a
 * call without a cached result gives undefined and is recorded. The recorded calls of many trials are evaluated in one
 * batch, and the trials that missed a result are repeated. Functions are assumed to be pure: equal calls are made once.
 */
import { DomainError, NESTING_MAX } from '../../../../base/index.ts';
import { yieldToEventLoop } from '../../../../query/index.ts';
import type { Value } from '../../../../value/index.ts';
import type { UserFunction } from '../compile/compilation.ts';
import { checkDepth } from './value-size.ts';

/** One result per call; a call is the JSON text of [name, bits of the arguments that are undefined, ...arguments]. */
type EvaluateCalls = (calls: readonly string[]) => Promise<readonly CallResult[]>;

export type CallResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'error'; readonly message: string };

/** The most calls of one batch, and their characters. */
const CALLS_MAX = 1000;
const CHARACTERS_MAX = 1024 * 1024;

/** Every round evaluates one more level of calls whose arguments depend on other calls. */
const ROUNDS_MAX = 50;

/** The state that a group of trials shares. */
interface TrialState {
  readonly cached: Map<string, CallResult>;
  readonly requested: Set<string>;
  hasMissed: boolean;
}

export class UserFunctionCalls {
  readonly #evaluate: EvaluateCalls;
  #trial: TrialState | undefined;
  /** True once a function was found. */
  isUsed = false;

  constructor(evaluate: EvaluateCalls) {
    this.#evaluate = evaluate;
  }

  functionOf(name: string): UserFunction {
    this.isUsed = true;
    return (...args) => this.#call(name, args);
  }

  #call(name: string, args: readonly Value[]): Value {
    const trial = this.#trial;
    if (trial === undefined)
      throw new DomainError(
        'invalidInput',
        `The user defined function '${name}' cannot be used in this place of a query.`,
      );
    const text = callText(name, args);
    const result = trial.cached.get(text);
    if (result === undefined) {
      trial.requested.add(text);
      trial.hasMissed = true;
      return undefined;
    }
    switch (result.kind) {
      case 'value':
        return result.value as Value;
      case 'undefined':
        return undefined;
      case 'error':
        // After a miss the evaluation is wrong anyway and will be repeated.
        if (trial.hasMissed) return undefined;
        throw new DomainError(
          'invalidInput',
          `Encountered exception while executing user defined function '${name}'. Exception = ${result.message}`,
        );
    }
  }

  /** The results of trials without side effects; each is repeated until no call is missing. */
  async complete<T>(trials: readonly (() => T)[]): Promise<T[]> {
    const { results } = await this.#completed(trials);
    return results;
  }

  /** Runs tasks with side effects once, after the trials have cached the calls that the tasks make. */
  async completeThen<T>(
    trials: readonly (() => unknown)[],
    tasks: readonly (() => T)[],
  ): Promise<T[]> {
    const { trial } = await this.#completed(trials);
    const results: T[] = [];
    for (const task of tasks) {
      await yieldToEventLoop();
      results.push(this.#within(trial, task));
      if (trial.hasMissed)
        throw new DomainError(
          'invalidInput',
          'A user defined function cannot be used on the results of a subquery with aggregates in FROM.',
        );
    }
    return results;
  }

  async #completed<T>(trials: readonly (() => T)[]): Promise<{ results: T[]; trial: TrialState }> {
    const trial: TrialState = { cached: new Map(), requested: new Set(), hasMissed: false };
    const results: T[] = new Array(trials.length);
    let remaining = trials.map((_, at) => at);
    for (let round = 0; remaining.length > 0; round++) {
      if (round === ROUNDS_MAX)
        throw new DomainError(
          'invalidInput',
          'The user defined functions of the query depend on each other too deeply.',
        );
      const missed: number[] = [];
      for (const at of remaining) {
        const yielded = yieldToEventLoop();
        if (yielded !== undefined) await yielded;
        try {
          results[at] = this.#within(trial, trials[at] as () => T);
        } catch (error) {
          // After a miss the error may come from the undefined result; the trial is repeated.
          if (!trial.hasMissed) throw error;
        }
        if (trial.hasMissed) missed.push(at);
      }
      remaining = missed;
      await this.#evaluateRequested(trial);
    }
    trial.hasMissed = false;
    return { results, trial };
  }

  #within<T>(trial: TrialState, task: () => T): T {
    trial.hasMissed = false;
    this.#trial = trial;
    try {
      return task();
    } finally {
      this.#trial = undefined;
    }
  }

  async #evaluateRequested({ cached, requested }: TrialState): Promise<void> {
    const calls = [...requested];
    requested.clear();
    for (let at = 0; at < calls.length; ) {
      const start = at;
      for (let characters = 0; at < calls.length && at - start < CALLS_MAX; at++) {
        characters += (calls[at] as string).length;
        if (at > start && characters > CHARACTERS_MAX) break;
      }
      const batch = calls.slice(start, at);
      const results = await this.#evaluate(batch);
      batch.forEach((call, index) => {
        const result = results[index] as CallResult;
        if (result.kind === 'value') checkDepth(result.value as Value, NESTING_MAX);
        cached.set(call, result);
      });
    }
  }
}

function callText(name: string, args: readonly Value[]): string {
  let missing = 0;
  for (let at = 0; at < args.length; at++) if (args[at] === undefined) missing |= 1 << at;
  return JSON.stringify([name, missing, ...args]);
}
