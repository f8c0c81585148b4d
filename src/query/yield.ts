/** Slices of query time: after some milliseconds a query yields to the event loop, so that it does not block others. */
const SLICE_MS = 5;

let sliceStartedMs = 0;
let isSliceOpen = false;

/** Undefined while the slice lasts, else a promise that resolves after everything that waits in the event loop. */
export function yieldToEventLoop(): Promise<void> | undefined {
  const nowMs = performance.now();
  if (!isSliceOpen) {
    isSliceOpen = true;
    sliceStartedMs = nowMs;
    // The next round of the event loop begins with a new slice.
    setImmediate(() => {
      isSliceOpen = false;
    });
    return undefined;
  }
  if (nowMs - sliceStartedMs < SLICE_MS) return undefined;
  return new Promise((resolve) => setImmediate(resolve));
}
