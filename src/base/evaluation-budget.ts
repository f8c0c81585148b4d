/**
 * Limits of evaluating expressions of clients: bytes of the values they create, and time. Functions call `draw`
 * before they create a text, a list or an object. They call `spend` while they work, or before work that cannot be
 * interrupted. One evaluation is that of an item, a group or a final sort.
 *
 * Evaluation is synchronous, so the current budget is one variable of the thread. The dozens of functions, operators
 * and comparisons need no argument for it. Outside of any budget both calls do nothing.
 */
import { DomainError } from './errors.ts';

export interface EvaluationLimits {
  /** Bytes of all values that one evaluation creates. */
  readonly bytes: number;
  /** Steps of about ten nanoseconds that one call may spend, since the clock is not read during the call. */
  readonly stepsAtOnce: number;
  /** Steps of one evaluation, for limits that must not depend on how busy the machine is. */
  readonly steps: number;
  /** Steps of all evaluations since the budget was renewed. */
  readonly stepsTotal: number;
  /** Time of one evaluation; where it cannot be moved, CPU time of the thread: a busy machine is no reason to refuse. */
  readonly ms: number;
  /** Time of all long evaluations together. */
  readonly totalMs: number;
  /** Time limit of a regular expression that could take for ever; 0 refuses it. */
  readonly regexTimeoutMs: number;
  /** True where the caller can continue in another thread: then `EvaluationTooLong` is thrown instead of a refusal. */
  readonly isMovable: boolean;
}

/**
 * Not an error: the evaluation has to start again in a thread where it blocks nobody. Callers with movable limits
 * catch it.
 */
export class EvaluationTooLong extends Error {
  override readonly name = 'EvaluationTooLong';
  /** True where one value is large; other items may be small. */
  readonly isSize: boolean;

  constructor(isSize = false) {
    super('evaluation takes too long here');
    this.isSize = isSize;
  }
}

/** Steps between two reads of the clock: some ten microseconds. */
const STEPS_PER_CHECK = 2000;

let current: EvaluationBudget | undefined;
let stepsLeft = Number.POSITIVE_INFINITY;
let bytesLeft = Number.POSITIVE_INFINITY;
/** Time of long evaluations in the current turn of the event loop. */
let loopTurnMs = 0;
let isResetScheduled = false;

/** Counts steps of about ten nanoseconds, before or after they are taken. */
export function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) current?.checkLimits(steps);
}

/** Must be called before a value of about so many bytes is created. */
export function draw(bytes: number): void {
  bytesLeft -= bytes;
  if (bytesLeft < 0) current?.refuseSize();
  spend(1 + bytes / 16);
}

/** Bytes of a list of so many entries, without the entries. */
export function listBytes(length: number): number {
  return 32 + 8 * length;
}

/** Begins the next of many results of one evaluation: the last one is stored elsewhere or was dropped. */
export function beginResult(): void {
  if (current !== undefined) bytesLeft = current.bytes;
}

/** Time limit of a regular expression under the current budget; undefined outside of any budget. */
export function regexTimeoutMs(): number | undefined {
  return current?.watchMs();
}

/** One per request, or per page of it. Every item, group and final sort is one evaluation. */
export class EvaluationBudget {
  readonly #limits: EvaluationLimits;
  #startedMs: number | undefined;
  #startedCpuMs = 0;
  #steps = 0;
  #stepsTotal = 0;
  #totalMs = 0;

  constructor(limits: EvaluationLimits) {
    this.#limits = limits;
  }

  /** Begins the budget of the next request that shares this object. */
  renew(): void {
    this.#stepsTotal = 0;
  }

  get bytes(): number {
    return this.#limits.bytes;
  }

  /** Runs one evaluation within the budget. */
  run<T>(work: () => T): T {
    const outer = this.enter();
    try {
      return work();
    } finally {
      this.leave(outer);
    }
  }

  /** For callers that evaluate every row: `leave` must follow with the result, also after an error. */
  enter(): EvaluationBudget | undefined {
    if (this.#stepsTotal > this.#limits.stepsTotal) throw this.#tooLong();
    const outer = current;
    current = this;
    this.#steps = 0;
    stepsLeft = STEPS_PER_CHECK;
    bytesLeft = this.#limits.bytes;
    this.#startedMs = undefined;
    return outer;
  }

  leave(outer: EvaluationBudget | undefined): void {
    this.#stepsTotal += this.#steps + STEPS_PER_CHECK - stepsLeft;
    if (this.#startedMs !== undefined) {
      if (!isResetScheduled) scheduleReset();
      const ms = performance.now() - this.#startedMs;
      this.#totalMs += ms;
      loopTurnMs += ms;
    }
    current = outer;
    // The outer budget continues with the limits of a whole evaluation. Nested budgets are rare and small.
    stepsLeft = outer === undefined ? Number.POSITIVE_INFINITY : STEPS_PER_CHECK;
    bytesLeft = outer === undefined ? Number.POSITIVE_INFINITY : outer.#limits.bytes;
  }

  checkLimits(steps: number): void {
    const { ms, totalMs, stepsAtOnce, isMovable } = this.#limits;
    this.#steps += STEPS_PER_CHECK - stepsLeft;
    stepsLeft = STEPS_PER_CHECK;
    if (steps > stepsAtOnce || this.#steps > this.#limits.steps) throw this.#tooLong();
    const nowMs = performance.now();
    if (this.#startedMs === undefined) {
      this.#startedMs = nowMs;
      if (!isMovable) this.#startedCpuMs = threadCpuMs();
    }
    const evaluationMs = nowMs - this.#startedMs;
    // Evaluations in the same turn of the event loop block other requests as one.
    if (isMovable && (evaluationMs > ms || evaluationMs + loopTurnMs > 2 * ms))
      throw this.#tooLong();
    if (evaluationMs > ms && threadCpuMs() - this.#startedCpuMs > ms) throw this.#tooLong();
    if (this.#totalMs + evaluationMs > totalMs) throw this.#tooLong();
  }

  refuseSize(): void {
    if (this.#limits.isMovable) throw new EvaluationTooLong();
    throw new DomainError(
      'invalidInput',
      'The query exceeded the size of the values that it may compute of one item; make them smaller.',
    );
  }

  watchMs(): number {
    if (this.#limits.regexTimeoutMs === 0) throw this.#tooLong();
    return this.#limits.regexTimeoutMs;
  }

  #tooLong(): Error {
    return this.#limits.isMovable ? new EvaluationTooLong() : evaluationTimeout();
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function scheduleReset(): void {
  isResetScheduled = true;
  setImmediate(() => {
    loopTurnMs = 0;
    isResetScheduled = false;
  });
}

export function evaluationTimeout(): DomainError {
  return new DomainError(
    'invalidInput',
    'The query exceeded the time that it may take to evaluate; make it simpler, or add a filter.',
  );
}

const MIB = 1024 * 1024;

/**
 * On the thread that serves requests, where the rest can move to another thread: others wait some milliseconds at
 * most.
 */
export const MOVABLE_EVALUATION: EvaluationLimits = {
  bytes: MIB,
  stepsAtOnce: 300_000,
  steps: Number.POSITIVE_INFINITY,
  stepsTotal: Number.POSITIVE_INFINITY,
  ms: 6,
  totalMs: Number.POSITIVE_INFINITY,
  regexTimeoutMs: 0,
  isMovable: true,
};

/** On the same thread where nothing can be moved: evaluations beyond the limits are refused. */
export const FIXED_EVALUATION: EvaluationLimits = {
  bytes: 4 * MIB,
  stepsAtOnce: 600_000,
  steps: Number.POSITIVE_INFINITY,
  stepsTotal: Number.POSITIVE_INFINITY,
  ms: 12,
  totalMs: 2000,
  regexTimeoutMs: 8,
  isMovable: false,
};

/** For constants before the first row: expressions that take more work are evaluated with the rows. */
export const CONSTANT_EVALUATION: EvaluationLimits = {
  bytes: 64 * 1024,
  stepsAtOnce: 50_000,
  steps: 50_000,
  stepsTotal: 300_000,
  ms: Number.POSITIVE_INFINITY,
  totalMs: Number.POSITIVE_INFINITY,
  regexTimeoutMs: 0,
  isMovable: true,
};

/** For values of an index that are tested before their items are read: longer tests are left to the items. */
export const INDEX_TEST_EVALUATION: EvaluationLimits = {
  ...CONSTANT_EVALUATION,
  stepsTotal: Number.POSITIVE_INFINITY,
};

/** For properties that an index holds: the result must not depend on how busy the machine is. */
export const INDEXED_EVALUATION: EvaluationLimits = {
  bytes: MIB,
  stepsAtOnce: 300_000,
  steps: 300_000,
  stepsTotal: Number.POSITIVE_INFINITY,
  ms: Number.POSITIVE_INFINITY,
  totalMs: Number.POSITIVE_INFINITY,
  regexTimeoutMs: 2,
  isMovable: false,
};

/** For callers that block nobody. */
export const BACKGROUND_EVALUATION: EvaluationLimits = {
  ...threadEvaluation(60_000),
  regexTimeoutMs: 100,
};

/** For one page in a thread of its own. */
export function threadEvaluation(timeMs: number): EvaluationLimits {
  return {
    bytes: 64 * MIB,
    stepsAtOnce: Number.POSITIVE_INFINITY,
    steps: Number.POSITIVE_INFINITY,
    stepsTotal: Number.POSITIVE_INFINITY,
    ms: timeMs,
    totalMs: timeMs,
    regexTimeoutMs: 1000,
    isMovable: false,
  };
}
