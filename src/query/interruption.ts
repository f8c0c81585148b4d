/** Ends queries early: at a deadline, when their caller aborts them, or when the client is gone. */
import { type Clock, DomainError } from '../base/index.ts';

export interface InterruptionOptions {
  /** When the query must have ended, by the clock of the service. */
  readonly deadlineMs?: number | undefined;
  /** Aborts the query. Its reason is thrown where it is a DomainError. */
  readonly signal?: AbortSignal | undefined;
  /** Who waits for the result; asked between slices of work whether it is gone. */
  readonly client?: { readonly isGone: boolean } | undefined;
}

export class Interruption {
  readonly #options: InterruptionOptions;
  readonly #clock: Clock;

  constructor(options: InterruptionOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Throws where the query shall end. Called between batches of items and slices of time. */
  check(): void {
    const { deadlineMs, signal, client } = this.#options;
    if (signal?.aborted === true) throw abortReason(signal);
    if (client?.isGone === true) throw new DomainError('queryTimeout', 'The client is gone.');
    if (deadlineMs !== undefined && this.#clock.nowMs() >= deadlineMs)
      throw new DomainError('queryTimeout', 'The query exceeded its time limit.');
  }

  /** The result of the work, or an earlier refusal: work that waits is left to end by itself at its next check. */
  guard<T>(work: Promise<T>): Promise<T> {
    const { deadlineMs, signal } = this.#options;
    if (deadlineMs === undefined && signal === undefined) return work;
    return new Promise((resolve, reject) => {
      const stop = () => {
        try {
          this.check();
        } catch (error) {
          reject(error);
        }
      };
      const timer =
        deadlineMs === undefined
          ? undefined
          : setTimeout(stop, Math.min(TIMER_MS_MAX, Math.max(0, deadlineMs - this.#clock.nowMs())));
      signal?.addEventListener('abort', stop);
      const finished = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
      };
      work.then(resolve, reject).finally(finished);
    });
  }
}

/** Longer timers would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

function abortReason({ reason }: AbortSignal): DomainError {
  return reason instanceof DomainError
    ? reason
    : new DomainError('queryTimeout', 'The query was aborted.');
}
