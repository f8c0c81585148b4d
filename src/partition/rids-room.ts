/** Memory that all partitions of the process may have together for rids they need not know. */
import { RIDS_BYTES } from '../base/index.ts';

export class RidsRoom {
  #bytesLeft: number;

  constructor(bytes = RIDS_BYTES) {
    this.#bytesLeft = bytes;
  }

  /** False where there is not as much. */
  take(bytes: number): boolean {
    if (bytes > this.#bytesLeft) return false;
    this.#bytesLeft -= bytes;
    return true;
  }

  leave(bytes: number): void {
    this.#bytesLeft += bytes;
  }
}
