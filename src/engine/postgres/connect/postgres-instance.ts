/**
 * The sessions of this process with the primary of one replica set. Each has a place with a name, such as `write3`; it is
 * connected when it is first needed and again after it was lost. Who needs one waits while there is no primary. Where the
 * primary works and takes no new sessions, those of places of the same kind stand in.
 */
import { DomainError } from '../../../base/index.ts';
import type { PostgresAddress } from '../postgres-address.ts';
import { MEMBER_WAIT_MS, unavailable, withDeadline } from '../postgres-failures.ts';
import { SESSION_SETTINGS, unnamed } from '../postgres-statements.ts';
import { PostgresAbsence } from './postgres-absence.ts';
import { type FoundMember, findPrimary, reasonOf, sessionConfig } from './postgres-members.ts';
import { PostgresSession } from './postgres-session.ts';

const RETRY_MS = 100;
/** Three of four members; a set that asks for less was taken knowingly. */
const NEEDED_MAX = 3;
/** Who waits longer for a session of its own place takes another one; connecting takes milliseconds. */
const STAND_IN_AFTER_MS = 500;
/** Places whose sessions are shared by many stores anyway. */
const SHARED_PLACE = /^(read|write|open)\d+$/;

export class PostgresInstance {
  readonly address: PostgresAddress;
  readonly #sessions = new Map<string, PostgresSession>();
  readonly #connecting = new Map<string, Promise<PostgresSession>>();
  readonly #noPrimary = new PostgresAbsence(() => this.#lastReason);
  /** New sessions cannot be made, whether there are others or not. */
  readonly #noSession = new PostgresAbsence(() => this.#lastReason);
  /** All sessions are with this member. */
  #primary: FoundMember | undefined;
  /** It was not reached: another member may be the primary now. */
  #isDoubted = false;
  #search: Promise<FoundMember> | undefined;
  #lastReason = 'PostgreSQL was not reached yet.';
  /** Members that a commit needed when the account was taken: no primary that asks for less is taken later. */
  #neededMin = 1;
  /** Grows with every close: attempts from before end. */
  #generation = 0;

  constructor(address: PostgresAddress) {
    this.address = address;
  }

  /** Set while there has been no primary for some seconds: why nothing can be read or written. */
  get absence(): DomainError | undefined {
    return this.#noPrimary.refusal;
  }

  /** The session of a place, if it is there now. */
  ready(place: string): PostgresSession | undefined {
    const session = this.#sessions.get(place);
    return session?.isOpen === true ? session : undefined;
  }

  /**
   * The session of a place, or one that stands in for it. Rejects with `unavailable` after some seconds, at once while
   * there is no primary or it takes no new sessions.
   */
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
    return this.#connectedOrStandIn(place, this.#noSession.unlessNoted(connecting));
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
    this.#isDoubted = false;
    if (keepsRule) this.#neededMin = Math.min(this.#primary.needed, NEEDED_MAX);
  }

  /** Ends all sessions, so that the primary is looked for again. */
  abandon(reason: string): void {
    this.#lastReason = reason;
    this.#primary = undefined;
    for (const session of this.#sessions.values()) session.destroy(reason);
    this.#sessions.clear();
    this.#noteFailure();
  }

  /** Looks for a primary of a later timeline; where there is one, the sessions with the earlier one end. */
  async switchIfPromoted(): Promise<void> {
    const current = this.#primary;
    if (current === undefined) return;
    const found = await findPrimary(this.address, this.#neededMin).catch(() => undefined);
    if (found === undefined || found.timeline <= current.timeline) return;
    if (this.#primary === current) this.#take(found);
  }

  /** Ends all sessions; whoever asks for one later gets a new one. */
  async close(): Promise<void> {
    this.#generation++;
    await Promise.allSettled(this.#connecting.values());
    const sessions = new Set(this.#sessions.values());
    await Promise.all([...sessions].map((session) => session.close()));
    this.#noPrimary.end();
    this.#noSession.end();
  }

  async #connectedOrStandIn(
    place: string,
    connected: Promise<PostgresSession>,
  ): Promise<PostgresSession> {
    const late = () => unavailable(this.#lastReason);
    if (this.#standIn(place) !== undefined) {
      const own = await withDeadline(connected, STAND_IN_AFTER_MS, late).catch(() => undefined);
      if (own !== undefined) return own;
      // Its own may have come in the turn of the deadline, and nothing else would end it.
      const standIn = this.ready(place) ?? this.#standIn(place);
      if (standIn !== undefined) {
        // The place has it until it has one of its own.
        this.#sessions.set(place, standIn);
        return standIn;
      }
    }
    return withDeadline(connected, MEMBER_WAIT_MS, late);
  }

  #standIn(place: string): PostgresSession | undefined {
    const kind = SHARED_PLACE.exec(place)?.[1];
    if (kind === undefined) return undefined;
    for (const [other, session] of this.#sessions)
      if (session.isOpen && SHARED_PLACE.exec(other)?.[1] === kind) return session;
    return undefined;
  }

  async #connect(place: string): Promise<PostgresSession> {
    const generation = this.#generation;
    const checkOpen = () => {
      if (generation !== this.#generation) throw unavailable('The storage engine is closed.');
    };
    for (;;) {
      checkOpen();
      try {
        const found = await this.#memberToConnect();
        const session = await PostgresSession.connect(sessionConfig(this.address, found.member));
        await session.run(
          SESSION_SETTINGS.map((text) => ({ statement: unnamed(text), parameters: [] })),
        );
        const isCurrent = generation === this.#generation && found === this.#primary;
        if (!isCurrent) await session.close();
        checkOpen();
        if (!isCurrent) continue;
        this.#sessions.set(place, session);
        this.#noPrimary.end();
        this.#noSession.end();
        session.onEnd(() => {
          if (this.#sessions.get(place) === session) this.#sessions.delete(place);
        });
        return session;
      } catch (error) {
        if (error instanceof DomainError) throw error;
        this.#lastReason = `PostgreSQL is not reached: ${reasonOf(error)}`;
        this.#isDoubted = true;
        this.#noteFailure();
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** A session that cannot be made says nothing of the primary while there are others, as beyond `max_connections`. */
  #noteFailure(): void {
    this.#noSession.begin();
    if (!this.#hasSessions()) this.#noPrimary.begin();
  }

  #hasSessions(): boolean {
    return this.#sessions.values().some(({ isOpen }) => isOpen);
  }

  #memberToConnect(): FoundMember | Promise<FoundMember> {
    return this.#primary === undefined || this.#isDoubted ? this.#find() : this.#primary;
  }

  /** One search at a time, for all who wait. */
  #find(): Promise<FoundMember> {
    this.#search ??= findPrimary(this.address, this.#neededMin)
      .then((found) => this.#take(found))
      .finally(() => {
        this.#search = undefined;
      });
    return this.#search;
  }

  /** Sessions are never with two members at once: what one of them reads would not be what the other one wrote. */
  #take(found: FoundMember): FoundMember {
    const current = this.#primary;
    if (current !== undefined) {
      const isSame = nameOf(current) === nameOf(found) && current.timeline === found.timeline;
      if (isSame) {
        this.#isDoubted = false;
        return current;
      }
      if (found.timeline < current.timeline && this.#hasSessions())
        throw new Error(`${nameOf(found)} was the primary before ${nameOf(current)}`);
      this.abandon(`${nameOf(found)} was promoted`);
    }
    this.#isDoubted = false;
    this.#primary = found;
    return found;
  }
}

function nameOf({ member }: FoundMember): string {
  return `${member.host}:${member.port}`;
}
