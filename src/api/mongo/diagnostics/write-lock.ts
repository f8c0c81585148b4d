/** The lock of `fsync`: writes of this API wait while somebody holds it. It outlives the connection that took it. */
import type { Call, Command } from '../call.ts';
import { MongoError } from '../errors.ts';

/** Commands of `admin` that write documents; its others end transactions or set up the server. */
const ADMIN_WRITES: ReadonlySet<string> = new Set([
  'bulkWrite',
  'commitTransaction',
  'renameCollection',
]);
const POLL_MS = 1000;

export class WriteLock {
  #count = 0;

  get isHeld(): boolean {
    return this.#count > 0;
  }

  /** How often it is held now. */
  lock(): number {
    this.#count += 1;
    return this.#count;
  }

  /** How often it is still held. Throws IllegalOperation. */
  unlock(): number {
    if (this.#count === 0)
      throw new MongoError('IllegalOperation', 'fsyncUnlock called when not locked');
    this.#count -= 1;
    return this.#count;
  }
}

export function isLockedOut({ context, name }: Call, { needs, isAdminOnly }: Command): boolean {
  if (!context.writeLock.isHeld || needs !== 'write') return false;
  return isAdminOnly !== true || ADMIN_WRITES.has(name);
}

/** Resolves when nobody holds the lock. Throws MaxTimeMSExpired and Interrupted. */
export async function waitForUnlock({ context, connection, meter }: Call): Promise<void> {
  while (context.writeLock.isHeld) {
    if (connection.isEnding)
      throw new MongoError('Interrupted', 'The client left while writes were locked');
    meter.check();
    const leftMs = Math.max(0, meter.deadlineMs - performance.now());
    await context.activity.wait(Math.min(leftMs, POLL_MS));
  }
}
