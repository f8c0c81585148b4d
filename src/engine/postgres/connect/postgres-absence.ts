/** Whether a primary, or sessions with it, could not be had for so long that nobody waits for them any more. */
import type { DomainError } from '../../../base/index.ts';
import { unavailable } from '../postgres-failures.ts';

/** A session that was lost, or a quick change of the primary, is waited for; clients do not wait much longer. */
const ABSENCE_MS = 2000;

export class PostgresAbsence {
  /** The latest one: what is missing may be there again and refuse for another reason. */
  readonly #reason: () => string;
  #timer: NodeJS.Timeout | undefined;
  #isNoted = false;
  #noted = Promise.withResolvers<void>();

  constructor(reason: () => string) {
    this.#reason = reason;
  }

  /** Why nobody waits; undefined while there is what was missing, and for the first two seconds. */
  get refusal(): DomainError | undefined {
    return this.#isNoted ? unavailable(this.#reason()) : undefined;
  }

  /** Rejects when it has been missing for too long. */
  async whenNoted(): Promise<never> {
    await this.#noted.promise;
    throw unavailable(this.#reason());
  }

  /** It is missing, as far as is known. */
  begin(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#isNoted = true;
      this.#noted.resolve();
    }, ABSENCE_MS).unref();
  }

  end(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isNoted) return;
    this.#isNoted = false;
    this.#noted = Promise.withResolvers<void>();
  }
}
