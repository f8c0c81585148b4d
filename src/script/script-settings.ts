/** The limits of scripts, as the operator sets them. */
export interface ScriptSettings {
  /** The longest a script runs, its calls included. */
  readonly scriptTimeLimitMs: number;
  /** Heap of one script. */
  readonly scriptMemoryLimit: number;
}

/** A thread that has not responded so long after its time limit does not check its own deadline, and is ended. */
export const GRACE_MS = 1000;
