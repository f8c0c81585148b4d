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
  /** Those who wait for something else unless this is noted. */
  readonly #waiting = new Set<() => void>();

  constructor(reason: () => string) {
    this.#reason = reason;
  }

  /** Why nobody waits; undefined while there is what was missing, and for the first two seconds. */
  get refusal(): DomainError | undefined {
    return this.#isNoted ? unavailable(this.#reason()) : undefined;
  }

  /** What is waited for, or a rejection when it has been missing for too long. Keeps nothing of it when it is there. */
  unlessNoted<T>(awaited: Promise<T>): Promise<T> {
    // While it is noted nobody listens: what is waited for may take hours.
    if (this.#isNoted) return Promise.reject(unavailable(this.#reason()));
    return new Promise((resolve, reject) => {
      const refuse = () => reject(unavailable(this.#reason()));
      this.#waiting.add(refuse);
      const leave = () => this.#waiting.delete(refuse);
      awaited.finally(leave).then(resolve, reject);
    });
  }

  /** How many wait. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** It is missing, as far as is known. */
  begin(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#isNoted = true;
      for (const refuse of this.#waiting) refuse();
      this.#waiting.clear();
    }, ABSENCE_MS).unref();
  }

  end(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isNoted = false;
  }
}
