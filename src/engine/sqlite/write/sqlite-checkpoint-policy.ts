/**
 * Decides when the log of a store is copied into its file, by which thread, and when it restarts from its beginning.
 */

const MIB = 1024 * 1024;

/**
 * The checkpointer is called when this much of the log is not copied. A page that was written many times is copied
 * once: creates in groups of 16 copy 1.2 pages each in steps of 4 MB and half as many in steps of this size.
 */
const CHECKPOINT_BYTES = 16 * MIB;
/** The step size before the log restarts is smaller, so that little is written during the last step. */
const LAST_CHECKPOINT_BYTES = 4 * MIB;
/** From this size on the log restarts as soon as the checkpointer has nearly caught up. */
const LOG_BYTES_TARGET = 48 * MIB;
/** The most that the writer copies itself to get there: a few milliseconds. */
const FINISH_BYTES_MAX = 4 * MIB;
/** From this size on the writer waits a little for readers of old states, so that the log can restart. */
const LOG_BYTES_MAX = 64 * MIB;

export interface LogState {
  readonly bytes: number;
  /** Bytes of these that are not yet in the file. */
  readonly pendingBytes: number;
}

/**
 * `checkpoint`: the checkpointer copies. `finish`: the writer copies the rest, and if nothing reads from the log, the
 * next commit restarts it. `restart`: the writer also waits for readers.
 */
export type CheckpointStep = 'nothing' | 'checkpoint' | 'finish' | 'restart';

/**
 * A long reader prevents the log from restarting. After a failed try the log grows by some more before the next one:
 * otherwise every commit would pay for it.
 */
export class CheckpointPolicy {
  #finishAtBytes = LOG_BYTES_TARGET;
  #restartAtBytes = LOG_BYTES_MAX;

  next({ bytes, pendingBytes }: LogState): CheckpointStep {
    if (bytes < LOG_BYTES_TARGET) {
      this.#finishAtBytes = LOG_BYTES_TARGET;
      this.#restartAtBytes = LOG_BYTES_MAX;
    }
    if (bytes >= this.#restartAtBytes) {
      this.#restartAtBytes = bytes + LOG_BYTES_TARGET;
      return 'restart';
    }
    if (bytes >= this.#finishAtBytes && pendingBytes <= FINISH_BYTES_MAX) {
      this.#finishAtBytes = bytes + LAST_CHECKPOINT_BYTES;
      return 'finish';
    }
    const stepBytes = bytes < LOG_BYTES_TARGET ? CHECKPOINT_BYTES : LAST_CHECKPOINT_BYTES;
    return pendingBytes >= stepBytes ? 'checkpoint' : 'nothing';
  }
}
