/** Long work gives way: after some milliseconds the event loop gets a turn, so that no query stalls the others. */
const TURN_MS = 5;

let turnStartedMs = 0;
let isMarked = false;

/** Resolves at once while the turn is young, else after everything else that is waiting had its turn. */
export function pause(): Promise<void> | undefined {
  const nowMs = performance.now();
  if (!isMarked) {
    isMarked = true;
    turnStartedMs = nowMs;
    // The first thing of the next turn: the clock starts anew.
    setImmediate(() => {
      isMarked = false;
    });
    return undefined;
  }
  if (nowMs - turnStartedMs < TURN_MS) return undefined;
  return new Promise((resolve) => setImmediate(resolve));
}
