/**
 * Calls of user defined functions, which run elsewhere. Closures are synchronous, so a piece of work is tried: what it
 * asks for and is not known yet gives undefined and is noted; the notes of many pieces are answered together, and those
 * that missed something are tried again. Functions are taken to be pure: equal calls are made once.
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

/** Calls answered together, and their characters. */
const CALLS_MAX = 1000;
const CHARACTERS_MAX = 1024 * 1024;

/** Functions of functions, and subqueries that depend on what they give: every round answers one more level. */
const ROUNDS_MAX = 50;

/** What pieces of work that are tried together know. */
interface Trial {
  readonly known: Map<string, CallResult>;
  readonly asked: Set<string>;
  hasMissed: boolean;
}

export class UserFunctionCalls {
  readonly #evaluate: EvaluateCalls;
  #trial: Trial | undefined;
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
    const result = trial.known.get(text);
    if (result === undefined) {
      trial.asked.add(text);
      trial.hasMissed = true;
      return undefined;
    }
    switch (result.kind) {
      case 'value':
        return result.value as Value;
      case 'undefined':
        return undefined;
      case 'error':
        // What follows a miss may never be reached.
        if (trial.hasMissed) return undefined;
        throw new DomainError(
          'invalidInput',
          `Encountered exception while executing user defined function '${name}'. Exception = ${result.message}`,
        );
    }
  }

  /** The results of pieces of work that change nothing; each is done until it has all it asks for. */
  async settle<T>(pieces: readonly (() => T)[]): Promise<T[]> {
    const { results } = await this.#settled(pieces);
    return results;
  }

  /** Does things that change something, knowing all that the pieces asked for. */
  async settleThen<T>(
    pieces: readonly (() => unknown)[],
    works: readonly (() => T)[],
  ): Promise<T[]> {
    const { trial } = await this.#settled(pieces);
    const results: T[] = [];
    for (const work of works) {
      await yieldToEventLoop();
      results.push(this.#within(trial, work));
      if (trial.hasMissed)
        throw new DomainError(
          'invalidInput',
          'A user defined function cannot be used on the results of a subquery with aggregates in FROM.',
        );
    }
    return results;
  }

  async #settled<T>(pieces: readonly (() => T)[]): Promise<{ results: T[]; trial: Trial }> {
    const trial: Trial = { known: new Map(), asked: new Set(), hasMissed: false };
    const results: T[] = new Array(pieces.length);
    let left = pieces.map((_, at) => at);
    for (let round = 0; left.length > 0; round++) {
      if (round === ROUNDS_MAX)
        throw new DomainError(
          'invalidInput',
          'The user defined functions of the query depend on each other too deeply.',
        );
      const missed: number[] = [];
      for (const at of left) {
        const rest = yieldToEventLoop();
        if (rest !== undefined) await rest;
        try {
          results[at] = this.#within(trial, pieces[at] as () => T);
        } catch (error) {
          if (!trial.hasMissed) throw error;
        }
        if (trial.hasMissed) missed.push(at);
      }
      left = missed;
      await this.#answer(trial);
    }
    trial.hasMissed = false;
    return { results, trial };
  }

  #within<T>(trial: Trial, work: () => T): T {
    trial.hasMissed = false;
    this.#trial = trial;
    try {
      return work();
    } finally {
      this.#trial = undefined;
    }
  }

  async #answer({ known, asked }: Trial): Promise<void> {
    const calls = [...asked];
    asked.clear();
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
        known.set(call, result);
      });
    }
  }
}

function callText(name: string, args: readonly Value[]): string {
  let missing = 0;
  for (let at = 0; at < args.length; at++) if (args[at] === undefined) missing |= 1 << at;
  return JSON.stringify([name, missing, ...args]);
}
