/**
 * What evaluating expressions of clients may take: bytes of the values they make, and time. Functions call `draw` before
 * they make a text, a list or an object, and `spend` as they go or before they do something that nothing can interrupt.
 *
 * Evaluation is synchronous, so whose budget it draws on is one variable of the thread: the dozens of functions, operators
 * and comparisons need no argument for it. Outside of any budget both calls do nothing.
 */
import { DomainError } from './errors.ts';

export interface EvaluationLimits {
  /** Of all values that are made within one stretch. */
  readonly bytes: number;
  /** Steps of some ten nanoseconds that may be spent by one call: nobody looks at the clock meanwhile. */
  readonly stepsAtOnce: number;
  /** Of one stretch, where its end shall not depend on how busy the machine is. */
  readonly steps: number;
  /** Of all stretches since the budget was renewed. */
  readonly stepsInAll: number;
  /** Of one stretch. */
  readonly ms: number;
  /** Of all long stretches together. */
  readonly totalMs: number;
  /** How long a regular expression may run that could take for ever; 0 for not at all. */
  readonly watchMs: number;
  /** True where whoever asked can go on elsewhere: then `EvaluationTooLong` is thrown, else a refusal. */
  readonly isMovable: boolean;
}

/** Not an error: the evaluation has to be begun again where it disturbs nobody. Whoever makes movable limits catches it. */
export class EvaluationTooLong extends Error {
  override readonly name = 'EvaluationTooLong';
  /** True where something is large: other items may be small. */
  readonly isSize: boolean;

  constructor(isSize = false) {
    super('evaluation takes too long here');
    this.isSize = isSize;
  }
}

/** Steps between two looks at the clock: some ten microseconds. */
const STEPS_PER_LOOK = 2000;

let current: EvaluationBudget | undefined;
let stepsLeft = Number.POSITIVE_INFINITY;
let bytesLeft = Number.POSITIVE_INFINITY;
/** What long stretches took since the event loop had its last turn. */
let turnMs = 0;
let isTurnMarked = false;

/** Takes note of so many steps of some ten nanoseconds, before or after they are taken. */
export function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) current?.look(steps);
}

/** To be called before a value of about so many bytes is made. */
export function draw(bytes: number): void {
  bytesLeft -= bytes;
  if (bytesLeft < 0) current?.refuseSize();
  spend(1 + bytes / 16);
}

/** Bytes of a list of so many entries that it does not own. */
export function listBytes(length: number): number {
  return 32 + 8 * length;
}

/** The next of many results that are made in one stretch: what the last took is kept elsewhere or gone. */
export function beginResult(): void {
  if (current !== undefined) bytesLeft = current.bytes;
}

/** How long a regular expression may be watched here; undefined outside of any budget. */
export function regexWatchMs(): number | undefined {
  return current?.watchMs();
}

/** One per request, or per page of it: every item, group and final sort is a stretch of its own. */
export class EvaluationBudget {
  readonly #limits: EvaluationLimits;
  #startedMs: number | undefined;
  #steps = 0;
  #stepsInAll = 0;
  #totalMs = 0;

  constructor(limits: EvaluationLimits) {
    this.#limits = limits;
  }

  /** For the next of those who share it. */
  renew(): void {
    this.#stepsInAll = 0;
  }

  get bytes(): number {
    return this.#limits.bytes;
  }

  /** Does work within the budget, as a stretch of its own. */
  run<T>(work: () => T): T {
    const outer = this.enter();
    try {
      return work();
    } finally {
      this.leave(outer);
    }
  }

  /** For those who do it for every row: `leave` must follow with the result, whatever happens. */
  enter(): EvaluationBudget | undefined {
    if (this.#stepsInAll > this.#limits.stepsInAll) throw this.#tooLong();
    const outer = current;
    current = this;
    this.#steps = 0;
    stepsLeft = STEPS_PER_LOOK;
    bytesLeft = this.#limits.bytes;
    this.#startedMs = undefined;
    return outer;
  }

  leave(outer: EvaluationBudget | undefined): void {
    this.#stepsInAll += this.#steps + STEPS_PER_LOOK - stepsLeft;
    if (this.#startedMs !== undefined) {
      if (!isTurnMarked) markTurn();
      const ms = performance.now() - this.#startedMs;
      this.#totalMs += ms;
      turnMs += ms;
    }
    current = outer;
    // An outer budget goes on with what it has for a stretch: it is used for small things within, if at all.
    stepsLeft = outer === undefined ? Number.POSITIVE_INFINITY : STEPS_PER_LOOK;
    bytesLeft = outer === undefined ? Number.POSITIVE_INFINITY : outer.#limits.bytes;
  }

  look(steps: number): void {
    const { ms, totalMs, stepsAtOnce, isMovable } = this.#limits;
    this.#steps += STEPS_PER_LOOK - stepsLeft;
    stepsLeft = STEPS_PER_LOOK;
    if (steps > stepsAtOnce || this.#steps > this.#limits.steps) throw this.#tooLong();
    const nowMs = performance.now();
    this.#startedMs ??= nowMs;
    const stretchMs = nowMs - this.#startedMs;
    // Stretches in the same turn of the event loop are one for everybody who waits.
    if (stretchMs > ms || (isMovable && stretchMs + turnMs > 2 * ms)) throw this.#tooLong();
    if (this.#totalMs + stretchMs > totalMs) throw this.#tooLong();
  }

  refuseSize(): void {
    if (this.#limits.isMovable) throw new EvaluationTooLong();
    throw new DomainError(
      'invalidInput',
      'The query exceeded the size of the values that it may compute of one item; make them smaller.',
    );
  }

  watchMs(): number {
    if (this.#limits.watchMs === 0) throw this.#tooLong();
    return this.#limits.watchMs;
  }

  #tooLong(): Error {
    return this.#limits.isMovable ? new EvaluationTooLong() : evaluationTimeout();
  }
}

function markTurn(): void {
  isTurnMarked = true;
  setImmediate(() => {
    turnMs = 0;
    isTurnMarked = false;
  });
}

export function evaluationTimeout(): DomainError {
  return new DomainError(
    'invalidInput',
    'The query exceeded the time that it may take to evaluate; make it simpler, or add a filter.',
  );
}

const MIB = 1024 * 1024;

/** On the thread that serves everybody, where the rest can be done in another: others wait some milliseconds at most. */
export const MOVABLE_EVALUATION: EvaluationLimits = {
  bytes: MIB,
  stepsAtOnce: 300_000,
  steps: Number.POSITIVE_INFINITY,
  stepsInAll: Number.POSITIVE_INFINITY,
  ms: 6,
  totalMs: Number.POSITIVE_INFINITY,
  watchMs: 0,
  isMovable: true,
};

/** On the same thread where nothing can be moved: who asks for more is refused. */
export const FIXED_EVALUATION: EvaluationLimits = {
  bytes: 4 * MIB,
  stepsAtOnce: 600_000,
  steps: Number.POSITIVE_INFINITY,
  stepsInAll: Number.POSITIVE_INFINITY,
  ms: 12,
  totalMs: 2000,
  watchMs: 8,
  isMovable: false,
};

/** Before the first row: what is not known with little work is computed with the rows. */
export const CONSTANT_EVALUATION: EvaluationLimits = {
  bytes: 64 * 1024,
  stepsAtOnce: 50_000,
  steps: 50_000,
  stepsInAll: 300_000,
  ms: Number.POSITIVE_INFINITY,
  totalMs: Number.POSITIVE_INFINITY,
  watchMs: 0,
  isMovable: true,
};

/** Values of an index that are tested before their items are read: what takes long is left to the items. */
export const INDEX_TEST_EVALUATION: EvaluationLimits = {
  ...CONSTANT_EVALUATION,
  stepsInAll: Number.POSITIVE_INFINITY,
};

/** Properties that an index holds: what becomes of one must not depend on how busy the machine is. */
export const INDEXED_EVALUATION: EvaluationLimits = {
  bytes: MIB,
  stepsAtOnce: 300_000,
  steps: 300_000,
  stepsInAll: Number.POSITIVE_INFINITY,
  ms: Number.POSITIVE_INFINITY,
  totalMs: Number.POSITIVE_INFINITY,
  watchMs: 2,
  isMovable: false,
};

/** Where nobody else waits. */
export const LONE_EVALUATION: EvaluationLimits = { ...threadEvaluation(60_000), watchMs: 100 };

/** In a thread of its own, for a page. */
export function threadEvaluation(timeMs: number): EvaluationLimits {
  return {
    bytes: 64 * MIB,
    stepsAtOnce: Number.POSITIVE_INFINITY,
    steps: Number.POSITIVE_INFINITY,
    stepsInAll: Number.POSITIVE_INFINITY,
    ms: timeMs,
    totalMs: timeMs,
    watchMs: 1000,
    isMovable: false,
  };
}
