/**
 * Whether the values at a path are those of many items each, or of hardly two. Knowing where a value's items are noted
 * pays only where it comes again; where it does not, notes are cheaper made one by one and put together when somebody
 * looks (postings.ts).
 */

/** Values looked at before it is told; as many tell it anew after a while, since data changes. */
const SAMPLE = 256;
const TOLD_FOR = 16 * 1024;
/** So many new values for each that came again make a path varied. */
const NEW_PER_KNOWN = 3;

export class CardinalityEstimate {
  #isHigh = false;
  #known = 0;
  #left = SAMPLE;

  /** Asked once for every value. */
  get isHigh(): boolean {
    if (this.#isHigh && --this.#left <= 0) this.#restart(false, SAMPLE);
    return this.#isHigh;
  }

  /** Of a path that is not varied: whether its value was known. */
  note(isKnown: boolean): void {
    if (isKnown) this.#known++;
    if (--this.#left > 0) return;
    if (this.#known * NEW_PER_KNOWN < SAMPLE - this.#known) this.#restart(true, TOLD_FOR);
    else this.#restart(false, SAMPLE);
  }

  #restart(isVaried: boolean, left: number): void {
    this.#isHigh = isVaried;
    this.#known = 0;
    this.#left = left;
  }
}
