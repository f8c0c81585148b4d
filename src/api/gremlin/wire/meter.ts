/** Charges and times of one request. */
import { randomUUID } from 'node:crypto';
import type { Progress } from './attributes.ts';

/** In all, and since the message before. */
export class Meter {
  readonly #activityId = randomUUID();
  readonly #startedMs = performance.now();
  #sentCharge = 0;
  #sentMs = 0;
  charge: () => number = () => 0;

  elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }

  progress(): Progress {
    const totalCharge = this.charge();
    const totalTimeMs = this.elapsedMs();
    const charge = totalCharge - this.#sentCharge;
    const timeMs = totalTimeMs - this.#sentMs;
    this.#sentCharge = totalCharge;
    this.#sentMs = totalTimeMs;
    return { activityId: this.#activityId, charge, totalCharge, timeMs, totalTimeMs };
  }
}
