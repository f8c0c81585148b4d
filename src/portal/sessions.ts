/** Who looks at the portal: everyone on this machine while the key is public, otherwise who has logged in with a key. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/index.ts';
import type { Exchange } from '../http/index.ts';
import { type AccountKeys, isReadOnly, type KeyName } from '../service/index.ts';

/** A role and what the server does for it: `write` signs with a key that may write, `read` with one that only reads. */
export type Role = 'write' | 'read';

interface Session {
  readonly key: KeyName;
  /** A digest of the key at login: who rotates a key ends its sessions. */
  readonly digest: Buffer;
  readonly untilMs: number;
}

const COOKIE = 'mesocosm-portal';
const SESSION_MS = 12 * 3600 * 1000;
/** Sessions at a time; the oldest ends first. */
const SESSIONS_MAX = 1000;
const TOKEN_BYTES = 32;
const ATTEMPTS_MAX = 5;
const ATTEMPTS_WINDOW_MS = 60_000;
/** Addresses whose failed logins are counted. */
const ADDRESSES_MAX = 10_000;

interface SessionsOptions {
  readonly keys: AccountKeys;
  readonly clock: Clock;
  /** True where nobody need log in: only this machine can connect, and the key is known to all. */
  readonly isOpen: () => boolean;
  /** True: nobody writes here, whatever key was used. */
  readonly isReadOnly: boolean;
}

type Login =
  | { readonly kind: 'accepted'; readonly role: Role; readonly cookie: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'tooMany'; readonly retryAfterSec: number };

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #attempts = new Map<string, number[]>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Undefined: nobody is logged in. The switch of the page asks for less than the session has. */
  roleOf({ headers }: Exchange): Role | undefined {
    const most = this.#options.isOpen() ? 'write' : this.#sessionRole(headers.cookie);
    if (most === undefined) return undefined;
    const wantsLess = headers['x-mesocosm-read-only'] === '1';
    return this.#options.isReadOnly || wantsLess ? 'read' : most;
  }

  get isOpen(): boolean {
    return this.#options.isOpen();
  }

  get isReadOnly(): boolean {
    return this.#options.isReadOnly;
  }

  login(key: string, { remoteAddress = 'unknown', isEncrypted }: Exchange): Login {
    const { keys, clock } = this.#options;
    const nowMs = clock.nowMs();
    const failed = (this.#attempts.get(remoteAddress) ?? []).filter(
      (atMs) => atMs > nowMs - ATTEMPTS_WINDOW_MS,
    );
    if (failed.length >= ATTEMPTS_MAX) {
      const retryAfterSec = Math.ceil(((failed[0] ?? nowMs) + ATTEMPTS_WINDOW_MS - nowMs) / 1000);
      return { kind: 'tooMany', retryAfterSec };
    }
    const name = keys.named(key);
    if (name === undefined) {
      if (this.#attempts.size >= ADDRESSES_MAX) this.#attempts.clear();
      this.#attempts.set(remoteAddress, [...failed, nowMs]);
      return { kind: 'refused' };
    }
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const untilMs = nowMs + SESSION_MS;
    this.#sessions.set(hashOf(token), { key: name, digest: digestOf(keys.get(name)), untilMs });
    this.#forget(nowMs);
    return { kind: 'accepted', role: this.#roleOf(name), cookie: cookie(token, isEncrypted) };
  }

  /** The cookie that ends the session. */
  logout({ headers, isEncrypted }: Exchange): string {
    const token = tokenIn(headers.cookie);
    if (token !== undefined) this.#sessions.delete(hashOf(token));
    return `${cookie('', isEncrypted).replace(/Max-Age=\d+/, 'Max-Age=0')}`;
  }

  #roleOf(key: KeyName): Role {
    return isReadOnly(key) || this.#options.isReadOnly ? 'read' : 'write';
  }

  #sessionRole(header: string | undefined): Role | undefined {
    const token = tokenIn(header);
    const session = token === undefined ? undefined : this.#sessions.get(hashOf(token));
    if (session === undefined) return undefined;
    const { keys, clock } = this.#options;
    const isCurrent = timingSafeEqual(digestOf(keys.get(session.key)), session.digest);
    return isCurrent && session.untilMs > clock.nowMs() ? this.#roleOf(session.key) : undefined;
  }

  #forget(nowMs: number): void {
    for (const [token, { untilMs }] of this.#sessions)
      if (untilMs <= nowMs || this.#sessions.size > SESSIONS_MAX) this.#sessions.delete(token);
  }
}

function cookie(token: string, isEncrypted: boolean): string {
  const secure = isEncrypted ? '; Secure' : '';
  return `${COOKIE}=${token}; Path=/; Max-Age=${SESSION_MS / 1000}; HttpOnly; SameSite=Strict${secure}`;
}

function tokenIn(header: string | undefined): string | undefined {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{1,100})`).exec(header ?? '')?.[1];
}

/** Tokens are looked up by their hash, so that comparing takes no time that tells anything. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
