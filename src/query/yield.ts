/** Long work gives way: after some milliseconds the event loop gets a turn, so that no query stalls the others. */
const SLICE_MS = 5;

let sliceStartedMs = 0;
let isMarked = false;

/** Resolves at once while the turn is young, else after everything else that is waiting had its turn. */
export function yieldToEventLoop(): Promise<void> | undefined {
  const nowMs = performance.now();
  if (!isMarked) {
    isMarked = true;
    sliceStartedMs = nowMs;
    // The first thing of the next turn: the clock starts anew.
    setImmediate(() => {
      isMarked = false;
    });
    return undefined;
  }
  if (nowMs - sliceStartedMs < SLICE_MS) return undefined;
  return new Promise((resolve) => setImmediate(resolve));
}
