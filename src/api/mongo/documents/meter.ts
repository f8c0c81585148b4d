/** What the reads and writes of a command cost, and when it has to end. */
import type { ExecutionStats } from '../../../query/index.ts';
import { checkKilled, type RunningOperation } from '../diagnostics/operations.ts';
import { MongoError } from '../errors.ts';
import type { Holding } from './pieces.ts';

/** What a reply of the service says of its work. */
interface Metered {
  readonly charge: number;
  readonly stats?: ExecutionStats;
  readonly items?: readonly unknown[];
  readonly item?: unknown;
}

/** Different ones that are kept. */
const ACCESS_PATHS_MAX = 100;

/** Adds up the work and the request units of a command, and ends it when its time is over or somebody has killed it. */
export class Meter implements Holding {
  charge = 0;
  heldBytes = 0;
  /** Entries of indexes and documents that were read, and how the documents of queries were found. */
  keysExamined = 0;
  documentsExamined = 0;
  readonly accessPaths = new Set<string>();
  /** By `performance.now()`. */
  deadlineMs = Number.POSITIVE_INFINITY;
  operation: RunningOperation | undefined;
  #leftMs = Number.POSITIVE_INFINITY;
  #startMs: number | undefined;

  /** What `$$NOW` is in every statement of the command. */
  startMs(clock: { nowMs(): number }): number {
    this.#startMs ??= clock.nowMs();
    return this.#startMs;
  }

  /** Stops the clock between two batches of a cursor: what one has left is what the next may take. */
  pause(): void {
    this.#leftMs = Math.max(0, this.deadlineMs - performance.now());
    this.deadlineMs = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    this.deadlineMs = performance.now() + this.#leftMs;
  }

  /** Throws MaxTimeMSExpired and Interrupted. */
  add({ charge, stats, items, item }: Metered): void {
    this.charge += charge;
    this.keysExamined += stats?.indexEntries ?? 0;
    this.documentsExamined += stats?.itemsLoaded ?? items?.length ?? (item === undefined ? 0 : 1);
    for (const path of stats?.accessPaths ?? [])
      if (this.accessPaths.size < ACCESS_PATHS_MAX) this.accessPaths.add(path);
    this.check();
  }

  /** Throws MaxTimeMSExpired and Interrupted. */
  check(): void {
    if (performance.now() > this.deadlineMs)
      throw new MongoError('MaxTimeMSExpired', 'operation exceeded time limit');
    if (this.operation !== undefined) checkKilled(this.operation);
  }
}
