/** One run of a process, as far as storage can tell. It ends by dying at a point. */

/** What a dead process still waits for. */
const never = new Promise<never>(() => undefined);

export class Life {
  #isDead = false;
  #pointsLeft = Number.POSITIVE_INFINITY;
  readonly #end = Promise.withResolvers<'died'>();
  /** Where it died. */
  deathPoint: string | undefined;

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Dies at the n-th point from now on. */
  dieAfter(points: number): void {
    this.#pointsLeft = points;
  }

  /** Resolves when it is alive behind the point; otherwise never. */
  async point(name: string): Promise<void> {
    if (!this.#isDead && --this.#pointsLeft <= 0) {
      this.#isDead = true;
      this.deathPoint = name;
      this.#end.resolve('died');
    }
    if (this.#isDead) await never;
  }

  /** Work of this life: its result, or that the life ended before. */
  outlive<T>(work: Promise<T>): Promise<T | 'died'> {
    return Promise.race([work, this.#end.promise]);
  }

  /** For what is not a promise: a dead process gets no answer. */
  answer<T>(read: () => T): T | Promise<never> {
    return this.#isDead ? never : read();
  }
}
