/** One run of a simulated process, as storage sees it. It ends by a crash at a point. */

/** The points at which a process may crash: before and after a batch is applied, around stores, at each step of a move. */
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

/** The steps of a commit over several partitions. */
export const TRANSACTION_POINTS = [
  'transaction.prepare',
  'transaction.prepared',
  'transaction.committed',
  'transaction.resolved',
] as const;

export type Point = (typeof POINTS)[number] | (typeof TRANSACTION_POINTS)[number];

/** All promises of a crashed process. */
const never = new Promise<never>(() => undefined);

export class SimulatedProcess {
  #hasCrashed = false;
  #pointsLeft = Number.POSITIVE_INFINITY;
  #crashPoint: Point | undefined;
  #failure: { commits: number; readonly isApplied: boolean } | undefined;
  readonly #end = Promise.withResolvers<'crashed'>();
  /** The point of the crash. */
  crashedAt: Point | undefined;

  get hasCrashed(): boolean {
    return this.#hasCrashed;
  }

  /** Crashes at the n-th point from now on, whichever it is. */
  crashAfter(points: number): void {
    this.#pointsLeft = points;
  }

  /** Crashes when it next reaches this point. */
  crashAt(point: Point): void {
    this.#crashPoint = point;
  }

  disarm(): void {
    this.#pointsLeft = Number.POSITIVE_INFINITY;
    this.#crashPoint = undefined;
    this.#failure = undefined;
  }

  /** The next commit of data fails n commits from now: `applied` where the failure only hides that it is stored. */
  failAfter(commits: number, isApplied: boolean): void {
    this.#failure = { commits, isApplied };
  }

  /** How the present commit of data ends. */
  commitFailure(): 'none' | 'applied' | 'lost' {
    if (this.#failure === undefined || --this.#failure.commits > 0) return 'none';
    const { isApplied } = this.#failure;
    this.#failure = undefined;
    return isApplied ? 'applied' : 'lost';
  }

  /** Resolves where the process goes on after the point; otherwise never. */
  async point(name: Point): Promise<void> {
    if (!this.#hasCrashed && (--this.#pointsLeft <= 0 || name === this.#crashPoint)) {
      this.#hasCrashed = true;
      this.crashedAt = name;
      this.#end.resolve('crashed');
    }
    if (this.#hasCrashed) await never;
  }

  /** The result of some work of this process, or that it crashed before. */
  untilCrash<T>(work: Promise<T>): Promise<T | 'crashed'> {
    return Promise.race([work, this.#end.promise]);
  }

  /** For synchronous reads: a crashed process gets no result. */
  unlessCrashed<T>(read: () => T): T | Promise<never> {
    return this.#hasCrashed ? never : read();
  }
}
