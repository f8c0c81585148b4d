/** Whether a primary, or sessions with it, could not be had for so long that nobody waits for them any more. */
import type { DomainError } from '../../../base/index.ts';
import { unavailable } from '../postgres-failures.ts';

/** A session that was lost, or a quick change of the primary, is waited for; clients do not wait much longer. */
const ABSENCE_MS = 2000;

export class PostgresAbsence {
  #timer: NodeJS.Timeout | undefined;
  #refusal: DomainError | undefined;
  #noted = noted();

  /** Why nobody waits; undefined while there is what was missing, and for the first two seconds. */
  get refusal(): DomainError | undefined {
    return this.#refusal;
  }

  /** Rejects when it has been missing for too long. */
  get whenNoted(): Promise<never> {
    return this.#noted.promise;
  }

  /** It is missing, as far as is known. */
  begin(reason: () => string): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#refusal = unavailable(reason());
      this.#noted.reject(this.#refusal);
    }, ABSENCE_MS).unref();
  }

  end(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#refusal === undefined) return;
    this.#refusal = undefined;
    this.#noted = noted();
  }
}

function noted(): PromiseWithResolvers<never> {
  const deferred = Promise.withResolvers<never>();
  // Mostly nobody waits.
  deferred.promise.catch(() => undefined);
  return deferred;
}
