/**
 * Slows the writers of a partition down to the pace of whoever has to follow them. While it is on, every write takes a
 * credit and waits, in order of arrival, where there is none; the follower grants credits as it goes on.
 */
import { assert } from '../../base/index.ts';

export class WriteBrake {
  readonly #waiting: (() => void)[] = [];
  #credit = 0;
  #isOn = false;

  /** From now on writes wait for credits of the caller, which releases the brake. One caller at a time. */
  put(): void {
    assert(!this.#isOn, 'write brake: one follower at a time');
    this.#isOn = true;
    this.#credit = 0;
  }

  /** Undefined where the write may begin now, which takes a credit; else resolves when it may. */
  begin(): Promise<void> | undefined {
    if (!this.#isOn) return undefined;
    if (this.#credit >= 1 && this.#waiting.length === 0) {
      this.#credit--;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** @param credit - of writes; parts of one add up. */
  grant(credit: number): void {
    this.#credit += credit;
    for (; this.#credit >= 1 && this.#waiting.length > 0; this.#credit--) this.#waiting.shift()?.();
  }

  /** From now on nobody waits. */
  release(): void {
    this.#isOn = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
