/**
 * Writes outside of transactions wait for transactions that write the same documents: for open ones by the table of
 * their writes, for those that are being committed by trying again. Nobody sees a conflict, as in MongoDB.
 */
import { DomainError } from '../../../base/index.ts';
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

/** Runs those writes of a sequence again that met a conflict, and those that were left out for it. */
export async function retrySequence(
  check: () => void,
  writes: readonly ItemWrite[],
  mode: SequenceMode,
  run: (writes: readonly ItemWrite[]) => Promise<readonly SequenceResult[]>,
): Promise<readonly SequenceResult[]> {
  const results = [...(await retryConflicts(check, () => run(writes)))];
  for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt++) {
    const places = placesToRepeat(results, mode);
    if (places.length === 0) break;
    await orPause(undefined, Math.min(attempt, PAUSE_MS_MAX));
    check();
    const again = places.map((place) => writes[place] as ItemWrite);
    const replies = await retryConflicts(check, () => run(again));
    for (const [at, reply] of replies.entries()) results[places[at] as number] = reply;
  }
  return results;
}

function placesToRepeat(results: readonly SequenceResult[], mode: SequenceMode): readonly number[] {
  const places = [...results.keys()];
  const isRefused = (place: number): boolean => {
    const result = results[place];
    return result !== undefined && 'error' in result && isConflict(result.error);
  };
  if (mode === 'each') return places.filter(isRefused);
  const first = places.findIndex(isRefused);
  return first < 0 ? [] : places.slice(first);
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
