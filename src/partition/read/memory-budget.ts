/** Bytes that rid hints and posting lists of all partitions of the process share. */
import { RID_CACHE_BYTES } from '../../base/index.ts';

export class MemoryBudget {
  #bytesLeft: number;

  constructor(bytes = RID_CACHE_BYTES) {
    this.#bytesLeft = bytes;
  }

  /** False where less is left. */
  reserve(bytes: number): boolean {
    if (bytes > this.#bytesLeft) return false;
    this.#bytesLeft -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytesLeft += bytes;
  }
}
