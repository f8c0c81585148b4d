/** Memory that all partitions of the process may have together for rids they need not know. */
import { RID_CACHE_BYTES } from '../../base/index.ts';

export class MemoryBudget {
  #bytesLeft: number;

  constructor(bytes = RID_CACHE_BYTES) {
    this.#bytesLeft = bytes;
  }

  /** False where there is not as much. */
  reserve(bytes: number): boolean {
    if (bytes > this.#bytesLeft) return false;
    this.#bytesLeft -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytesLeft += bytes;
  }
}
