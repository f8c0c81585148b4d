/** Whether there has been no primary for so long that nobody waits for one any more. */
import type { DomainError } from '../../../base/index.ts';
import { unavailable } from '../postgres-failures.ts';

/** A session that was lost, or a quick change of the primary, is waited for; clients do not wait much longer. */
const ABSENCE_MS = 2000;

export class PostgresAbsence {
  #timer: NodeJS.Timeout | undefined;
  #refusal: DomainError | undefined;
  #noted = noted();

  /** Why nothing can be read or written now; undefined while there is a primary, and for the first two seconds. */
  get refusal(): DomainError | undefined {
    return this.#refusal;
  }

  /** Rejects when there has been no primary for too long. */
  get whenNoted(): Promise<never> {
    return this.#noted.promise;
  }

  /** No member takes writes, as far as is known. */
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
