/** Tokens of an identity provider (JWT): checked against its published keys, or only read, for development. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/index.ts';

export interface IdentitySettings {
  /** A file or an https address with the keys of the provider; `any` takes every well-formed token. */
  readonly keys: { readonly kind: 'any' } | { readonly kind: 'published'; readonly at: string };
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
}

/** The caller that a token identifies. */
export interface Identity {
  /** The object id, or the subject where there is none. */
  readonly id: string;
  readonly groups: readonly string[];
}

/** Claims that an API requires beside those that keys and settings require. */
export interface IdentityRules {
  isIssuer(issuer: string): boolean;
  isAudience(audience: string): boolean;
}

export type IdentityFault =
  | 'disabled'
  | 'format'
  | 'signature'
  | 'notYetValid'
  | 'expired'
  | 'noExpiry'
  | 'issuer'
  | 'audience'
  | 'noId'
  | 'keysUnavailable';

type IdentityReading =
  | { readonly kind: 'valid'; readonly identity: Identity }
  | { readonly kind: 'invalid'; readonly fault: IdentityFault };

/** The difference of clocks that the reference service allows. */
const CLOCK_TOLERANCE_SEC = 300;
/** Tokens live for an hour or so and come with every request: each is checked once. */
const CHECKED_MAX = 1000;
const TOKEN_LENGTH_MAX = 32_768;

interface Checked {
  readonly claims: JWTPayload;
  readonly endMs: number;
}

export class Identities {
  readonly #settings: IdentitySettings | undefined;
  readonly #clock: Clock;
  readonly #checked = new LRUCache<string, Checked>({ max: CHECKED_MAX });
  #keys: Promise<JWTVerifyGetKey> | undefined;

  /** @param settings - undefined: no identity is taken. */
  constructor(settings: IdentitySettings | undefined, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  async read(token: string, rules?: IdentityRules): Promise<IdentityReading> {
    const settings = this.#settings;
    if (settings === undefined) return invalid('disabled');
    if (token.length > TOKEN_LENGTH_MAX) return invalid('format');
    const name = createHash('sha256').update(token).digest('base64');
    const cached = this.#checked.get(name);
    const isCached = cached !== undefined && this.#clock.nowMs() < cached.endMs;
    const claims = isCached ? cached.claims : await this.#check(token, settings);
    if (typeof claims === 'string') return invalid(claims);
    if (typeof claims.exp !== 'number') return invalid('noExpiry');
    if (!isCached)
      this.#checked.set(name, { claims, endMs: (claims.exp + CLOCK_TOLERANCE_SEC) * 1000 });
    const fault = rules && isUnbound(settings) ? faultBy(rules, claims) : undefined;
    if (fault !== undefined) return invalid(fault);
    const identity = identityOf(claims);
    return identity === undefined ? invalid('noId') : { kind: 'valid', identity };
  }

  async #check(token: string, settings: IdentitySettings): Promise<JWTPayload | IdentityFault> {
    const jose = await import('jose');
    const { keys, issuer, audience } = settings;
    const checks = {
      currentDate: new Date(this.#clock.nowMs()),
      clockTolerance: CLOCK_TOLERANCE_SEC,
      ...(issuer === undefined ? {} : { issuer }),
      ...(audience === undefined ? {} : { audience }),
    };
    try {
      if (keys.kind === 'published') {
        this.#keys ??= publishedKeys(keys.at);
        return (await jose.jwtVerify(token, await this.#keys, checks)).payload;
      }
      return unverified(jose.decodeJwt(token), jose.decodeProtectedHeader(token), checks);
    } catch (error) {
      const fault = faultOf(error);
      if (fault === 'keysUnavailable') this.#keys = undefined;
      return fault;
    }
  }
}

/** True where a token may come from anyone and be meant for anyone. */
function isUnbound({ keys, issuer, audience }: IdentitySettings): boolean {
  return keys.kind === 'any' && issuer === undefined && audience === undefined;
}

function faultBy(
  { isIssuer, isAudience }: IdentityRules,
  { iss = '', aud = [] }: JWTPayload,
): IdentityFault | undefined {
  if (!isIssuer(iss)) return 'issuer';
  return [aud].flat().some(isAudience) ? undefined : 'audience';
}

interface Checks {
  readonly currentDate: Date;
  readonly issuer?: string;
  readonly audience?: string;
}

/** Checks everything but the signature. */
function unverified(
  claims: JWTPayload,
  header: { readonly alg?: string },
  { currentDate, issuer, audience }: Checks,
): JWTPayload | IdentityFault {
  if (typeof header.alg !== 'string') return 'format';
  const nowSec = currentDate.getTime() / 1000;
  const { exp, nbf = 0 } = claims;
  // A text that is not a number would compare as neither early nor late.
  if (typeof exp !== 'number' || typeof nbf !== 'number') return 'noExpiry';
  if (nowSec >= exp + CLOCK_TOLERANCE_SEC) return 'expired';
  if (nowSec < nbf - CLOCK_TOLERANCE_SEC) return 'notYetValid';
  if (issuer !== undefined && claims.iss !== issuer) return 'issuer';
  if (audience !== undefined && ![claims.aud].flat().includes(audience)) return 'audience';
  return claims;
}

async function publishedKeys(at: string): Promise<JWTVerifyGetKey> {
  const jose = await import('jose');
  if (/^https?:/.test(at)) return jose.createRemoteJWKSet(new URL(at));
  return jose.createLocalJWKSet(JSON.parse(await readFile(at, 'utf8')));
}

function faultOf(error: unknown): IdentityFault {
  const { code, claim } = error as { code?: string; claim?: string };
  switch (code) {
    case 'ERR_JWT_EXPIRED':
      return 'expired';
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      if (claim === 'iss') return 'issuer';
      if (claim === 'aud') return 'audience';
      return claim === 'nbf' ? 'notYetValid' : 'format';
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
    case 'ERR_JWKS_NO_MATCHING_KEY':
    case 'ERR_JWKS_MULTIPLE_MATCHING_KEYS':
    case 'ERR_JOSE_ALG_NOT_ALLOWED':
    case 'ERR_JOSE_NOT_SUPPORTED':
      return 'signature';
    case 'ERR_JWS_INVALID':
    case 'ERR_JWT_INVALID':
      return 'format';
    default:
      return error instanceof TypeError && code === undefined && !isFetchFailure(error)
        ? 'format'
        : 'keysUnavailable';
  }
}

function isFetchFailure(error: Error): boolean {
  return error.message.includes('fetch');
}

function identityOf({ oid, sub, groups }: JWTPayload): Identity | undefined {
  const id = typeof oid === 'string' ? oid : sub;
  if (typeof id !== 'string' || id === '') return undefined;
  const list = Array.isArray(groups) ? groups : [];
  return { id, groups: list.filter((group): group is string => typeof group === 'string') };
}

function invalid(fault: IdentityFault): IdentityReading {
  return { kind: 'invalid', fault };
}
