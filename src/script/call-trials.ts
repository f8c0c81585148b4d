/**
 * Evaluations with calls that another thread answers. Closures are synchronous, so an evaluation is tried: a call
 * without a result gives nothing and is recorded. The recorded calls of many trials are answered in one batch, and the
 * trials that missed a result are repeated. Functions are assumed to be pure: equal calls are made once.
 */
import { yieldToEventLoop } from '../query/index.ts';

/** One result per call, in order. */
type AnswerTexts<Result> = (calls: readonly string[]) => Promise<readonly Result[]>;

/** The most calls of one batch, and their characters. */
const CALLS_MAX = 1000;
const CHARACTERS_MAX = 1024 * 1024;

/** Every round answers one more level of calls whose arguments depend on other calls. */
const ROUNDS_MAX = 50;

/** The state that a group of trials shares. */
interface TrialState<Result> {
  readonly cached: Map<string, Result>;
  readonly requested: Set<string>;
  hasMissed: boolean;
}

interface TrialErrors {
  /** Calls depend on each other in too many rounds. */
  tooDeep(): Error;
  /** A task made a call that its trial had not made. */
  unforeseen(): Error;
}

export class CallTrials<Result> {
  readonly #answer: AnswerTexts<Result>;
  readonly #errors: TrialErrors;
  #trial: TrialState<Result> | undefined;

  constructor(answer: AnswerTexts<Result>, errors: TrialErrors) {
    this.#answer = answer;
    this.#errors = errors;
  }

  /** True while an evaluation is tried: only then calls can be made. */
  get isTrying(): boolean {
    return this.#trial !== undefined;
  }

  /** True where a call of this evaluation had no result: whatever it gives is wrong, and it is repeated. */
  get hasMissed(): boolean {
    return this.#trial?.hasMissed === true;
  }

  /** The result of a call; undefined where it is not there yet. */
  resultOf(call: string): Result | undefined {
    const trial = this.#trial as TrialState<Result>;
    const result = trial.cached.get(call);
    if (result !== undefined) return result;
    trial.requested.add(call);
    trial.hasMissed = true;
    return undefined;
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
      if (trial.hasMissed) throw this.#errors.unforeseen();
    }
    return results;
  }

  async #completed<T>(
    trials: readonly (() => T)[],
  ): Promise<{ results: T[]; trial: TrialState<Result> }> {
    const trial: TrialState<Result> = { cached: new Map(), requested: new Set(), hasMissed: false };
    const results: T[] = new Array(trials.length);
    let remaining = trials.map((_, at) => at);
    for (let round = 0; remaining.length > 0; round++) {
      if (round === ROUNDS_MAX) throw this.#errors.tooDeep();
      const missed: number[] = [];
      for (const at of remaining) {
        const yielded = yieldToEventLoop();
        if (yielded !== undefined) await yielded;
        try {
          results[at] = this.#within(trial, trials[at] as () => T);
        } catch (error) {
          // After a miss the error may come from the missing result; the trial is repeated.
          if (!trial.hasMissed) throw error;
        }
        if (trial.hasMissed) missed.push(at);
      }
      remaining = missed;
      await this.#answerRequested(trial);
    }
    trial.hasMissed = false;
    return { results, trial };
  }

  #within<T>(trial: TrialState<Result>, task: () => T): T {
    trial.hasMissed = false;
    this.#trial = trial;
    try {
      return task();
    } finally {
      this.#trial = undefined;
    }
  }

  async #answerRequested({ cached, requested }: TrialState<Result>): Promise<void> {
    const calls = [...requested];
    requested.clear();
    for (const batch of callBatches(calls)) {
      const results = await this.#answer(batch);
      for (const [at, call] of batch.entries()) cached.set(call, results[at] as Result);
    }
  }
}

/** Calls in batches, none of which keeps a thread for long. */
export function* callBatches(calls: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < calls.length; ) {
    const start = at;
    for (let characters = 0; at < calls.length && at - start < CALLS_MAX; at++) {
      characters += (calls[at] as string).length;
      if (at > start && characters > CHARACTERS_MAX) break;
    }
    yield calls.slice(start, at);
  }
}
