/** When the log of a store is copied into its file, by whom, and when it starts from its beginning again. */

const MIB = 1024 * 1024;

/**
 * The checkpointer is called when this much of the log waits. A page that was written many times is copied once: creates
 * in groups of 16 copy 1.2 pages each in steps of 4 MB and half as many in these.
 */
const CHECKPOINT_BYTES = 16 * MIB;
/** In smaller steps where the log is to start anew: what is written during one has to be little. */
const LAST_CHECKPOINT_BYTES = 4 * MIB;
/** From here on the log is to start anew as soon as the checkpointer has nearly caught up. */
const LOG_BYTES_AIM = 48 * MIB;
/** How much of the log the writer copies itself to come to that point: a few milliseconds. */
const FINISH_BYTES_MAX = 4 * MIB;
/** Beyond this the writer waits a little for readers of old moments, so that the log can start anew. */
const LOG_BYTES_MAX = 64 * MIB;

export interface LogState {
  readonly bytes: number;
  /** Of these, not yet in the file. */
  readonly pendingBytes: number;
}

/**
 * `checkpoint`: the checkpointer copies. `finish`: the writer copies the rest, and if nobody reads from the log the next
 * commit starts it anew. `restart`: the writer also waits for those who read.
 */
export type CheckpointStep = 'nothing' | 'checkpoint' | 'finish' | 'restart';

/**
 * A reader that stays keeps the log from starting anew. After a try in vain the log grows by some more before the next
 * one: otherwise every commit would pay for it.
 */
export class CheckpointPolicy {
  #finishAtBytes = LOG_BYTES_AIM;
  #restartAtBytes = LOG_BYTES_MAX;

  next({ bytes, pendingBytes }: LogState): CheckpointStep {
    if (bytes < LOG_BYTES_AIM) {
      this.#finishAtBytes = LOG_BYTES_AIM;
      this.#restartAtBytes = LOG_BYTES_MAX;
    }
    if (bytes >= this.#restartAtBytes) {
      this.#restartAtBytes = bytes + LOG_BYTES_AIM;
      return 'restart';
    }
    if (bytes >= this.#finishAtBytes && pendingBytes <= FINISH_BYTES_MAX) {
      this.#finishAtBytes = bytes + LAST_CHECKPOINT_BYTES;
      return 'finish';
    }
    const stepBytes = bytes < LOG_BYTES_AIM ? CHECKPOINT_BYTES : LAST_CHECKPOINT_BYTES;
    return pendingBytes >= stepBytes ? 'checkpoint' : 'nothing';
  }
}
