/**
 * Whether a path has nearly as many values as items. A posting list per value pays only where values are repeated; for
 * the values of other paths it is cheaper to collect single entries and to sort them later (posting-lists.ts).
 */

/** Values of a sample. The estimate is made again after a while, since data changes. */
const SAMPLE = 256;
/** Values for which an estimate of high cardinality is valid. */
const VALID_FOR = 16 * 1024;
/** New values for each repeated one from which on the cardinality is high. */
const NEW_PER_REPEATED = 3;

export class CardinalityEstimate {
  #isHigh = false;
  #repeated = 0;
  #left = SAMPLE;

  /** To be read once for every value. */
  get isHigh(): boolean {
    if (this.#isHigh && --this.#left <= 0) this.#restart(false, SAMPLE);
    return this.#isHigh;
  }

  /** Notes a value, where the cardinality is not high. */
  note(isRepeated: boolean): void {
    if (isRepeated) this.#repeated++;
    if (--this.#left > 0) return;
    if (this.#repeated * NEW_PER_REPEATED < SAMPLE - this.#repeated) this.#restart(true, VALID_FOR);
    else this.#restart(false, SAMPLE);
  }

  #restart(isHigh: boolean, left: number): void {
    this.#isHigh = isHigh;
    this.#repeated = 0;
    this.#left = left;
  }
}
