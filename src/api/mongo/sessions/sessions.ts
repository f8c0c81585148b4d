/** The sessions that clients have used: nothing but when, and by whom. Their transactions and cursors are elsewhere. */
import { type Clock, toHex } from '../../../base/index.ts';
import type { BsonDocument } from '../../../value/index.ts';
import { SESSION_MINUTES, SESSIONS_MAX } from '../limits.ts';
import { sessionOf } from './retryable-write.ts';

export interface Session {
  /** Hexadecimal. */
  readonly id: string;
  readonly user: string;
  readonly startedMs: number;
  usedMs: number;
}

export class Sessions {
  readonly #clock: Clock;
  readonly #byId = new Map<string, Session>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  list(): readonly Session[] {
    return [...this.#byId.values()];
  }

  /** The session of a command was used; undefined where it names none. */
  use(command: BsonDocument, user: string): string | undefined {
    const bytes = sessionOf(command);
    if (bytes === undefined) return undefined;
    const id = toHex(bytes);
    this.start(id, user);
    return id;
  }

  start(id: string, user: string): void {
    const nowMs = this.#clock.nowMs();
    const known = this.#byId.get(id);
    if (known !== undefined) {
      known.usedMs = nowMs;
      return;
    }
    this.#makeRoom(nowMs);
    this.#byId.set(id, { id, user, startedMs: nowMs, usedMs: nowMs });
  }

  end(id: string): void {
    this.#byId.delete(id);
  }

  /** The oldest are first, but for those that were used again. */
  #makeRoom(nowMs: number): void {
    if (this.#byId.size < SESSIONS_MAX) return;
    const deadlineMs = nowMs - SESSION_MINUTES * 60_000;
    for (const [id, { usedMs }] of this.#byId) {
      if (usedMs >= deadlineMs && this.#byId.size < SESSIONS_MAX) return;
      this.#byId.delete(id);
    }
  }
}
