/** Calls of user defined functions, which run in another thread; evaluations are tried until no result is missing. */
import { DomainError, NESTING_MAX } from '../../../../base/index.ts';
import { CallTrials } from '../../../../script/index.ts';
import type { Value } from '../../../../value/index.ts';
import type { UserFunction } from '../compile/compilation.ts';
import { checkDepth } from './value-size.ts';

/** One result per call; a call is the JSON text of [name, bits of the arguments that are undefined, ...arguments]. */
type EvaluateCalls = (calls: readonly string[]) => Promise<readonly CallResult[]>;

export type CallResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'error'; readonly message: string };

export class UserFunctionCalls {
  readonly #trials: CallTrials<CallResult>;
  /** True once a function was found. */
  isUsed = false;

  constructor(evaluate: EvaluateCalls) {
    const answer: EvaluateCalls = async (calls) => {
      const results = await evaluate(calls);
      for (const result of results)
        if (result.kind === 'value') checkDepth(result.value as Value, NESTING_MAX);
      return results;
    };
    this.#trials = new CallTrials(answer, {
      tooDeep: () =>
        refused('The user defined functions of the query depend on each other too deeply.'),
      unforeseen: () =>
        refused(
          'A user defined function cannot be used on the results of a subquery with aggregates in FROM.',
        ),
    });
  }

  functionOf(name: string): UserFunction {
    this.isUsed = true;
    return (...args) => this.#call(name, args);
  }

  #call(name: string, args: readonly Value[]): Value {
    if (!this.#trials.isTrying)
      throw refused(`The user defined function '${name}' cannot be used in this place of a query.`);
    const result = this.#trials.resultOf(callText(name, args));
    switch (result?.kind) {
      case 'value':
        return result.value as Value;
      case 'error':
        // After a miss the evaluation is wrong anyway and will be repeated.
        if (this.#trials.hasMissed) return undefined;
        throw refused(
          `Encountered exception while executing user defined function '${name}'. Exception = ${result.message}`,
        );
      default:
        return undefined;
    }
  }

  /** The results of trials without side effects; each is repeated until no call is missing. */
  complete<T>(trials: readonly (() => T)[]): Promise<T[]> {
    return this.#trials.complete(trials);
  }

  /** Runs tasks with side effects once, after the trials have cached the calls that the tasks make. */
  completeThen<T>(trials: readonly (() => unknown)[], tasks: readonly (() => T)[]): Promise<T[]> {
    return this.#trials.completeThen(trials, tasks);
  }
}

function refused(message: string): DomainError {
  return new DomainError('invalidInput', message);
}

function callText(name: string, args: readonly Value[]): string {
  let missing = 0;
  for (let at = 0; at < args.length; at++) if (args[at] === undefined) missing |= 1 << at;
  return JSON.stringify([name, missing, ...args]);
}
