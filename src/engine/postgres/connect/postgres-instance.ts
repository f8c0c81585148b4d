/**
 * The sessions of this process with the primary of one replica set. Each has a place with a name, such as `write3`; it is
 * connected when it is first needed and again after it was lost. Who needs one waits while there is no primary.
 */
import { DomainError } from '../../../base/index.ts';
import type { MemberAddress, PostgresAddress } from '../postgres-address.ts';
import { MEMBER_WAIT_MS, unavailable, withDeadline } from '../postgres-failures.ts';
import { SESSION_SETTINGS, unnamed } from '../postgres-statements.ts';
import { PostgresAbsence } from './postgres-absence.ts';
import { type FoundMember, findPrimary, reasonOf, sessionConfig } from './postgres-members.ts';
import { PostgresSession } from './postgres-session.ts';

const RETRY_MS = 100;
/** Three of four members; a set that asks for less was taken knowingly. */
const NEEDED_MAX = 3;

export class PostgresInstance {
  readonly address: PostgresAddress;
  readonly #sessions = new Map<string, PostgresSession>();
  readonly #connecting = new Map<string, Promise<PostgresSession>>();
  readonly #absence = new PostgresAbsence();
  #primary: FoundMember | undefined;
  #search: Promise<FoundMember> | undefined;
  #lastReason = 'PostgreSQL was not reached yet.';
  /** Members that a commit needed when the account was taken: no primary that asks for less is taken later. */
  #neededMin = 1;
  /** Grows with every close: attempts from before end. */
  #generation = 0;

  constructor(address: PostgresAddress) {
    this.address = address;
  }

  /** The member that was found last; undefined while there is none. */
  get primary(): MemberAddress | undefined {
    return this.#primary?.member;
  }

  /** Set while there has been no primary for some seconds: why nothing can be read or written. */
  get absence(): DomainError | undefined {
    return this.#absence.refusal;
  }

  /** The session of a place, if it is there now. */
  ready(place: string): PostgresSession | undefined {
    const session = this.#sessions.get(place);
    return session?.isOpen === true ? session : undefined;
  }

  /** The session of a place. Rejects with `unavailable` after some seconds, at once while there is no primary. */
  session(place: string): Promise<PostgresSession> {
    const open = this.ready(place);
    if (open !== undefined) return Promise.resolve(open);
    let connecting = this.#connecting.get(place);
    if (connecting === undefined) {
      connecting = this.#connect(place).finally(() => this.#connecting.delete(place));
      this.#connecting.set(place, connecting);
      // Whoever waits has its own deadline and hears of the failure there.
      connecting.catch(() => undefined);
    }
    const connected = Promise.race([connecting, this.#absence.whenNoted]);
    return withDeadline(connected, MEMBER_WAIT_MS, () => unavailable(this.#lastReason));
  }

  get neededMin(): number {
    return this.#neededMin;
  }

  /**
   * One try, with the reason of every member. For the start.
   * @param keepsRule - later primaries must ask for as many members.
   */
  async findNow(keepsRule: boolean): Promise<void> {
    this.#primary = await findPrimary(this.address);
    if (keepsRule) this.#neededMin = Math.min(this.#primary.needed, NEEDED_MAX);
  }

  /** Ends all sessions, so that the primary is looked for again. */
  abandon(reason: string): void {
    this.#lastReason = reason;
    this.#primary = undefined;
    for (const session of this.#sessions.values()) session.destroy(reason);
    this.#sessions.clear();
    this.#noteAbsence();
  }

  /** Looks for a primary of a later timeline; where there is one, the sessions with the earlier one end. */
  async switchIfPromoted(): Promise<void> {
    const current = this.#primary;
    if (current === undefined) return;
    const found = await findPrimary(this.address, this.#neededMin).catch(() => undefined);
    if (found === undefined || found.timeline <= current.timeline) return;
    if (this.#primary !== current) return;
    this.abandon(`${found.member.host}:${found.member.port} was promoted`);
    this.#primary = found;
  }

  /** Ends all sessions; whoever asks for one later gets a new one. */
  async close(): Promise<void> {
    this.#generation++;
    await Promise.allSettled(this.#connecting.values());
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  async #connect(place: string): Promise<PostgresSession> {
    const generation = this.#generation;
    const checkOpen = () => {
      if (generation !== this.#generation) throw unavailable('The storage engine is closed.');
    };
    for (;;) {
      checkOpen();
      try {
        const { member } = this.#primary ?? (await this.#find());
        const session = await PostgresSession.connect(sessionConfig(this.address, member));
        await session.run(
          SESSION_SETTINGS.map((text) => ({ statement: unnamed(text), parameters: [] })),
        );
        if (generation !== this.#generation) await session.close();
        checkOpen();
        this.#sessions.set(place, session);
        this.#absence.end();
        session.onEnd(() => {
          if (this.#sessions.get(place) === session) this.#sessions.delete(place);
        });
        return session;
      } catch (error) {
        if (error instanceof DomainError) throw error;
        this.#lastReason = `PostgreSQL is not reached: ${reasonOf(error)}`;
        this.#primary = undefined;
        this.#noteAbsence();
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** A session that cannot be made says nothing while there are others, such as beyond `max_connections`. */
  #noteAbsence(): void {
    for (const session of this.#sessions.values()) if (session.isOpen) return;
    this.#absence.begin(() => this.#lastReason);
  }

  /** One search at a time, for all who wait. */
  #find(): Promise<FoundMember> {
    this.#search ??= findPrimary(this.address, this.#neededMin)
      .then((found) => {
        this.#primary = found;
        return found;
      })
      .finally(() => {
        this.#search = undefined;
      });
    return this.#search;
  }
}
