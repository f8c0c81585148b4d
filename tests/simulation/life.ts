/** One run of a process, as far as storage can tell. It ends by dying at a point. */

/** Where a process may die: before and after a batch is applied, around stores, at each step of a move. */
export const POINTS = [
  'catalog.commit',
  'catalog.durable',
  'data.commit',
  'data.durable',
  'move.catchUp',
  'move.commit',
  'move.copy',
  'move.done',
  'move.fence',
  'move.finish',
  'store.close',
  'store.drop',
  'store.list',
  'store.open',
] as const;

export type Point = (typeof POINTS)[number];

/** What a dead process still waits for. */
const never = new Promise<never>(() => undefined);

export class Life {
  #isDead = false;
  #pointsLeft = Number.POSITIVE_INFINITY;
  #fatalPoint: Point | undefined;
  readonly #end = Promise.withResolvers<'died'>();
  /** Where it died. */
  deathPoint: Point | undefined;

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Dies at the n-th point from now on, whichever it is. */
  dieAfter(points: number): void {
    this.#pointsLeft = points;
  }

  /** Dies when it next comes to this point. */
  dieAt(point: Point): void {
    this.#fatalPoint = point;
  }

  liveOn(): void {
    this.#pointsLeft = Number.POSITIVE_INFINITY;
    this.#fatalPoint = undefined;
  }

  /** Resolves when it is alive behind the point; otherwise never. */
  async point(name: Point): Promise<void> {
    if (!this.#isDead && (--this.#pointsLeft <= 0 || name === this.#fatalPoint)) {
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
