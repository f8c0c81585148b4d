/**
 * Writes outside of transactions wait for transactions that write the same documents: for open ones by the table of
 * their writes, for those that are being committed by trying again. Nobody sees a conflict, as in MongoDB. A sequence
 * of which a part was throttled goes on with that part.
 */
import { DomainError, type MaybePromise } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { SequenceResult } from '../../../cluster/index.ts';
import type { SequenceMode } from '../../../partition/index.ts';
import type { ItemWrite } from '../../../service/index.ts';
import type { WriteLocks } from '../sessions/write-locks.ts';

/** Attempts of a write whose document is being committed by others: each waits in the partition first. */
const ATTEMPTS_MAX = 500;
const PAUSE_MS_MAX = 10;
/** How often a waiting write looks whether it was killed, or its time is over. */
const CHECK_MS = 50;

interface Waiting {
  readonly locks: WriteLocks;
  nowMs(): number;
  /** Throws where the command is over. */
  check(): void;
}

/** Mostly at once. */
export async function untilUnlocked(
  { locks, nowMs, check }: Waiting,
  container: ContainerRecord,
  writes: readonly ItemWrite[],
): Promise<void> {
  for (;;) {
    const end = locks.endOfHolder(container, writes, nowMs());
    if (end === undefined) return;
    await orPause(end, CHECK_MS);
    check();
  }
}

/** Runs a write again while others hold its document. */
export async function retryConflicts<T>(
  check: () => void,
  attemptOnce: () => Promise<T> | T,
): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await attemptOnce();
    } catch (error) {
      if (!isConflict(error) || attempt >= ATTEMPTS_MAX) throw error;
      await orPause(undefined, Math.min(attempt, PAUSE_MS_MAX));
      check();
    }
}

interface SequenceAttempts {
  readonly mode: SequenceMode;
  /** Throws where the command is over. */
  check(): void;
  run(writes: readonly ItemWrite[]): Promise<readonly SequenceResult[]>;
  /** Repeats what throws `throttled` when the budget allows it, within the time that a command may wait. */
  wait<T>(attempt: () => Promise<T>): MaybePromise<T>;
}

/**
 * Runs those writes of a sequence again that met a conflict or were throttled, and those that were left out for it.
 * Throws `throttled` where nothing was run.
 */
export async function retrySequence(
  writes: readonly ItemWrite[],
  { mode, check, run, wait }: SequenceAttempts,
): Promise<readonly SequenceResult[]> {
  const results: SequenceResult[] = [];
  let open: readonly number[] = [...writes.keys()];
  const runOpen = async (): Promise<void> => {
    check();
    const replies = await run(open.map((place) => writes[place] as ItemWrite));
    for (const [at, reply] of replies.entries()) results[open[at] as number] = reply;
    const throttled = placesToRepeat(results, mode, isThrottled);
    if (throttled.length === 0) return;
    open = throttled;
    throw soonest(throttled.map((place) => results[place] as SequenceResult));
  };
  for (let attempt = 1; ; attempt++) {
    try {
      await retryConflicts(check, () => wait(runOpen));
    } catch (error) {
      // The time to wait is over: what was written meanwhile is a result.
      if (!isThrottled(error) || results.length === 0) throw error;
    }
    open = placesToRepeat(results, mode, isConflict);
    if (open.length === 0 || attempt >= ATTEMPTS_MAX) return results;
    await orPause(undefined, Math.min(attempt, PAUSE_MS_MAX));
  }
}

function placesToRepeat(
  results: readonly SequenceResult[],
  mode: SequenceMode,
  isPassing: (error: unknown) => boolean,
): readonly number[] {
  const places = [...results.keys()];
  const isRefused = (place: number): boolean => {
    const result = results[place];
    return result !== undefined && 'error' in result && isPassing(result.error);
  };
  if (mode === 'each') return places.filter(isRefused);
  const first = places.findIndex(isRefused);
  return first < 0 ? [] : places.slice(first);
}

/** The refusal after which a part can be run first. */
function soonest(results: readonly SequenceResult[]): unknown {
  const errors = results.flatMap((result) => ('error' in result ? [result.error] : []));
  return errors.reduce((one, other) =>
    (other.retryAfterMs ?? 0) < (one.retryAfterMs ?? 0) ? other : one,
  );
}

async function orPause(end: Promise<void> | undefined, pauseMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const pause = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, pauseMs);
  });
  await (end === undefined ? pause : Promise.race([end, pause]));
  clearTimeout(timer);
}

function isConflict(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'retryWith';
}

function isThrottled(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'throttled';
}
