/** Long work in slices: after some milliseconds it yields to the event loop, so that it does not block others. */
import { append, type Steps } from '../base/index.ts';

/** Half of what nothing may block the event loop for: the step that is under way goes on to its end. */
const SLICE_MS = 5;

/** What is done between two rounds of the event loop, by `performance.now()`. */
interface Slice {
  readonly startedMs: number;
  /** Undefined until others have been served. */
  endedMs: number | undefined;
}

let current: Slice | undefined;

/** The slice under way; begins one where there is none. */
export function currentSlice(): Readonly<Slice> {
  if (current !== undefined) return current;
  const slice: Slice = { startedMs: performance.now(), endedMs: undefined };
  current = slice;
  // The next round of the event loop begins with a new slice.
  setImmediate(() => {
    slice.endedMs = performance.now();
    current = undefined;
  });
  return slice;
}

/** Undefined while the slice lasts, else a promise that resolves after everything that waits in the event loop. */
export function yieldToEventLoop(): Promise<void> | undefined {
  if (performance.now() - currentSlice().startedMs < SLICE_MS) return undefined;
  return new Promise((resolve) => setImmediate(resolve));
}

/** Runs steps to their end; others are served between them. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    const pause = yieldToEventLoop();
    if (pause !== undefined) await pause;
  }
}

/** Undefined while the slice lasts, else resolves when the work may go on; throws where it has to end. */
export type Pause = () => Promise<void> | undefined;

/** Sorted by the engine at once. */
const RUN_LENGTH = 512;
/** Comparisons of a merge between two looks at the clock. */
const MERGE_STEP = 128;

/** The list in order; equal entries stay in the order they came in. Others are served meanwhile. */
export async function sortInSlices<T>(
  list: readonly T[],
  compare: (a: T, b: T) => number,
  pause: Pause = yieldToEventLoop,
): Promise<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < list.length; at += RUN_LENGTH) {
    runs.push(list.slice(at, at + RUN_LENGTH).sort(compare));
    const wait = at > 0 ? pause() : undefined;
    if (wait !== undefined) await wait;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left = [], right] = [runs[at], runs[at + 1]];
      longer.push(right === undefined ? left : await merged(left, right, compare, pause));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

async function merged<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
  pause: Pause,
): Promise<T[]> {
  const all: T[] = [];
  let [a, b] = [0, 0];
  while (a < left.length && b < right.length) {
    const isLeft = compare(left[a] as T, right[b] as T) <= 0;
    all.push((isLeft ? left[a++] : right[b++]) as T);
    const wait = all.length % MERGE_STEP === 0 ? pause() : undefined;
    if (wait !== undefined) await wait;
  }
  append(all, a < left.length ? left.slice(a) : right.slice(b));
  return all;
}
