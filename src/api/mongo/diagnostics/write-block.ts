/** The block of `setUserWriteBlockMode`: writes of clients are refused while it is on. */
import type { Call, Command } from '../call.ts';
import { MongoError } from '../errors.ts';

const SERVER_DATABASES: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

export class WriteBlock {
  #reason: string | undefined;

  /** Throws IllegalOperation where another reason has switched it on. */
  set(isOn: boolean, reason: string): void {
    if (this.#reason !== undefined && this.#reason !== reason)
      throw new MongoError(
        'IllegalOperation',
        `Writes are blocked for another reason: ${this.#reason}, not ${reason}`,
      );
    this.#reason = isOn ? reason : undefined;
  }

  /** Throws UserWritesBlocked. */
  check(
    { name, database }: Pick<Call, 'name' | 'database'>,
    { needs, isAdminOnly }: Command,
  ): void {
    if (this.#reason === undefined || needs !== 'write' || isAdminOnly === true) return;
    if (SERVER_DATABASES.has(database) || ENDING.has(name)) return;
    throw new MongoError('UserWritesBlocked', 'User writes blocked');
  }
}

/** Commands that change no documents of clients. */
const ENDING: ReadonlySet<string> = new Set(['abortTransaction', 'killOp', 'killSessions']);
