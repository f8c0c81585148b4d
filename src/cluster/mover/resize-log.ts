/** The latest splits and merges, for operators and metrics. In memory only: a restart forgets them. */
import type { Clock } from '../../base/index.ts';
import type { ContainerName } from '../container-name.ts';
import type { MoveStep } from './move.ts';

/** Entries of all containers together: some hours of a busy server. */
const ENTRIES_MAX = 1000;

export interface Resize {
  readonly kind: 'split' | 'merge';
  readonly container: ContainerName;
  readonly parents: readonly string[];
  readonly children: readonly string[];
  readonly startedMs: number;
  readonly state: 'running' | 'done' | 'failed';
  /** The step it is at, or failed at. */
  readonly step: MoveStep | 'begin';
  /** Undefined while the resize runs. */
  readonly durationMs: number | undefined;
  /** How long writers waited: from the fence to the commit. */
  readonly pauseMs: number | undefined;
  readonly error: string | undefined;
}

type ResizeTotals = Readonly<Record<Resize['kind'], KindTotals>>;

interface KindTotals {
  done: number;
  failed: number;
  durationMs: number;
  pauseMs: number;
}

type ResizeStart = Pick<Resize, 'kind' | 'container' | 'parents' | 'children'>;

export class ResizeLog {
  readonly #clock: Clock;
  readonly #entries: Resize[] = [];
  readonly totals: ResizeTotals = { split: newTotals(), merge: newTotals() };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Newest first. */
  list({ databaseRid, rid }: ContainerName): readonly Resize[] {
    return this.#entries
      .filter(({ container }) => container.databaseRid === databaseRid && container.rid === rid)
      .reverse();
  }

  begin(start: ResizeStart): ResizeRecorder {
    let entry: Resize = {
      ...start,
      startedMs: this.#clock.nowMs(),
      state: 'running',
      step: 'begin',
      durationMs: undefined,
      pauseMs: undefined,
      error: undefined,
    };
    let fencedMs: number | undefined;
    this.#entries.push(entry);
    if (this.#entries.length > ENTRIES_MAX) this.#entries.shift();
    const update = (change: Partial<Resize>): void => {
      const next = { ...entry, ...change };
      const at = this.#entries.indexOf(entry);
      if (at >= 0) this.#entries[at] = next;
      entry = next;
    };
    const end = (change: Partial<Resize>): void => {
      const nowMs = this.#clock.nowMs();
      const durationMs = nowMs - entry.startedMs;
      const pauseMs = entry.pauseMs ?? (fencedMs === undefined ? undefined : nowMs - fencedMs);
      update({ ...change, durationMs, pauseMs });
      const totals = this.totals[entry.kind];
      totals[entry.state === 'done' ? 'done' : 'failed']++;
      totals.durationMs += durationMs;
      totals.pauseMs += pauseMs ?? 0;
    };
    return {
      step: (step) => {
        if (step === 'fence') fencedMs = this.#clock.nowMs();
        const isOver = step === 'done' && fencedMs !== undefined;
        update(isOver ? { step, pauseMs: this.#clock.nowMs() - (fencedMs ?? 0) } : { step });
      },
      done: () => end({ state: 'done' }),
      failed: (error) =>
        end({ state: 'failed', error: error instanceof Error ? error.message : String(error) }),
    };
  }
}

export interface ResizeRecorder {
  step(step: MoveStep): void;
  done(): void;
  failed(error: unknown): void;
}

function newTotals(): KindTotals {
  return { done: 0, failed: 0, durationMs: 0, pauseMs: 0 };
}
